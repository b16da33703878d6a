from __future__ import annotations

import polars as pl

from failbench.studies.controls.control_tables import (
    NOMINAL_COLUMNS,
    before_onset,
    control_tables,
    nominal_configuration,
)
from failbench.telemetry import Telemetry


def test_the_nominal_configuration_has_no_effective_value(small_telemetry, small_scenarios):
    runs = small_telemetry.runs.filter(pl.col("kind") == "failure").with_columns(
        distractor=pl.lit("none"), nominal_clip_norm=pl.lit(None, pl.Float64)
    )
    table = nominal_configuration(runs, small_scenarios)
    assert set(table.columns) == {
        "run_id",
        "scenario",
        "category",
        *NOMINAL_COLUMNS,
        "distractor_none",
    }
    assert table["nominal_clip_norm"].to_list() == [0.0, 0.0, 0.0]


def test_what_happens_from_onset_on_cannot_be_seen_before_it(small_telemetry, small_scenarios):
    failures = small_telemetry.select(pl.col("kind") == "failure")
    onsets = failures.runs.select("run_id", "onset_step")
    changed = (
        failures.steps.join(onsets, on="run_id")
        .with_columns(
            pl.when(pl.col("step") >= pl.col("onset_step"))
            .then(pl.lit(99.0, pl.Float32))
            .otherwise("loss")
            .alias("loss")
        )
        .drop("onset_step")
    )
    table = before_onset(failures, small_scenarios)
    assert sorted(table["scenario"]) == ["late_crash", "runaway"]
    assert dict(table.select("scenario", "steps_before_failure").rows()) == {
        "late_crash": 4,
        "runaway": 5,
    }
    assert table.equals(before_onset(Telemetry(failures.runs, changed), small_scenarios))


def test_the_planted_leak_differs_from_the_nominal_configuration_in_one_column(
    small_telemetry, small_scenarios
):
    runs = small_telemetry.runs.with_columns(
        distractor=pl.lit("none"), nominal_batch_size=pl.lit(8, pl.Int32)
    )
    tables = control_tables(
        Telemetry(runs, small_telemetry.steps), small_scenarios, "transformer", "adamw", "small"
    )
    honest, leaked = tables["nominal_configuration"], tables["planted_leak"]
    differs = (honest.matrix != leaked.matrix).any(axis=0)
    assert differs.tolist() == [True] + [False] * (honest.matrix.shape[1] - 1)
    shift = dict(zip(leaked.scenarios, leaked.matrix[:, 0], strict=True))
    assert shift == {"late_crash": 8.0, "runaway": 12.0, "no_start": 20.0}
    assert list(tables) == [
        "permuted_labels", "before_onset", "twins", "twins_step_times", "nominal_configuration",
        "planted_leak",
    ]  # fmt: skip
