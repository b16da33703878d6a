"""Curves: the points that the figures draw, as tables that are published beside them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES

SIGNIFICANT_DIGITS = 5
"""Digits that are published; more cannot be seen on a figure."""


def pairs(telemetry: Telemetry) -> pl.DataFrame:
    """Each failing run, with the id of its twin."""
    twins = telemetry.runs.filter(pl.col("kind") == "twin").select(
        pl.col("twin_of").alias("run_id"), pl.col("run_id").alias("twin")
    )
    failing = telemetry.runs.filter(pl.col("kind") == "failure")
    return failing.join(twins, on="run_id", how="left").sort("run_id")


def run_curves(telemetry: Telemetry, run_id: str) -> pl.DataFrame:
    """Every signal of one failing run, of its twin, and of the run with each remedy."""
    pair = pairs(telemetry).filter(pl.col("run_id") == run_id)
    if pair.height == 0 or pair["twin"][0] is None:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "run_id",
            f"there is no failing run {run_id!r} with a twin.",
            "Choose the id of a run of the kind failure.",
        )
    return (
        _with_memory(telemetry, pl.concat([_roles(pair), _remedies(telemetry, run_id)]))
        .select(
            "role",
            "step",
            "loss",
            "validation_loss",
            "learning_rate",
            pl.col("validation_loss").exp().alias("perplexity"),
            "gradient_norm",
            "memory",
            (pl.col("tokens") / pl.col("step_seconds")).alias("tokens_per_second"),
        )
        .with_columns(_rounded("role", "step"))
        .sort("role", "step")
    )


def sheet_curves(telemetry: Telemetry, every: int) -> pl.DataFrame:
    """Loss and memory of every failing run and of its twin."""
    curves = _with_memory(telemetry, _roles(pairs(telemetry)))
    last = pl.col("step") == pl.col("step").max().over("run_id")
    return (
        curves.filter((pl.col("step") % every == 0) | last)
        .select("scenario", "role", "step", "loss", "memory")
        .with_columns(_rounded("scenario", "role", "step"))
        .sort("scenario", "role", "step")
    )


def sheet_runs(telemetry: Telemetry, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """What the gallery says of each failing run."""
    categories = {scenario.id: scenario.category for scenario in scenarios}
    failing = pairs(telemetry)
    for run_id, scenario in failing.select("run_id", "scenario").iter_rows():
        if scenario not in categories:
            raise BadInputError(
                "data/telemetry/runs.parquet",
                "scenario",
                f"the run {run_id!r} is of the scenario {scenario!r}, which does not exist.",
                "Restore the scenario, or record again.",
            )
    return (
        failing.with_columns(
            pl.col("scenario")
            .replace_strict(categories, return_dtype=pl.Enum(CATEGORIES))
            .alias("category")
        )
        .sort("category", "scenario")
        .select("scenario", "category", "outcome", "onset_step", "failure_step")
    )


def _roles(failing: pl.DataFrame) -> pl.DataFrame:
    """``run_id, role, scenario, capacity_bytes``: the runs of each pair, with what they share."""
    shared = ["scenario", "capacity_bytes"]
    return pl.concat(
        [
            failing.select("run_id", pl.lit("failing").alias("role"), *shared),
            failing.select(pl.col("twin").alias("run_id"), pl.lit("twin").alias("role"), *shared),
        ]
    ).drop_nulls("run_id")


def _remedies(telemetry: Telemetry, run_id: str) -> pl.DataFrame:
    """The same of the runs that are this one with a remedy; their role is its name."""
    return telemetry.runs.filter(pl.col("kind") == "remedy", pl.col("twin_of") == run_id).select(
        "run_id",
        pl.col("run_id").str.strip_prefix(f"{run_id}-").alias("role"),
        "scenario",
        "capacity_bytes",
    )


def _with_memory(telemetry: Telemetry, roles: pl.DataFrame) -> pl.DataFrame:
    return telemetry.steps.join(roles, on="run_id").with_columns(
        (pl.col("memory_bytes") / pl.col("capacity_bytes")).alias("memory")
    )


def _rounded(*keys: str) -> pl.Expr:
    return pl.all().exclude(keys).cast(pl.Float64).round_sig_figs(SIGNIFICANT_DIGITS)
