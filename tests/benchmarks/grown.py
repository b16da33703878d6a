"""Larger inputs for benchmarks, made from what is recorded; never results.

A copy of a run gets a new id and a scenario of its own, so that folds by scenario, weights of
scenarios and resampling of scenarios have as much to do as so many new recordings would give them.
Copies of telemetry are exact: what extraction costs does not depend on the values. Copies of
features differ by 1 % (the smaller noise of the study of architectures), as a classifier would
otherwise see ties alone. They still lie close to the run that they copy, so that trees need fewer
nodes for them than for as many causes: what is measured of trees is the least that they would cost.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.catalogue import FEATURES

NOISE = 0.01
"""Standard deviation of the logarithm of what a copied feature is multiplied by."""


def copy_of(number: int, name: str) -> pl.Expr:
    """The id in a column, marked as that of a copy; copies sort one after another."""
    return pl.format("c{}-{}", pl.lit(f"{number:06d}"), name).alias(name)


def grown_table(table: pl.DataFrame, copies: int, seed: int = 0) -> pl.DataFrame:
    """Copies of a feature table, noisy but for the first and for what is counted."""
    rng = np.random.default_rng(seed)
    noisy = [
        feature.name
        for feature in FEATURES
        if not (table[feature.name].drop_nulls() % 1 == 0).all()
    ]
    parts = []
    for number in range(copies):
        spread = NOISE if number else 0.0
        factors = {name: np.exp(rng.normal(0, spread, table.height)) for name in noisy}
        parts.append(
            table.with_columns(
                copy_of(number, "run_id"),
                copy_of(number, "scenario"),
                *(pl.col(name) * pl.Series(factor) for name, factor in factors.items()),
            )
        )
    return pl.concat(parts)


def grown_telemetry(telemetry: Telemetry, copies: int) -> Telemetry:
    """So many copies of telemetry; both tables stay sorted by their keys."""
    return Telemetry(
        pl.concat(telemetry.runs.with_columns(copy_of(one, "run_id")) for one in range(copies)),
        pl.concat(telemetry.steps.with_columns(copy_of(one, "run_id")) for one in range(copies)),
    )


def write_grown_telemetry(telemetry: Telemetry, runs: int, folder: Path) -> None:
    """Write copies of telemetry, a row group each, which no compression profits from."""
    setting = pl.format("{}-{}", "architecture", "optimizer")
    settings = telemetry.runs.select("run_id", setting=setting)
    steps = telemetry.steps.join(settings, on="run_id", how="left")
    parts = steps.partition_by("setting", as_dict=True)
    (folder / "steps").mkdir(parents=True)
    paths = {name: folder / "steps" / f"{name}.parquet" for (name,) in parts}
    of_steps = {name: _writer(path, STEP_SCHEMA) for name, path in paths.items()}
    of_runs = _writer(folder / "runs.parquet", RUN_SCHEMA)
    for number in range(-(-runs // telemetry.runs.height)):
        left = runs - number * telemetry.runs.height
        kept = telemetry.runs[:left]
        of_runs.write_table(kept.with_columns(copy_of(number, "run_id")).to_arrow())
        for (name,), steps in parts.items():
            mine = steps.join(kept.select("run_id"), on="run_id", how="semi", maintain_order="left")
            copied = mine.select(STEP_SCHEMA.names()).with_columns(copy_of(number, "run_id"))
            of_steps[name].write_table(copied.to_arrow())
    for writer in (of_runs, *of_steps.values()):
        writer.close()


def _writer(path: Path, schema: pl.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(path, schema.to_frame().to_arrow().schema, compression="zstd")


def more_scenarios(predictions: pl.DataFrame, copies: int) -> pl.DataFrame:
    """So many copies of predictions, each with scenarios of its own, in the folds they were in."""
    return pl.concat(
        predictions.with_columns(copy_of(one, "run_id"), copy_of(one, "scenario"))
        for one in range(copies)
    )


def more_runs(predictions: pl.DataFrame, copies: int) -> pl.DataFrame:
    """So many copies of predictions, further runs of the same scenarios."""
    return pl.concat(predictions.with_columns(copy_of(one, "run_id")) for one in range(copies))
