"""Made-up controls: tables of noise with a signal as wanted, settings, and how they are judged."""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.studies.controls.measure import control_predictions, permuted_accuracies
from failbench.studies.controls.permutation import GroupedTable
from failbench.studies.controls.results import ControlResult, ControlSettings, control_results
from failbench.vocabulary import CATEGORIES

SETTINGS = ControlSettings(
    architecture="transformer",
    optimizer="adamw",
    scale="small",
    trees=3,
    folds=3,
    repeats=1,
    permutations=40,
    significance=0.05,
    upper_bound=0.30,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)


def table_of(
    signal: float, scenarios: int = 8, runs: int = 3, by_scenario: float = 0.0
) -> GroupedTable:
    """Three columns of noise; the first is shifted by the category and by the scenario."""
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), scenarios)
    members = np.repeat(np.arange(len(labels)), runs)
    matrix = rng.normal(size=(len(members), 3))
    matrix[:, 0] += signal * labels[members] + by_scenario * rng.normal(size=len(labels))[members]
    names = tuple(f"scenario_{index:02}" for index in range(len(labels)))
    run_ids = tuple(f"run_{index:03}" for index in range(len(members)))
    categories = tuple(CATEGORIES[label] for label in labels)
    return GroupedTable(matrix, run_ids, names, categories, members)


def runs_of(*tables: GroupedTable) -> pl.DataFrame:
    """What is known of the runs of made-up tables."""
    run_ids = sorted({run_id for table in tables for run_id in table.run_ids})
    return pl.DataFrame({"run_id": run_ids}).with_columns(
        architecture=pl.lit("transformer"),
        optimizer=pl.lit("adamw"),
        scale=pl.lit("small"),
        seed=pl.lit(0),
    )


def judged(
    settings: ControlSettings = SETTINGS, **tables: GroupedTable
) -> dict[str, ControlResult]:
    """Controls measured and judged, by name."""
    predictions = control_predictions(tables, runs_of(*tables.values()), settings)
    return control_results(predictions, permuted_accuracies(tables, settings), settings)
