"""Snapshots: the same features on runs that were cut."""

from __future__ import annotations

import polars as pl

from failbench.features.feature_table import feature_table, snapshot_table

RUN = "late_crash-transformer-adamw-s0"


def at(*steps: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"run_id": [RUN] * len(steps), "last_step": list(steps)},
        schema_overrides={"last_step": pl.Int32},
    )


def test_a_snapshot_is_the_feature_row_of_the_run_cut_there(small_telemetry, small_scenarios):
    several = snapshot_table(small_telemetry, small_scenarios, at(6, 2, 4))
    for step in (2, 4, 6):
        alone = feature_table(small_telemetry, small_scenarios, at(step))
        mine = several.filter(pl.col("run_id") == f"{RUN}@{step}")
        assert mine.drop("run_id").equals(alone.drop("run_id"))
