"""Results of lead time: how early the cause of a failure is told, and at what price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.main_study import same_repeats
from failbench.prediction.workers import parallel_map
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.lead_time.alarm_calibration import CalibratedAlarm, calibrated_alarm
from failbench.studies.lead_time.early_accuracy import early_rates
from failbench.studies.lead_time.early_diagnosis import lead_times, shares
from failbench.studies.lead_time.measurements import Measurements
from failbench.studies.lead_time.settings import LOOK, METHODS, ON_KNOWN, LeadTimeSettings
from failbench.vocabulary import ABSTAIN

ALARM, POSSIBLE = "alarm", "possible"
"""Rows that stand beside the methods: any alarm, and runs whose onset lies that far back."""
MAIN_STUDY, MAIN_STUDY_EQUAL_REPEATS = "main_study_accuracy", "main_study_accuracy_equal_repeats"
"""What stands beside the accuracy at the failure itself."""
ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")


@dataclass(frozen=True)
class LeadTime:
    """Rates of methods, of the alarm, and of what was possible."""

    rates: pl.DataFrame
    limits: tuple[float, ...]
    calibration_runs: int


def lead_time_results(
    measured: Measurements,
    settings: LeadTimeSettings,
    intervals: ScenarioIntervalSettings,
    workers: int = 1,
) -> LeadTime:
    """Estimate how methods do before the failure, at a number of steps and over time.

    The limit of the alarm comes from healthy runs of a share of the scenarios; its false alarms are
    counted on those of the other scenarios.
    """
    predicted = set(measured.predictions["method"])
    methods = [method for method in (*METHODS, *ON_KNOWN) if method in predicted]
    early = parallel_map(
        _early_rows,
        [
            (method, _at(measured.predictions, method, ahead), measured.runs, ahead, intervals)
            for method, ahead in product(methods, settings.steps)
        ],
        workers,
    )
    alarm = calibrated_alarm(measured.scores, measured.healthy_scores, settings, intervals)
    steps = tuple(step for step in settings.steps if step > 0)
    event = parallel_map(
        _event_rows,
        [
            (name, leads, steps, intervals)
            for name, leads in _leads(measured, methods, alarm).items()
        ],
        workers,
    )
    false = estimate_rows({"false_alarms": alarm.false_alarms}, method=ALARM, steps=0)
    rates = pl.concat([*early, *event, false])
    # how late it is possible to be right says nothing: at onset, or never
    trivial = (pl.col("method") == POSSIBLE) & (pl.col("metric") == "diagnosed_within")
    return LeadTime(rates.filter(~trivial), alarm.limits, alarm.runs)


def main_study_rows(
    main: pl.DataFrame, predictions: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Accuracy of the methods in the main study, over all repeats and over those asked here."""
    on_features = main.filter(pl.col("feature_set") == PRIMARY_SET)
    asked = predictions.with_columns(feature_set=pl.lit(PRIMARY_SET))
    equal = same_repeats(on_features, asked)
    tables = []
    for method in equal["method"].unique().sort():
        of_method = pl.col("method") == method
        rates = {
            metric: scenario_intervals(scenario_answers(answers), ACCURACY, intervals)["accuracy"]
            for metric, answers in (
                (MAIN_STUDY, on_features.filter(of_method)),
                (MAIN_STUDY_EQUAL_REPEATS, equal.filter(of_method)),
            )
        }
        tables.append(estimate_rows(rates, method=method, steps=0))
    return pl.concat(tables)


def lead_time_metrics(results: LeadTime) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Nested scalars: ``{method: {metric: {steps: {value, ci_low, ci_high, n}}}}``."""
    named = results.rates.with_columns(steps=pl.format("steps_{}", "steps"))
    nested = nest(named, "method", "metric", "steps")
    nested[ALARM]["limit"] = {
        "all_steps": {
            "value": float(np.median(results.limits)),
            "lowest": min(results.limits),
            "highest": max(results.limits),
            "n": float(results.calibration_runs),
        }
    }
    return nested


def _at(predictions: pl.DataFrame, method: str, ahead: int) -> pl.DataFrame:
    return predictions.filter(pl.col("method") == method, pl.col("steps_ahead") == ahead)


def _early_rows(
    method: str,
    predictions: pl.DataFrame,
    runs: pl.DataFrame,
    ahead: int,
    intervals: ScenarioIntervalSettings,
) -> pl.DataFrame:
    return estimate_rows(
        early_rates(predictions, runs, ahead, intervals), method=method, steps=ahead
    )


def _leads(
    measured: Measurements, methods: list[str], alarm: CalibratedAlarm
) -> dict[str, pl.DataFrame]:
    """Lead times of each method, of the alarm whatever the diagnosis, and those possible."""
    looks = measured.predictions.filter(pl.col("subset") == LOOK)
    return {
        **{
            method: _over_divisions(
                alarm,
                partial(lead_times, measured.runs, looks=looks.filter(pl.col("method") == method)),
            )
            for method in methods
        },
        ALARM: _over_divisions(alarm, partial(_alarm_leads, measured.runs)),
        POSSIBLE: _possible_leads(measured.runs),
    }


def _over_divisions(
    alarm: CalibratedAlarm, leads_of: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Lead times under the alarm of each division, which count as repeats."""
    divisions = len(alarm.alarms)
    return pl.concat(
        leads_of(alarms).with_columns(repeat=pl.col("repeat") * divisions + number)
        for number, alarms in enumerate(alarm.alarms)
    )


def _alarm_leads(runs: pl.DataFrame, alarms: pl.DataFrame) -> pl.DataFrame:
    """How far ahead runs raise an alarm that is not false, whatever the diagnosis."""
    raised = pl.when(pl.col("alarm") >= pl.col("onset_step")).then("alarm")
    return (
        runs.join(alarms, on="run_id", how="left")
        .with_columns(
            repeat=pl.lit(0),
            lead=pl.col("failure_step") - raised,
            delay=raised - pl.col("onset_step"),
        )
        .drop("alarm")
    )


def _possible_leads(runs: pl.DataFrame) -> pl.DataFrame:
    """How far ahead of their failures faults are switched on: nothing can be seen before."""
    whole = pl.col("failure_step") - pl.col("onset_step")
    return runs.with_columns(
        repeat=pl.lit(0),
        lead=pl.when(whole > 0).then(whole),
        delay=pl.when(whole > 0).then(0),
    )


def _event_rows(
    method: str, leads: pl.DataFrame, steps: tuple[int, ...], intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Shares of runs by steps ahead, the same as ``1 - `` the incidence from the failure's side."""
    words = {
        "ahead": "probability that a new run is diagnosed right for good at least {} steps before "
        "its failure, after an alarm",
        "within": "probability that a new run is diagnosed right for good within {} steps of its "
        "onset and before its failure, after an alarm",
    }
    # the runs of a scenario are its seeds: there is a single architecture
    rows = leads.with_columns(prediction=pl.lit(ABSTAIN), seed="run_id")
    figures = {
        (side, count): ValueMetric(
            f"{side} {count}",
            over_scenarios(rows, holds),
            words[side].format(count),
            kind="proportion",
        )
        for (side, count), holds in shares(steps).items()
    }
    estimates = scenario_intervals(scenario_answers(rows), (), intervals, tuple(figures.values()))
    return pl.concat(
        estimate_rows({f"diagnosed_{side}": estimates[figure.name]}, method=method, steps=count)
        for (side, count), figure in figures.items()
    )
