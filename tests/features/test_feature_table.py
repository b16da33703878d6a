"""Rows of runs that are cut, series as logged, and the measurements that the paper leaves out."""

import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.feature_table import (
    RAW_SERIES,
    RAW_TEXT,
    feature_table,
    raw_table,
    snapshot_table,
)
from failbench.features.measurements import MEASUREMENTS, measurements

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


# Step times and endings.


def measured(seconds, failure_step=None):
    last = len(seconds) - 1 if failure_step is None else failure_step
    run = {"run_id": "one", "ending": "completed", "failure_step": last}
    steps = [
        dict.fromkeys(STEP_SCHEMA) | {"run_id": "one", "step": step, "step_seconds": taken}
        for step, taken in enumerate(seconds)
    ]
    telemetry = Telemetry(
        pl.DataFrame([dict.fromkeys(RUN_SCHEMA) | run], schema=RUN_SCHEMA),
        pl.DataFrame(steps, schema=STEP_SCHEMA),
    )
    actual = measurements(telemetry)
    assert actual.columns == ["run_id", *MEASUREMENTS]
    return actual.drop("run_id").row(0, named=True)


RATIOS = ("step_seconds_ratio", "slowest_step_ratio", "slow_step_share")


@pytest.mark.parametrize(
    ("seconds", "ratios"),
    [([0.25] * 150, (1, 1, 0)), ([0.25] * 120 + [0.75] * 20, (3, 3, 20 / 140))],
    ids=["steady", "three times as slow at its end"],
)
def test_ratios_are_to_what_the_run_took_before_on_any_machine(seconds, ratios):
    actual = measured(seconds)
    assert [actual[name] for name in RATIOS] == pytest.approx(ratios)
    assert (actual["step_seconds_trend"] == pytest.approx(0, abs=1e-12)) == (ratios[0] == 1)
    slow = measured([4 * second for second in seconds])
    assert list(slow.values()) == pytest.approx(list(actual.values()), rel=1e-5, abs=1e-9)
    assert measured([*seconds, *[9.0] * 30], failure_step=len(seconds) - 1) == actual
