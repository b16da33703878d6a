"""Early accuracy: a run that is cut before its failure shows nothing of its end."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.lead_time.early_accuracy import (
    EARLY_FEATURES,
    Snapshots,
    cut_before_failure,
    early_rates,
)

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
INTERVALS = IntervalSettings(resamples=1000, confidence=0.95, wilson_from=0.9, seed=0)


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
        found = cut(telling, small_scenarios, ahead).failing
        assert set(found["error_type"]) == known
        assert set(found["error_message"]) == known


def test_a_run_that_has_not_begun_has_no_snapshot(small_telemetry, small_scenarios):
    found = cut(small_telemetry, small_scenarios, 1)
    assert found.not_begun["scenario"].to_list() == ["no_start"]
    assert set(found.failing["scenario"]) == {"late_crash", "runaway"}


def test_snapshots_are_past_onset_from_the_step_of_the_fault_on(small_telemetry, small_scenarios):
    # late_crash fails at 7 with its fault from 4 on, runaway at 6 from 5 on
    assert cut(small_telemetry, small_scenarios, 1).past_onset == ("late_crash", "runaway")
    assert cut(small_telemetry, small_scenarios, 2).past_onset == ("late_crash",)
    assert cut(small_telemetry, small_scenarios, 4).past_onset == ()


def test_twins_are_cut_at_the_steps_of_their_failing_runs(small_telemetry, small_scenarios):
    found = cut(small_telemetry, small_scenarios, 2)
    failing, twins = (
        dict(table.select("scenario", "steps_before_failure").iter_rows())
        for table in (found.failing, found.twins)
    )
    assert failing == twins == {"late_crash": 6.0, "runaway": 5.0}
    assert set(found.twins["kind"]) == {"twin"}


def test_a_failing_run_without_a_twin_is_refused(small_telemetry, small_scenarios):
    alone = small_telemetry.select(pl.col("kind") == "failure")
    with pytest.raises(BadInputError, match="has no twin"):
        cut(alone, small_scenarios, 0)


@pytest.fixture(scope="module")
def rates(failures, successes):
    runs = failures.filter(pl.col("seed") == 0)
    absent = [f"{one}_0" for one in sorted(set(runs["category"]))]
    begun = runs.filter(~pl.col("scenario").is_in(absent))
    healthy = begun.with_columns(pl.lit(0.0).alias("max_loss"), kind=pl.lit("twin"))
    snapshots = Snapshots(
        10,
        begun,
        healthy,
        runs.filter(pl.col("scenario").is_in(absent)).select(
            "scenario", pl.col("seed").cast(pl.Int32), "category"
        ),
        tuple(begun["scenario"]),
    )
    splits = make_splits(runs.select("scenario", "category"), folds=3, repeats=2, seed=0)
    return early_rates(snapshots, successes, splits, "simple_rules", RULES, 0, INTERVALS)


def test_what_has_not_begun_is_not_diagnosed_but_counts(rates):
    assert (rates["accuracy"].n, rates["accuracy_past_onset"].n) == (30, 25)
    right = rates["accuracy_past_onset"].value * 25
    assert rates["accuracy"].value == pytest.approx(right / 30)


def test_the_gain_is_over_the_twins_of_the_runs_that_had_begun(rates):
    assert rates["gain_over_twin"].n == 25
    assert rates["gain_over_twin"].value == pytest.approx(
        rates["accuracy_past_onset"].value - rates["twin_accuracy"].value
    )


def test_every_rate_has_its_interval(rates):
    for one in rates.values():
        assert one.ci_low <= one.value <= one.ci_high
