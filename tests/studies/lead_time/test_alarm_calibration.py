"""Alarm calibration: healthy runs that give the limit are not those that it is tried on."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.lead_time.alarm_calibration import AlarmSettings, calibrated_alarm
from made_up_telemetry import ONSET, SCENARIOS, made_up_scenarios, made_up_telemetry

INTERVALS = IntervalSettings(resamples=1000, confidence=0.95, wilson_from=0.9, seed=0)
SETTINGS = AlarmSettings(every=2, false_alarms=0.1, calibration_share=0.5, divisions=12, seed=0)


@pytest.fixture(scope="module")
def telemetry():
    return made_up_telemetry(seeds=3, successes=4)


def calibrate(telemetry, **changed: object):
    runs = telemetry.runs
    return calibrated_alarm(
        telemetry,
        made_up_scenarios(),
        runs.filter(pl.col("kind") == "failure", pl.col("seed") == 0),
        runs.filter(pl.col("kind") == "success"),
        SETTINGS.model_copy(update=changed),
        INTERVALS,
    )


def test_a_share_of_each_category_calibrates(telemetry):
    found = calibrate(telemetry)
    assert found.runs == 5 * SCENARIOS // 2 * 2  # two twins of other seeds a scenario
    assert len(found.limits) == len(found.alarms) == SETTINGS.divisions


def test_every_scenario_is_tried_in_some_division(telemetry):
    assert calibrate(telemetry).false_alarms.n == 5 * SCENARIOS


def test_false_alarms_stay_near_what_was_asked_for(telemetry):
    found = calibrate(telemetry).false_alarms
    assert found.ci_low <= SETTINGS.false_alarms
    assert found.value <= 2 * SETTINGS.false_alarms


def test_a_fault_that_leaves_the_healthy_course_raises_every_alarm_soon_after_onset(telemetry):
    for alarms in calibrate(telemetry).alarms:
        loud = alarms.filter(pl.col("run").str.starts_with("unknown"))  # its loss rises the most
        assert loud["alarm"].null_count() == 0
        assert loud["alarm"].max() <= ONSET + 2


def test_a_rate_that_so_few_runs_cannot_show_is_refused(telemetry):
    with pytest.raises(BadInputError, match="it takes 99"):
        calibrate(telemetry, false_alarms=0.01)
