from __future__ import annotations

import dataclasses
import math

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.study.run_curves import pairs, run_curves, sheet_curves, sheet_runs

RUNAWAY = "runaway-transformer-adamw-s0"


def test_each_failing_run_is_paired_with_the_twin_that_names_it(small_telemetry):
    twins = dict(pairs(small_telemetry).select("run_id", "twin").iter_rows())
    assert twins == {run_id: f"{run_id}-twin" for run_id in twins}
    assert len(twins) == 3


def test_a_failing_run_without_a_twin_stays_on_the_sheet(small_telemetry):
    alone = small_telemetry.select(pl.col("kind") == "failure")
    assert set(sheet_curves(alone, 1)["role"]) == {"failing"}
    assert pairs(alone)["twin"].null_count() == 3


def test_run_curves_give_units_that_the_figure_states(small_telemetry):
    step_5 = run_curves(small_telemetry, RUNAWAY).row(
        by_predicate=(pl.col("role") == "failing") & (pl.col("step") == 5), named=True
    )
    assert step_5["memory"] == pytest.approx(105 / 200)
    assert step_5["tokens_per_second"] == pytest.approx(50 / 0.5)
    assert step_5["perplexity"] == pytest.approx(math.exp(2.0), rel=1e-4)


def test_perplexity_is_absent_between_validations(small_telemetry):
    curves = run_curves(small_telemetry, RUNAWAY).filter(pl.col("role") == "twin")
    assert curves.filter(pl.col("perplexity").is_not_null())["step"].to_list() == [0, 5]


def test_curves_of_a_run_that_was_not_recorded_name_the_run(small_telemetry):
    with pytest.raises(BadInputError, match="'nobody'"):
        run_curves(small_telemetry, "nobody")
    with pytest.raises(BadInputError, match="run_id"):
        run_curves(small_telemetry, f"{RUNAWAY}-twin")


def test_sheet_curves_keep_every_third_step_and_the_last_of_each_run(small_telemetry):
    curves = sheet_curves(small_telemetry, 3)
    kept = {
        key: group["step"].to_list()
        for key, group in curves.group_by("scenario", "role", maintain_order=True)
    }
    assert kept["runaway", "failing"] == [0, 3, 6, 9]
    assert kept["late_crash", "failing"] == [0, 3, 6, 7]
    assert ("no_start", "failing") not in kept
    assert kept["no_start", "twin"] == [0, 3, 6, 9]


def test_a_run_of_an_unknown_scenario_is_named(small_telemetry, small_scenarios):
    foreign = dataclasses.replace(
        small_telemetry,
        runs=small_telemetry.runs.with_columns(
            scenario=pl.col("scenario").replace("runaway", "foreign")
        ),
    )
    with pytest.raises(BadInputError, match="'foreign', which does not exist"):
        sheet_runs(foreign, small_scenarios)


def test_remedies_of_a_run_are_roles_of_their_own(small_telemetry):
    named = f"{RUNAWAY}-clipped"
    run = small_telemetry.runs.filter(run_id=RUNAWAY).with_columns(
        run_id=pl.lit(named), kind=pl.lit("remedy"), twin_of=pl.lit(RUNAWAY)
    )
    steps = small_telemetry.steps.filter(run_id=RUNAWAY).with_columns(run_id=pl.lit(named))
    remedied = Telemetry(
        pl.concat([small_telemetry.runs, run]), pl.concat([small_telemetry.steps, steps])
    )
    curves = run_curves(remedied, RUNAWAY)
    assert set(curves["role"]) == {"failing", "twin", "clipped"}
    assert curves.filter(pl.col("role") != "clipped").equals(run_curves(small_telemetry, RUNAWAY))
