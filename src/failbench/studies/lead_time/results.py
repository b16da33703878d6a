"""Lead time: how early the cause of a failure can be told, and at what price in false alarms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of, feature_table, snapshot_table
from failbench.methods.classifiers import LogisticRegressionSettings, RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import first_repeats
from failbench.prediction.workers import parallel_map
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.intervals import IntervalSettings, interval_rows, scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.lead_time.alarm_calibration import (
    AlarmSettings,
    CalibratedAlarm,
    calibrated_alarm,
)
from failbench.studies.lead_time.early_accuracy import Snapshots, cut_before_failure, early_rates
from failbench.studies.lead_time.early_diagnosis import (
    lead_times,
    looks,
    shares,
    spread_over_fault,
    watch,
)
from failbench.telemetry import Telemetry
from failbench.vocabulary import ABSTAIN

ALARM, POSSIBLE = "alarm", "possible"
"""Rows that stand beside the methods: any alarm, and runs whose onset lies that far back."""


class LeadTimeSettings(AlarmSettings):
    """How snapshots, looks and alarms are made; the section ``lead_time`` of params.yaml."""

    steps: tuple[int, ...] = Field(min_length=1)
    repeats: int = Field(ge=1)
    training_snapshots: int = Field(ge=1)
    logistic_regression: LogisticRegressionSettings
    random_forest: RandomForestSettings


@dataclass(frozen=True)
class LeadTime:
    """What the study found.

    Attributes
    ----------
    rates
        A row a (``method``, ``steps``, ``metric``), with value, interval and ``n`` scenarios.
    limits
        Score above which the alarm is raised, one a division of the healthy runs; 1 is the
        furthest that a successful run strayed.
    calibration_runs
        Healthy runs that a limit comes from.
    """

    rates: pl.DataFrame
    limits: tuple[float, ...]
    calibration_runs: int


def lead_time_study(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    splits: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    settings: LeadTimeSettings,
    intervals: IntervalSettings,
    workers: int = 1,
) -> LeadTime:
    """Measure how methods do before the failure, at a number of steps and over time.

    The healthy course and the fixed thresholds come from the successful runs; the limit of the
    alarm from twins of other seeds than the tested ones, of a share of the scenarios; its false
    alarms are counted on those of the other scenarios.

    Parameters
    ----------
    telemetry, scenarios
        Recorded runs, and where their categories come from.
    splits
        Folds by scenario, the same for all methods.
    study
        The runs that are tested, one a scenario.
    methods
        Settings by name in ``methods.registry.METHODS``.
    settings, intervals
        How snapshots are made, and intervals.
    workers
        Processes; the result does not depend on it.

    Raises
    ------
    BadInputError
        If no run of the study, or no twin of another seed, was recorded; or if there are too few
        healthy runs for so low a rate of false alarms.
    """
    known = tuple(scenarios)
    folds = first_repeats(splits, settings.repeats, "lead_time")
    runs = study.failures(telemetry.runs)
    if runs.is_empty():
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "run_id",
            f"there is no failing run of {study.architecture} with {study.optimizer}, "
            f"seed {study.run_seed}.",
            "Choose recorded runs in the section nested_cv of params.yaml.",
        )
    healthy = study.successes(telemetry.runs)
    successes = feature_table(telemetry, known, healthy.select("run_id", last_step="failure_step"))
    cuts = [cut_before_failure(telemetry, known, runs, ahead) for ahead in settings.steps]
    tasks = [
        (cut, successes, folds, method, own, study.seed, intervals)
        for method, own in methods.items()
        for cut in cuts
    ]
    early = parallel_map(_early_rows, tasks, workers)

    alarm = calibrated_alarm(telemetry, known, runs, healthy, settings, intervals)
    tested = runs.join(categories_of(known), on="scenario").select(
        "category", "scenario", "seed", "onset_step", "failure_step", run="run_id"
    )
    onset, last = pl.col("onset_step"), pl.col("failure_step") - 1
    watched = snapshot_table(telemetry, known, looks(runs, settings.every, onset, last))
    training = snapshot_table(
        telemetry, known, spread_over_fault(runs, settings.training_snapshots)
    )
    steps = tuple(step for step in settings.steps if step > 0)
    late = []
    for method, own in methods.items():
        said = watch(training, watched, successes, folds, method, own, study.seed, workers)
        late.append((method, _over_divisions(alarm, partial(lead_times, tested, said=said))))
    late += [
        (ALARM, _over_divisions(alarm, partial(_alarm_leads, tested))),
        (POSSIBLE, _possible_leads(tested)),
    ]
    event = parallel_map(
        _event_rows, [(method, leads, steps, intervals) for method, leads in late], workers
    )
    false = interval_rows("", ALARM, {"false_alarms": alarm.false_alarms})
    rates = pl.concat([*early, *event, false.with_columns(steps=pl.lit(0))]).drop("feature_set")
    # how late it is possible to be right says nothing: at onset, or never
    said_nothing = (pl.col("method") == POSSIBLE) & (pl.col("metric") == "diagnosed_within")
    return LeadTime(
        rates.filter(~said_nothing).select("method", "steps", pl.exclude("method", "steps")),
        alarm.limits,
        alarm.runs,
    )


def lead_time_metrics(found: LeadTime) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Nested scalars: ``{method: {metric: {steps: {value, ci_low, ci_high, n}}}}``."""
    nested: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in found.rates.iter_rows(named=True):
        metric = nested.setdefault(row["method"], {}).setdefault(row["metric"], {})
        metric[f"steps_{row['steps']}"] = {
            key: row[key] for key in ("value", "ci_low", "ci_high", "n")
        }
    nested[ALARM]["limit"] = {
        "all_steps": {
            "value": float(np.median(found.limits)),
            "lowest": min(found.limits),
            "highest": max(found.limits),
            "n": float(found.calibration_runs),
        }
    }
    return nested


