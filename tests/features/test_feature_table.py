"""Rows of runs that are cut, and series as they were logged."""

import polars as pl

from failbench.base.telemetry import Telemetry
from failbench.features.feature_table import (
    RAW_SERIES,
    RAW_TEXT,
    feature_table,
    raw_table,
    snapshot_table,
)

CRASHED = "late_crash-transformer-adamw-s0"
OF_IT = pl.col("run_id") == CRASHED


def at(*steps: int) -> pl.DataFrame:
    cuts = {"run_id": [CRASHED] * len(steps), "last_step": list(steps)}
    return pl.DataFrame(cuts, schema_overrides={"last_step": pl.Int32})


def test_a_snapshot_is_the_feature_row_of_the_run_cut_there(small_telemetry, small_scenarios):
    several = snapshot_table(small_telemetry, small_scenarios, at(6, 2, 4))
    for step in (2, 4, 6):
        alone = feature_table(small_telemetry, small_scenarios, at(step))
        mine = several.filter(run_id=f"{CRASHED}@{step}")
        assert mine.drop("run_id").equals(alone.drop("run_id"))


def raw(runs, steps, scenarios, run_id=CRASHED):
    return raw_table(Telemetry(runs, steps), scenarios).filter(run_id=run_id).row(0, named=True)


def test_a_series_is_what_the_run_logged_up_to_its_failure(small_telemetry, small_scenarios):
    runs, steps = small_telemetry.runs, small_telemetry.steps
    (failure,) = runs.filter(OF_IT)["failure_step"]
    logged = steps.filter(OF_IT, pl.col("step") <= failure)
    mine = raw(runs, steps, small_scenarios)
    for name in RAW_SERIES:
        assert mine[name] == logged[name].cast(pl.Float64).to_list()
    # of a run that failed before its end neither later steps nor its error are shown
    fourth = pl.when(OF_IT).then(4).otherwise("failure_step").cast(pl.Int32)
    early = runs.with_columns(failure_step=fourth)
    mine = raw(early, steps, small_scenarios)
    assert mine["step"] == [0, 1, 2, 3, 4]
    assert [mine[name] for name in RAW_TEXT] == ["", "", ""]
    empty = raw(runs, steps, small_scenarios, "no_start-transformer-adamw-s0")
    assert [empty[name] for name in RAW_SERIES] == [[]] * len(RAW_SERIES)


def test_what_was_logged_as_nan_is_told_from_what_was_not_logged(small_telemetry, small_scenarios):
    there = OF_IT & (pl.col("step") == 1)
    loss = pl.when(there).then(float("nan")).otherwise("loss").cast(pl.Float32)
    norm = pl.when(~there).then("gradient_norm")
    steps = small_telemetry.steps.with_columns(loss=loss, gradient_norm=norm)
    mine = raw(small_telemetry.runs, steps, small_scenarios)
    assert (mine["loss"][1], mine["gradient_norm"][1]) == (float("inf"), None)
