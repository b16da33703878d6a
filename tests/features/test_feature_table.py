from __future__ import annotations

import polars as pl
import pytest

from failbench.base.telemetry import Telemetry
from failbench.features.feature_table import (
    RAW_SERIES,
    RAW_TEXT,
    feature_table,
    raw_table,
    snapshot_table,
)

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


CRASHED = "late_crash-transformer-adamw-s0"


@pytest.fixture
def table(small_telemetry, small_scenarios) -> pl.DataFrame:
    return raw_table(small_telemetry, small_scenarios)


def row(table, run_id):
    return table.row(by_predicate=pl.col("run_id") == run_id, named=True)


def test_a_series_is_what_the_run_logged_up_to_its_failure(table, small_telemetry):
    run = small_telemetry.runs.row(by_predicate=pl.col("run_id") == CRASHED, named=True)
    steps = small_telemetry.steps.filter(
        pl.col("run_id") == CRASHED, pl.col("step") <= run["failure_step"]
    )
    mine = row(table, CRASHED)
    for name in RAW_SERIES:
        assert mine[name] == steps[name].cast(pl.Float64).to_list()


def test_a_run_that_failed_before_its_end_shows_neither_later_steps_nor_its_error(
    small_telemetry, small_scenarios
):
    early = pl.when(pl.col("run_id") == CRASHED).then(4).otherwise("failure_step")
    runs = small_telemetry.runs.with_columns(failure_step=early.cast(pl.Int32))
    mine = row(raw_table(Telemetry(runs, small_telemetry.steps), small_scenarios), CRASHED)
    assert mine["step"] == [0, 1, 2, 3, 4]
    assert [mine[name] for name in RAW_TEXT] == ["", "", ""]


def test_what_was_logged_as_nan_is_told_from_what_was_not_logged(small_telemetry, small_scenarios):
    at_step = pl.col("run_id").eq(CRASHED) & pl.col("step").eq(1)
    loss = pl.when(at_step).then(float("nan")).otherwise(pl.col("loss")).cast(pl.Float32)
    norm = pl.when(~at_step).then(pl.col("gradient_norm"))
    steps = small_telemetry.steps.with_columns(loss=loss, gradient_norm=norm)
    mine = row(raw_table(Telemetry(small_telemetry.runs, steps), small_scenarios), CRASHED)
    assert mine["loss"][1] == float("inf")
    assert mine["gradient_norm"][1] is None


def test_a_run_that_died_before_its_first_step_has_empty_series(table):
    mine = row(table, "no_start-transformer-adamw-s0")
    assert [mine[name] for name in RAW_SERIES] == [[]] * len(RAW_SERIES)
