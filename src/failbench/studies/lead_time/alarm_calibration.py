"""Alarm calibration: the limit of the alarm, and how often it is false on other healthy runs.

So low a rate of false alarms rests on the few healthy runs that stray the furthest, and a single
division of the healthy runs into those that give the limit and those that it is tried on would
leave the result to the luck of the draw. There are several divisions, and figures are means over
them, as they are over the repeats of folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.lead_time.alarm import alarm_limit, first_alarms
from failbench.studies.lead_time.settings import AlarmSettings
from failbench.vocabulary import ABSTAIN


@dataclass(frozen=True)
class CalibratedAlarm:
    """The alarm, calibrated once per division of the healthy runs."""

    alarms: tuple[pl.DataFrame, ...]
    limits: tuple[float, ...]
    runs: int
    false_alarms: Interval


def calibrated_alarm(
    scores: pl.DataFrame,
    healthy_scores: pl.DataFrame,
    settings: AlarmSettings,
    intervals: ScenarioIntervalSettings,
) -> CalibratedAlarm:
    """Calibrate the alarm on twins of other seeds than the tested runs, and raise it on these."""
    rng = np.random.default_rng(settings.seed)
    limits, others = [], []
    for _ in range(settings.divisions):
        chosen = _drawn_scenarios(healthy_scores, settings.calibration_share, rng)
        inside = pl.col("scenario").is_in(chosen)
        calibrating = healthy_scores.filter(inside)
        limits.append(alarm_limit(calibrating["score"].to_numpy(), settings.false_alarms))
        tried = healthy_scores.filter(~inside)
        others.append(tried.with_columns(false=pl.col("score") > limits[-1]))
    return CalibratedAlarm(
        tuple(first_alarms(scores, limit) for limit in limits),
        tuple(limits),
        calibrating.height,
        _false_alarms(pl.concat(others), intervals),
    )


def _drawn_scenarios(scores: pl.DataFrame, share: float, rng: np.random.Generator) -> list[str]:
    """A share of the scenarios of each category, so that both sides have all categories."""
    drawn: list[str] = []
    for group in scores.partition_by("category", maintain_order=True):
        names = group["scenario"].unique(maintain_order=True).to_list()
        order = rng.permutation(len(names))[: round(share * len(names))]
        drawn += [names[position] for position in order]
    return drawn


def _false_alarms(others: pl.DataFrame, intervals: ScenarioIntervalSettings) -> Interval:
    # the runs of a scenario are its seeds, and the value of a run is its mean over the divisions
    # that try the limit on it
    rows = others.with_columns(seed="run_id", repeat=pl.lit(0), prediction=pl.lit(ABSTAIN))
    figure = ValueMetric(
        "false_alarms",
        over_scenarios(rows, pl.col("false")),
        "probability that a new healthy run raises an alarm at any step",
        kind="proportion",
    )
    return scenario_intervals(scenario_answers(rows), (), intervals, (figure,))["false_alarms"]
