"""The columns that each control looks at."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import categories_of, feature_table
from failbench.features.measurements import STEP_TIMES, measurements
from failbench.scenarios import Architecture, Optimizer, Scenario
from failbench.studies.controls.permutation import GroupedTable
from failbench.studies.controls.settings import PERMUTED_LABELS
from failbench.telemetry import Telemetry
from failbench.vocabulary import CATEGORIES

NOMINAL_COLUMNS = (
    "nominal_batch_size",
    "nominal_learning_rate",
    "nominal_width",
    "nominal_sequence_length",
    "nominal_warmup_steps",
    "nominal_clip_norm",
    "nominal_corpus_slice",
    "planned_steps",
    "capacity_multiple",
)
"""The numbers drawn for each run; ``distractor``, a name, becomes a column per value."""

KEYS = ("run_id", "scenario", "category")
"""What says of a row which run it is, and is no column that a control looks at."""

PLANTED_SHIFT = 4
"""Sequences a batch by which the planted leak sets neighbouring categories apart."""


def control_tables(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    architecture: Architecture,
    optimizer: Optimizer,
    scale: str,
) -> dict[str, GroupedTable]:
    """Tables of the five controls and of the planted leak, over all seeds of one slice."""
    known = tuple(scenarios)
    chosen = (
        (pl.col("architecture") == architecture)
        & (pl.col("optimizer") == optimizer)
        & (pl.col("scale") == scale)
    )
    failures = telemetry.select(chosen & (pl.col("kind") == "failure"))
    twins = telemetry.select(chosen & (pl.col("kind") == "twin"))
    nominal = nominal_configuration(failures.runs, known)
    leaked = nominal.with_columns(
        pl.col("nominal_batch_size")
        + PLANTED_SHIFT
        * pl.col("category").replace_strict(
            {category: index for index, category in enumerate(CATEGORIES)},
            return_dtype=pl.Float64,
        )
    )
    columns = tuple(name for name in nominal.columns if name not in KEYS)
    primary = FEATURE_SETS["19"]
    return {
        PERMUTED_LABELS: GroupedTable.from_table(
            feature_table(failures, known), FEATURE_SETS["19+keywords"]
        ),
        "before_onset": GroupedTable.from_table(before_onset(failures, known), primary),
        "twins": GroupedTable.from_table(feature_table(twins, known), primary),
        "twins_step_times": GroupedTable.from_table(step_times(twins, known), STEP_TIMES),
        "nominal_configuration": GroupedTable.from_table(nominal, columns),
        "planted_leak": GroupedTable.from_table(leaked, columns),
    }


def before_onset(failures: Telemetry, scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Features of the ``mid_run`` failures at the last step before their fault is switched on."""
    known = tuple(scenarios)
    mid_run = [scenario.id for scenario in known if scenario.fault.onset == "mid_run"]
    chosen = failures.select(pl.col("scenario").is_in(mid_run))
    last_steps = chosen.runs.select("run_id", last_step=pl.col("onset_step") - 1)
    return feature_table(chosen, known, last_steps)


def step_times(telemetry: Telemetry, scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """The step times that are measured of runs beside their features, with their labels."""
    labels = telemetry.runs.select("run_id", "scenario").join(
        categories_of(scenarios), on="scenario", how="inner"
    )
    return labels.join(measurements(telemetry), on="run_id", how="inner").sort("run_id")


def nominal_configuration(runs: pl.DataFrame, scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """What was drawn for each run, as numbers, with its keys.

    Clipping that is off counts as a threshold of zero, which no draw has.
    """
    distractors = sorted(runs["distractor"].drop_nulls().unique())
    return (
        runs.join(categories_of(scenarios), on="scenario", how="inner")
        .select(
            *KEYS,
            *(pl.col(name).cast(pl.Float64).fill_null(0.0) for name in NOMINAL_COLUMNS),
            *(
                (pl.col("distractor") == name).cast(pl.Float64).alias(f"distractor_{name}")
                for name in distractors
            ),
        )
        .sort("scenario", *NOMINAL_COLUMNS)
    )
