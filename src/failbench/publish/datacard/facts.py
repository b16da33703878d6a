"""Facts: numbers of the recorded runs that the data card states, counted from the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.telemetry import KINDS, Telemetry
from failbench.base.vocabulary import CATEGORIES, DIFFICULTIES
from failbench.study.notes import REPLACED
from failbench.study.plain_table import Column, Table

MILLION = 1e6


def facts(telemetry: Telemetry, scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Numbers that sentences of the card name, as they are printed."""
    runs = telemetry.runs
    parameters = runs["parameters"].drop_nulls().to_numpy() / MILLION
    return {
        "runs": f"{runs.height:,}",
        "steps": f"{telemetry.steps.height:,}",
        "failures": f"{runs.filter(kind='failure').height:,}",
        "scenarios": str(len(scenarios)),
        "unknown": str(sum(scenario.category == "unknown" for scenario in scenarios)),
        "replaced": str(len(REPLACED)),
        "replacements": ", ".join(f"{old} by {new}" for old, new in REPLACED.items()),
        "settings": str(runs.select("architecture", "optimizer", "scale").unique().height),
        "parameters_low": f"{parameters.min():.2f}",
        "parameters_median": f"{np.median(parameters):.2f}",
        "parameters_high": f"{parameters.max():.0f}",
        "layers": _values(runs["layers"]),
        "vocabulary": _values(runs["tokenizer_vocabulary"]),
        "planned_low": str(runs["planned_steps"].min()),
        "planned_high": str(runs["planned_steps"].max()),
        "python_version": _values(runs["python_version"]),
        "torch_version": _values(runs["torch_version"]),
    }


def runs_by_setting(runs: pl.DataFrame) -> Table:
    """How many runs of each kind were recorded in each setting."""
    counts = (
        runs.group_by("architecture", "optimizer", "scale", "kind")
        .len()
        .pivot("kind", index=["architecture", "optimizer", "scale"], values="len")
        .fill_null(0)
        .sort("optimizer", "scale", "architecture")
    )
    kinds = [kind for kind in KINDS if kind in counts.columns]
    labels = ("architecture", "optimizer", "scale")
    return Table(
        "data_card_settings",
        (*(Column(name, align="left") for name in labels), *map(Column, kinds)),
        tuple(
            (*(str(row[name]) for name in labels), *(f"{row[kind]:,}" for kind in kinds))
            for row in counts.rows(named=True)
        ),
        "Runs by setting and kind.",
    )


def scenarios_by_category(runs: pl.DataFrame, scenarios: Sequence[Scenario]) -> Table:
    """What each category has: scenarios by difficulty, failing runs, and their outcomes."""
    category = {scenario.id: scenario.category for scenario in scenarios}
    failures = runs.filter(kind="failure").with_columns(
        category=pl.col("scenario").replace_strict(category, return_dtype=pl.String)
    )
    outcomes = sorted(failures["outcome"].unique())
    rows = []
    for name in CATEGORIES:
        declared = [scenario for scenario in scenarios if scenario.category == name]
        recorded = failures.filter(category=name)
        counts = (
            len(declared),
            *(sum(each.difficulty == level for each in declared) for level in DIFFICULTIES),
            recorded.height,
            *(recorded.filter(outcome=outcome).height for outcome in outcomes),
        )
        rows.append((name, *(f"{count:,}" for count in counts)))
    headings = ("scenarios", *DIFFICULTIES, "failing runs", *outcomes)
    return Table(
        "data_card_categories",
        (Column("category", align="left"), *map(Column, headings)),
        tuple(rows),
        "Scenarios by category and declared difficulty, and their failing runs by outcome.",
    )


def _values(column: pl.Series) -> str:
    """The values of a column, joined."""
    return ", ".join(str(value) for value in column.drop_nulls().unique().sort())
