"""Scoring: which runs versions of the rules are scored on, and what they say of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final, Literal

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import categories_of
from failbench.base.vocabulary import CATEGORIES
from failbench.monitor.invariants import Invariant, Kind
from failbench.monitor.records.verdicts import OWN, verdict_table
from failbench.monitor.records.versions import Rules

Half = Literal["development", "test"]  # to develop the monitor with, or to test its last version

HALF_SCHEMA: Final = pl.Schema(
    {"scenario": pl.String(), "category": pl.String(), "half": pl.String()}
)

COST_SCHEMA: Final = pl.Schema(  # of each rung; columns of ``cost.csv``
    {
        "rung": pl.String(),
        "nominal_milliseconds": pl.Float64(),  # of a step, as it was aimed at
        "milliseconds": pl.Float64(),  # of a step without a monitor, as it was
        "ratio": pl.Float64(),  # of a step with what the rung measures to one without
    }
)

RUN_COLUMNS: Final = ("run_id", "kind", "scenario", "seed", "onset_step")


class ScoringParams(Record):
    """Which runs are scored, and by what; the section ``monitor`` of params.yaml."""

    versions: tuple[str, ...] = Field(min_length=1)
    halves: tuple[Half, ...] = Field(min_length=1)
    lenders: tuple[str, ...]
    contrasts: tuple[tuple[str, str], ...]
    steps_ahead: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)


def versioned(schema: pl.Schema) -> pl.Schema:
    """The columns of a table of all versions."""
    return pl.Schema({"version": pl.String(), **schema})


@dataclass(frozen=True)
class VersionVerdicts:
    """What a version of the rules says of runs, with what they are known to be."""

    rules: Rules
    breaks: pl.DataFrame
    verdicts: pl.DataFrame
    ends: pl.DataFrame
    runs: pl.DataFrame

    def answers(self, verdicts: pl.DataFrame, kind: str = "failure") -> pl.DataFrame:
        """Verdicts on runs of a kind as answers of one repeat, with the runs' setting and label."""
        return (
            verdicts.join(self.runs.filter(kind=kind), on="run_id")
            .join(self.ends.select("run_id", "setting", "failure_step"), on="run_id")
            .with_columns(repeat=pl.lit(0), prediction=pl.col("answer"))
        )

    def at_failure(self, bounds: str = OWN) -> pl.DataFrame:
        """The answers at the failure, of the runs that were recorded to fail."""
        return self.answers(self.verdicts.filter(steps_ahead=0, bounds=bounds))

    def of_whole_logs(self, bounds: str = OWN, kind: str = "failure") -> pl.DataFrame:
        """The answers at the end of the logs."""
        whole = self.verdicts.filter(pl.col("steps_ahead").is_null(), bounds=bounds)
        return self.answers(whole, kind)

    def without(self, left_out: Iterable[Invariant], kind: str = "failure") -> pl.DataFrame:
        """The answers, had some invariants not been measured: at the failure, if there is one."""
        names = [invariant.id for invariant in left_out]
        kept = self.breaks.filter(~pl.col("invariant").is_in(names))
        ahead = 0 if kind == "failure" else None
        return self.answers(verdict_table(kept, self.ends, self.rules, (ahead,)), kind)


def labelled(
    runs: pl.DataFrame, scenarios: Sequence[Scenario], halves: pl.DataFrame
) -> pl.DataFrame:
    """Monitored runs with category, difficulty and half of their scenarios."""
    levels = [(scenario.id, scenario.difficulty) for scenario in scenarios]
    schema = {"scenario": pl.String, "difficulty": pl.String}
    difficulty = pl.DataFrame(levels, schema=schema, orient="row")
    return (
        runs.select(RUN_COLUMNS)
        .join(categories_of(scenarios), on="scenario", how="left")
        .join(difficulty, on="scenario", how="left")
        .join(halves.select("scenario", "half"), on="scenario", how="left")
    )


def halves(scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Split scenarios in halves, category by category, by SHA-256 of their ids: nobody chose."""
    ordered = sorted(
        scenarios,
        key=lambda scenario: (
            CATEGORIES.index(scenario.category),
            sha256(scenario.id.encode()).hexdigest(),
        ),
    )
    names: tuple[Half, Half] = ("development", "test")
    rows = [(each.id, each.category, names[place % 2]) for place, each in enumerate(ordered)]
    return pl.DataFrame(rows, schema=HALF_SCHEMA, orient="row")


@dataclass(frozen=True)
class Rung:
    """What a rung of the ladder adds to those below: families or kinds of invariants."""

    name: str
    label: str
    families: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()


LADDER: Final = (  # what must be logged, rung by rung, to say why a run failed
    Rung("ending", "The ending alone"),
    Rung(
        "batches",
        "+ logic of batches, labels and loss",
        ("tokens", "shape", "labels", "loss"),
        ("logic",),
    ),
    Rung(
        "optimizer",
        "+ logic of optimizer, model, gradients and evaluation",
        ("optimizer", "schedule", "model", "gradients", "numbers", "evaluation"),
    ),
    Rung("bounds", "+ bounds from healthy runs for these", kinds=("statistic", "symptom")),
    Rung("memory", "+ memory and time by phase", ("memory", "time")),
    Rung("probes", "+ probes and ranks", ("probes", "ranks")),
)


def speaking(catalogue: tuple[Invariant, ...]) -> dict[str, tuple[Invariant, ...]]:
    """The invariants that speak on each rung, by its name."""
    families, kinds = set[str](), set[Kind]()
    rungs = {}
    for rung in LADDER:
        families.update(rung.families)
        kinds.update(rung.kinds)
        rungs[rung.name] = tuple(
            each for each in catalogue if each.family in families and each.kind in kinds
        )
    return rungs
