"""Alarm calibration: the limit of the alarm, and how often it is false on other healthy runs.

So low a rate of false alarms rests on the few healthy runs that stray the furthest, and a single
division of the healthy runs into those that give the limit and those that it is tried on would
leave the result to the luck of the draw. There are several divisions, and figures are means over
them, as they are over the repeats of folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of, snapshot_table
from failbench.methods.catalogue import band_features
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.lead_time.alarm import alarm_limit, first_alarms, healthy_course
from failbench.studies.lead_time.early_diagnosis import looks
from failbench.telemetry import Telemetry
from failbench.vocabulary import ABSTAIN


class AlarmSettings(Record):
    """How the alarm looks at runs and where its limit comes from."""

    every: int = Field(ge=1)
    false_alarms: float = Field(gt=0, lt=1)
    calibration_share: float = Field(gt=0, lt=1)
    divisions: int = Field(ge=1)
    seed: int = Field(ge=0)


@dataclass(frozen=True)
class CalibratedAlarm:
    """The alarm, calibrated once a division of the healthy runs.

    Attributes
    ----------
    alarms
        A division each: ``run`` and ``alarm``, the step of its first alarm (null: never), of the
        tested runs.
    limits
        A division each: the score above which the alarm is raised; 1 is the furthest that any
        successful run strayed.
    runs
        Healthy runs that a limit comes from.
    false_alarms
        Rate on the healthy runs of scenarios that the limit does not come from.
    """

    alarms: tuple[pl.DataFrame, ...]
    limits: tuple[float, ...]
    runs: int
    false_alarms: Interval


def calibrated_alarm(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    tested: pl.DataFrame,
    successes: pl.DataFrame,
    settings: AlarmSettings,
    intervals: IntervalSettings,
) -> CalibratedAlarm:
    """Calibrate the alarm on twins of other seeds than the tested runs, and raise it on these.

    Parameters
    ----------
    telemetry, scenarios
        Recorded runs, and where their categories come from.
    tested, successes
        Rows of ``RUN_SCHEMA``: the runs to watch, and those that the healthy course comes from.
    settings, intervals
        How the alarm is calibrated, and intervals.

    Raises
    ------
    BadInputError
        If there are no twins of other seeds, or too few for so low a rate of false alarms.
    """
    twins = _twins_of_other_seeds(telemetry.runs, tested)
    cut = partial(_watched_until, telemetry, scenarios, every=settings.every)
    course = healthy_course(cut(successes, pl.col("failure_step")), band_features())
    highest = (
        course.scores(cut(twins, pl.col("failure_step")))
        .group_by("run")
        .agg(pl.col("score").max())
        .join(twins.select("scenario", "seed", run="run_id"), on="run")
        .join(categories_of(scenarios), on="scenario")
        .sort("category", "scenario", "run")
    )
    watched = course.scores(cut(tested, pl.col("failure_step") - 1))
    rng = np.random.default_rng(settings.seed)
    limits, others = [], []
    for _ in range(settings.divisions):
        chosen = _drawn_scenarios(highest, settings.calibration_share, rng)
        inside = pl.col("scenario").is_in(chosen)
        calibrating = highest.filter(inside)
        limits.append(alarm_limit(calibrating["score"].to_numpy(), settings.false_alarms))
        others.append(highest.filter(~inside).with_columns(false=pl.col("score") > limits[-1]))
    return CalibratedAlarm(
        tuple(first_alarms(watched, limit) for limit in limits),
        tuple(limits),
        calibrating.height,
        _false_alarms(pl.concat(others), intervals),
    )


def _twins_of_other_seeds(runs: pl.DataFrame, tested: pl.DataFrame) -> pl.DataFrame:
    setting = ["architecture", "optimizer", "scale"]
    twins = (
        runs.filter(pl.col("kind") == "twin")
        .join(tested.select(setting).unique(), on=setting, how="semi")
        .filter(~pl.col("seed").is_in(tested["seed"].unique().to_list()))
    )
    if twins.is_empty():
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "seed",
            "there are no twins of other seeds to calibrate the alarm on.",
            "Raise the seeds of the setting in record.settings and run `failbench record`.",
        )
    return twins


def _drawn_scenarios(highest: pl.DataFrame, share: float, rng: np.random.Generator) -> list[str]:
    """A share of the scenarios of each category, so that both sides have all categories."""
    drawn: list[str] = []
    for group in highest.partition_by("category", maintain_order=True):
        names = group["scenario"].unique(maintain_order=True).to_list()
        order = rng.permutation(len(names))[: round(share * len(names))]
        drawn += [names[position] for position in order]
    return drawn


def _watched_until(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    runs: pl.DataFrame,
    end: pl.Expr,
    every: int,
) -> pl.DataFrame:
    return snapshot_table(telemetry, scenarios, looks(runs, every, pl.lit(1), end))


def _false_alarms(others: pl.DataFrame, intervals: IntervalSettings) -> Interval:
    # the value of a scenario and seed is its mean over the divisions that try the limit on it
    rows = others.with_columns(repeat=pl.lit(0), prediction=pl.lit(ABSTAIN))
    figure = ValueMetric(
        "false_alarms",
        over_scenarios(rows, pl.col("false")),
        "probability that a new healthy run raises an alarm at any step",
        kind="proportion",
    )
    found = scenario_intervals(scenario_answers(rows), (), intervals, (figure,))
    return found["false_alarms"]
