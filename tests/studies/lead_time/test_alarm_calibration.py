"""Alarm calibration: healthy runs that give the limit are not those that it is tried on."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.lead_time.alarm_calibration import calibrated_alarm
from failbench.studies.lead_time.alarm_scores import alarm_scores
from failbench.studies.lead_time.settings import AlarmSettings
from made_up_telemetry import ONSET, made_up_scenarios, made_up_telemetry

INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
SETTINGS = AlarmSettings(every=2, false_alarms=0.1, calibration_share=0.5, divisions=12, seed=0)


@pytest.fixture(scope="module")
def scores():
    telemetry = made_up_telemetry(seeds=3, successes=4)
    runs = telemetry.runs
    return alarm_scores(
        telemetry,
        made_up_scenarios(),
        runs.filter(pl.col("kind") == "failure", pl.col("seed") == 0),
        runs.filter(pl.col("kind") == "success"),
        SETTINGS.every,
    )


def calibrate(scores, **changed: object):
    return calibrated_alarm(*scores, SETTINGS.model_copy(update=changed), INTERVALS)


def test_scores_are_of_the_tested_runs_and_of_healthy_runs_of_other_seeds(scores):
    watched, healthy = scores
    assert set(watched["run_id"].str.tail(3)) == {"-s0"}
    assert set(healthy["run_id"].str.tail(8)) == {"-s1-twin", "-s2-twin"}
    assert not healthy["run_id"].is_duplicated().any()


def test_false_alarms_stay_near_what_was_asked_for(scores):
    rate = calibrate(scores).false_alarms
    assert rate.ci_low <= SETTINGS.false_alarms
    assert rate.value <= 2 * SETTINGS.false_alarms


def test_a_fault_that_leaves_the_healthy_course_raises_every_alarm_soon_after_onset(scores):
    for alarms in calibrate(scores).alarms:
        loud = alarms.filter(pl.col("run_id").str.starts_with("unknown"))  # its loss rises the most
        assert loud["alarm"].null_count() == 0
        assert loud["alarm"].max() <= ONSET + 2


def test_a_rate_that_so_few_runs_cannot_show_is_refused(scores):
    with pytest.raises(BadInputError, match="it takes 99"):
        calibrate(scores, false_alarms=0.01)
