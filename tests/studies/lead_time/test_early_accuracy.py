"""Early accuracy: a run that is cut before its failure shows nothing of its end."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.lead_time.early_accuracy import early_rates, not_begun, past_onset
from failbench.studies.lead_time.settings import HEALTHY
from failbench.studies.lead_time.snapshots import (
    EARLY_FEATURES,
    Snapshots,
    cut_before_failure,
    snapshot_predictions,
)

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


def cut(telemetry, scenarios, ahead: int) -> Snapshots:
    runs = telemetry.runs.filter(pl.col("kind") == "failure").with_columns(
        error_type=pl.lit("KeyError")
    )
    return cut_before_failure(telemetry, scenarios, runs, ahead)


def test_classifiers_do_not_see_when_the_snapshot_was_taken():
    assert set(FEATURE_SETS["19"]) - set(EARLY_FEATURES) == {"steps_before_failure"}


def test_before_the_failure_no_error_text_is_known(small_telemetry, small_scenarios):
    text = pl.when(pl.col("scenario") == "late_crash").then(pl.lit("RuntimeError"))
    telling = type(small_telemetry)(
        small_telemetry.runs.with_columns(error_type=text, error_message=text),
        small_telemetry.steps,
    )
    for ahead, known in ((0, {"RuntimeError", None}), (1, {None}), (3, {None})):
        snapshot = cut(telling, small_scenarios, ahead).failing
        assert set(snapshot["error_type"]) == known
        assert set(snapshot["error_message"]) == known


def failing(telemetry) -> pl.DataFrame:
    return telemetry.runs.filter(pl.col("kind") == "failure")


def test_a_run_that_has_not_begun_has_no_snapshot(small_telemetry, small_scenarios):
    assert not_begun(failing(small_telemetry), 1)["scenario"].to_list() == ["no_start"]
    snapshots = cut(small_telemetry, small_scenarios, 1)
    assert set(snapshots.failing["scenario"]) == {"late_crash", "runaway"}


def test_snapshots_are_past_onset_from_the_step_of_the_fault_on(small_telemetry):
    # late_crash fails at 7 with its fault from 4 on, runaway at 6 from 5 on
    runs = failing(small_telemetry)
    assert set(past_onset(runs, 0)["scenario"]) == {"late_crash", "runaway", "no_start"}
    assert set(past_onset(runs, 1)["scenario"]) == {"late_crash", "runaway"}
    assert set(past_onset(runs, 2)["scenario"]) == {"late_crash"}
    assert past_onset(runs, 4).is_empty()


def test_twins_are_cut_at_the_steps_of_their_failing_runs(small_telemetry, small_scenarios):
    snapshots = cut(small_telemetry, small_scenarios, 2)
    steps, steps_of_twins = (
        dict(table.select("scenario", "steps_before_failure").iter_rows())
        for table in (snapshots.failing, snapshots.twins)
    )
    assert steps == steps_of_twins == {"late_crash": 6.0, "runaway": 5.0}
    assert set(snapshots.twins["kind"]) == {"twin"}


def test_a_failing_run_without_a_twin_is_refused(small_telemetry, small_scenarios):
    alone = small_telemetry.select(pl.col("kind") == "failure")
    with pytest.raises(BadInputError, match="has no twin"):
        cut(alone, small_scenarios, 0)


AHEAD = 10


@pytest.fixture(scope="module")
def runs(failures):
    """A run per scenario, of which the first of each category fails before it can be cut."""
    first = pl.col("scenario").str.ends_with("_0")
    return failures.filter(pl.col("seed") == 0).with_columns(
        onset_step=pl.lit(0), failure_step=pl.when(first).then(AHEAD - 1).otherwise(AHEAD)
    )


@pytest.fixture(scope="module")
def predictions(runs, successes):
    begun = runs.filter(pl.col("failure_step") >= AHEAD)
    healthy = begun.with_columns(pl.lit(0.0).alias("max_loss"), kind=pl.lit("twin"))
    splits = make_splits(runs.select("scenario", "category"), folds=3, repeats=2, seed=0)
    snapshots = Snapshots(AHEAD, begun, healthy)
    return snapshot_predictions(snapshots, successes, splits, "simple_rules", RULES, 0)


@pytest.fixture(scope="module")
def rates(predictions, runs):
    return early_rates(predictions, runs, AHEAD, INTERVALS)


def test_a_cause_that_is_named_without_evidence_is_not_named_for_a_reason(predictions, runs):
    healthy = pl.col("subset") == HEALTHY
    for evidence, expected in ((False, 0.0), (True, 1.0)):
        changed = predictions.with_columns(
            evidence=pl.when(healthy).then(pl.lit(evidence)),
            prediction=pl.when(healthy).then(pl.lit("unknown")).otherwise("prediction"),
        )
        rate = early_rates(changed, runs, AHEAD, INTERVALS)["named_on_healthy"]
        assert rate.value == expected


def test_what_has_not_begun_is_not_diagnosed_but_counts(rates):
    assert (rates["accuracy"].n, rates["accuracy_past_onset"].n) == (30, 25)
    right = rates["accuracy_past_onset"].value * 25
    assert rates["accuracy"].value == pytest.approx(right / 30)


def test_the_gain_is_over_the_twins_of_the_runs_that_had_begun(rates):
    assert rates["gain_over_twin"].n == 25
    assert rates["gain_over_twin"].value == pytest.approx(
        rates["accuracy_past_onset"].value - rates["twin_accuracy"].value
    )


def test_a_seed_that_has_not_begun_is_a_run_of_its_scenario(predictions, runs, rates):
    late = runs.with_columns(pl.format("{}-late", "run_id").alias("run_id"), failure_step=AHEAD - 1)
    with_late = early_rates(predictions, pl.concat([runs, late]), AHEAD, INTERVALS)
    assert with_late["accuracy"].n == 30
    assert with_late["accuracy"].resampling_unit == "scenario, then seed"
    assert with_late["accuracy"].value == pytest.approx(rates["accuracy"].value / 2)
    assert with_late["accuracy_past_onset"] == rates["accuracy_past_onset"]
