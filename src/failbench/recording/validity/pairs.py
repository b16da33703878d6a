"""Pairs: whether a failing run and its twin were equal before the onset."""

from __future__ import annotations

import polars as pl

from failbench.base.telemetry import NOISY_STEP_COLUMNS, STEP_SCHEMA, Telemetry

GPU_RELATIVE_TOLERANCE = 1e-3
"""On a GPU the order of summation may vary: run and twin agree to this, not bit for bit."""


def differing_pairs(telemetry: Telemetry) -> set[str]:
    """Failing runs that differ from their twin in a deterministic column before onset.

    A twin that is shorter than the onset, or not there, differs. On a GPU values may differ by
    :data:`GPU_RELATIVE_TOLERANCE`.
    """
    runs = telemetry.runs
    failing = runs.filter(pl.col("kind") == "failure").select("run_id", "onset_step", "device")
    columns = [name for name in STEP_SCHEMA if name not in NOISY_STEP_COLUMNS]
    before = (
        telemetry.steps.select(columns)
        .join(failing, on="run_id")
        .filter(pl.col("step") < pl.col("onset_step"))
    )
    twin_steps = (
        telemetry.steps.select(columns)
        .join(runs.filter(pl.col("kind") == "twin").select("run_id", "twin_of"), on="run_id")
        .drop("run_id")
        .rename({"twin_of": "run_id"})
    )
    compared = [name for name in columns if name not in ("run_id", "step")]
    joined = before.join(twin_steps, on=["run_id", "step"], how="left", suffix="_twin")
    unequal = [
        pl.when(pl.col("device") == "cpu")
        .then(pl.col(name).ne_missing(pl.col(f"{name}_twin")))
        .otherwise(_beyond_tolerance(pl.col(name), pl.col(f"{name}_twin")))
        for name in compared
    ]
    different = joined.filter(pl.any_horizontal(unequal))["run_id"]
    short = (
        failing.filter(pl.col("onset_step") > 0)
        .join(before.group_by("run_id").len(), on="run_id", how="left")
        .filter(pl.col("len").fill_null(0) != pl.col("onset_step"))["run_id"]
    )
    return set(different) | set(short)


def _beyond_tolerance(value: pl.Expr, twin: pl.Expr) -> pl.Expr:
    apart = (value - twin).abs() > GPU_RELATIVE_TOLERANCE * twin.abs()
    return apart.fill_null(False) | (value.is_null() != twin.is_null())
