"""What benchmarks are fed and measured with is what they say it is."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import feature_table
from failbench.statistics.metrics import accuracy
from failbench.statistics.pairs import paired_scores
from failbench.statistics.scenario_values import scenario_answers
from grown import grown_telemetry, more_runs, more_scenarios
from made_up import made_up_predictions
from measured_child import MeasuredChild, Works, can_measure

COPIES = 3
NAMES = [feature.name for feature in FEATURES]
MEBIBYTE = 2**20


def test_grown_telemetry_has_the_features_of_what_it_copies(small_telemetry):
    failing = small_telemetry.select(pl.col("kind") == "failure")
    grown = grown_telemetry(failing, COPIES)
    assert grown.steps.equals(grown.steps.sort("run_id", "step"))
    once, copied = (feature_table(each, ()).select(NAMES) for each in (failing, grown))
    assert_frame_equal(copied, pl.concat([once] * COPIES))


def test_more_scenarios_and_more_runs_leave_accuracy_and_folds_as_they_were():
    predictions = made_up_predictions()
    answers = scenario_answers(predictions)
    score = accuracy(answers.confusion(), answers.categories)
    for grow, scenarios in ((more_scenarios, COPIES), (more_runs, 1)):
        grown = scenario_answers(grow(predictions, COPIES))
        assert grown.n == scenarios * answers.n
        assert accuracy(grown.confusion(), grown.categories) == pytest.approx(score)
    two = pl.concat([predictions, predictions.with_columns(method=pl.lit("other"))])
    folds = paired_scores(more_scenarios(two, COPIES)).folds
    assert folds["tested"].to_list() == [COPIES * one for one in paired_scores(two).folds["tested"]]


def takes_memory(mebibytes: int) -> Works:
    """Works that need so much: the first all at once, the second nothing."""
    return {"fill": lambda: len(b"1" * (mebibytes * MEBIBYTE)), "rest": lambda: None}


@pytest.mark.skipif(not can_measure(), reason="memory is read from Linux's /proc")
def test_peak_memory_is_that_of_the_work_and_is_forgotten_before_the_next():
    child = MeasuredChild(takes_memory, size=200, warm_up=1)
    peaks = {}
    for work in ("fill", "rest"):
        child.prepare(work)
        peaks[work] = child.do(work).peak_mib
    child.close()
    assert 195 < peaks["fill"] - peaks["rest"] < 205
