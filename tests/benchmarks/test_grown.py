"""What benchmarks are fed and measured with is what they say it is."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cost_cases import CASES, LIMITS
from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import feature_table
from failbench.statistics.paired_scores import paired_scores
from failbench.statistics.scores import accuracy, scenario_answers
from failbench.telemetry import read_telemetry
from grown import (
    grown_table,
    grown_telemetry,
    more_runs,
    more_scenarios,
    write_grown_telemetry,
)
from made_up import made_up_predictions
from measured_child import MeasuredChild, Works, can_measure

COPIES = 3
NAMES = [feature.name for feature in FEATURES]
MEBIBYTE = 2**20


@pytest.fixture
def failing(small_telemetry):
    return small_telemetry.select(pl.col("kind") == "failure")


@pytest.fixture
def table(failing, small_scenarios):
    return feature_table(failing, small_scenarios)


def test_a_grown_table_has_new_runs_of_new_scenarios_in_the_same_categories(table):
    grown = grown_table(table, COPIES)
    assert grown.height == COPIES * table.height
    assert grown["run_id"].n_unique() == grown.height
    assert grown["scenario"].n_unique() == COPIES * table["scenario"].n_unique()
    assert grown["category"].to_list() == table["category"].to_list() * COPIES


def test_copied_features_lie_near_what_they_copy_and_counts_stay_counts(table):
    grown = grown_table(table, COPIES)
    first, second = grown[: table.height], grown[table.height : 2 * table.height]
    assert_frame_equal(first.select(NAMES), table.select(NAMES))
    assert_frame_equal(second.select(NAMES), table.select(NAMES), rel_tol=0.06)
    assert not second["mean_loss"].equals(first["mean_loss"])
    for name in ("steps_before_failure", "memory_warning"):
        assert second[name].to_list() == table[name].to_list()


def test_grown_telemetry_has_the_features_of_what_it_copies(failing, table):
    grown = grown_telemetry(failing, COPIES)
    assert grown.steps.equals(grown.steps.sort("run_id", "step"))
    assert_frame_equal(
        feature_table(grown, ()).select(NAMES), pl.concat([table.select(NAMES)] * COPIES)
    )


@pytest.mark.parametrize("runs", [1, 3, 4, 9])
def test_written_telemetry_is_valid_and_has_as_many_runs_as_asked_for(failing, tmp_path, runs):
    write_grown_telemetry(failing, runs, tmp_path)
    back = read_telemetry(tmp_path)
    expected = grown_telemetry(failing, COPIES)
    kept = expected.select(pl.col("run_id").is_in(expected.runs["run_id"][:runs].to_list()))
    assert_frame_equal(back.runs, kept.runs)
    assert_frame_equal(back.steps, kept.steps)


def test_more_scenarios_and_more_runs_leave_accuracy_and_folds_as_they_were():
    predictions = made_up_predictions()
    answers = scenario_answers(predictions)
    score = accuracy(answers.confusion(), tuple(answers.shares))
    for grow, scenarios in ((more_scenarios, COPIES), (more_runs, 1)):
        grown = scenario_answers(grow(predictions, COPIES))
        assert grown.n == scenarios * answers.n
        assert accuracy(grown.confusion(), tuple(grown.shares)) == pytest.approx(score)
    two = pl.concat([predictions, predictions.with_columns(method=pl.lit("other"))])
    folds = paired_scores(more_scenarios(two, COPIES)).folds
    assert folds["tested"].to_list() == [COPIES * one for one in paired_scores(two).folds["tested"]]


def test_limits_are_of_works_that_are_measured():
    for name, limits in LIMITS.items():
        assert set(limits) <= set(CASES[name].works)
        assert all(reason for _, reason in limits.values())


def takes_memory(mebibytes: int) -> Works:
    """Works that need so much: the first all at once, the second nothing."""
    return {"fill": lambda: len(b"1" * (mebibytes * MEBIBYTE)), "rest": lambda: None}


def fails(_: int) -> Works:
    raise ValueError("There is nothing to measure.")


needs_proc = pytest.mark.skipif(not can_measure(), reason="memory is read from Linux's /proc")


@needs_proc
def test_peak_memory_is_that_of_the_work_and_is_forgotten_before_the_next():
    child = MeasuredChild(takes_memory, size=200, warm_up=1)
    peaks = {}
    for work in ("fill", "rest"):
        child.prepare(work)
        peaks[work] = child.do(work).peak_mib
    child.close()
    assert 195 < peaks["fill"] - peaks["rest"] < 205


@needs_proc
def test_what_fails_in_the_process_is_said_by_the_test_that_waits():
    with pytest.raises(RuntimeError, match=r"There is nothing to measure\."):
        MeasuredChild(fails, size=1, warm_up=1)