def _early_rows(
    cut: Snapshots,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    seed: int,
    intervals: IntervalSettings,
) -> pl.DataFrame:
    rates = early_rates(cut, successes, splits, method, settings, seed, intervals)
    return interval_rows("", method, rates).with_columns(steps=pl.lit(cut.ahead))


def _over_divisions(
    alarm: CalibratedAlarm, leads_of: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Lead times under the alarm of each division, which count as repeats of their own."""
    divisions = len(alarm.alarms)
    return pl.concat(
        leads_of(alarms).with_columns(repeat=pl.col("repeat") * divisions + number)
        for number, alarms in enumerate(alarm.alarms)
    )


def _alarm_leads(tested: pl.DataFrame, alarms: pl.DataFrame) -> pl.DataFrame:
    """How far ahead runs raise an alarm that is not false, whatever the diagnosis."""
    raised = pl.when(pl.col("alarm") >= pl.col("onset_step")).then("alarm")
    return (
        tested.join(alarms, on="run", how="left")
        .with_columns(
            repeat=pl.lit(0),
            lead=pl.col("failure_step") - raised,
            delay=raised - pl.col("onset_step"),
        )
        .drop("alarm")
    )


def _possible_leads(tested: pl.DataFrame) -> pl.DataFrame:
    """How far ahead of their failures faults are switched on: nothing can be seen before."""
    whole = pl.col("failure_step") - pl.col("onset_step")
    return tested.with_columns(
        repeat=pl.lit(0),
        lead=pl.when(whole > 0).then(whole),
        delay=pl.when(whole > 0).then(0),
    )


def _event_rows(
    method: str, leads: pl.DataFrame, steps: tuple[int, ...], intervals: IntervalSettings
) -> pl.DataFrame:
    """Shares of runs by steps ahead, the same as ``1 - `` the incidence from the failure's side."""
    words = {
        "ahead": "probability that a new run is diagnosed right for good at least {} steps before "
        "its failure, after an alarm",
        "within": "probability that a new run is diagnosed right for good within {} steps of its "
        "onset and before its failure, after an alarm",
    }
    rows = leads.with_columns(prediction=pl.lit(ABSTAIN))
    figures = []
    for name, holds in shares(steps).items():
        metric, count = name.split("_")
        figures.append(
            ValueMetric(
                name, over_scenarios(rows, holds), words[metric].format(count), kind="proportion"
            )
        )
    found = scenario_intervals(scenario_answers(rows), (), intervals, tuple(figures))
    return (
        interval_rows("", method, found)
        .with_columns(parts=pl.col("metric").str.split("_"))
        .with_columns(
            metric=pl.lit("diagnosed_") + pl.col("parts").list.first(),
            steps=pl.col("parts").list.last().cast(pl.Int32),
        )
        .drop("parts")
    )
