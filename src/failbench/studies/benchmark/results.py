"""Results of the description: what the scenarios are, and what was recorded of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.reporting.scope import spans
from failbench.scenarios import Outcome, Scenario
from failbench.vocabulary import CATEGORIES, Category, Difficulty

DIFFICULTY: Final = Path("data/measurements/difficulty/scenarios.parquet")
DIFFICULTY_SCHEMA: Final = pl.Schema({"scenario": pl.String, "measured": pl.String})
"""Where the stage ``measure_difficulty`` says how difficult each scenario is, and what is read."""

SETTING: Final = ("architecture", "optimizer", "scale")
"""What makes runs comparable: a setting."""


@dataclass(frozen=True)
class Described:
    """A scenario, and what was recorded of it in all settings."""

    scenario: Scenario
    measured_difficulty: Difficulty
    outcome: Outcome
    outcomes: int
    runs: int
    steps: float
    reference_steps: float | None

    @property
    def category(self) -> Category:
        """Of its cause."""
        return self.scenario.category


@dataclass(frozen=True)
class Scale:
    """How much was recorded."""

    runs: dict[str, int]
    settings: int
    architectures: int
    optimizers: int
    seeds: int
    spans: dict[str, dict[str, float]]


def described(
    runs: pl.DataFrame,
    scenarios: Sequence[Scenario],
    difficulty: pl.DataFrame,
    in_reference: pl.Expr,
) -> tuple[Described, ...]:
    """What was recorded of each scenario, in the order of ``scenarios``."""
    lag = pl.col("failure_step") - pl.col("onset_step")
    failing = runs.filter(pl.col("kind") == "failure")
    per_scenario = failing.group_by("scenario").agg(
        pl.len().alias("runs"),
        pl.col("outcome").mode().sort().first().alias("outcome"),
        pl.col("outcome").n_unique().alias("outcomes"),
        lag.median().alias("steps"),
        lag.filter(in_reference).median().alias("reference_steps"),
    )
    recorded = {row["scenario"]: row for row in per_scenario.iter_rows(named=True)}
    measured = dict(difficulty.select("scenario", "measured").iter_rows())
    rows = []
    for scenario in scenarios:
        if scenario.id not in recorded:
            raise BadInputError(
                "data/telemetry/runs.parquet",
                "scenario",
                f"there is no failing run of {scenario.id!r}.",
                f"Run `failbench record --only {scenario.id}`.",
            )
        if scenario.id not in measured:
            raise BadInputError(
                DIFFICULTY,
                "scenario",
                f"the difficulty of {scenario.id!r} was not measured.",
                "Run `dvc repro measure_difficulty`.",
            )
        row = recorded[scenario.id]
        rows.append(
            Described(
                scenario,
                measured[scenario.id],
                row["outcome"],
                row["outcomes"],
                row["runs"],
                row["steps"],
                row["reference_steps"],
            )
        )
    return tuple(rows)


def scale_of(runs: pl.DataFrame) -> Scale:
    """Count what was recorded, in the table of recorded runs."""
    kinds = dict(runs.group_by("kind").len().sort("kind").iter_rows())
    failing = runs.filter(pl.col("kind") == "failure")
    per_setting = failing.group_by("scenario", *SETTING).agg(pl.col("seed").n_unique())
    most = per_setting["seed"].max()
    return Scale(
        kinds,
        runs.select(SETTING).n_unique(),
        runs["architecture"].n_unique(),
        runs["optimizer"].n_unique(),
        int(most) if isinstance(most, int) else 0,
        spans(runs),
    )


def of_category(rows: Sequence[Described], category: Category | None) -> list[Described]:
    """The scenarios of a category, or all of them where it is None."""
    return [row for row in rows if category is None or row.category == category]


COLUMNS: Final[tuple[Category | None, ...]] = (*CATEGORIES, None)
"""The categories, and last all of them together."""
