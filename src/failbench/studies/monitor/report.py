"""The report of the monitor: every version that was frozen, on the runs that were judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.monitor.blind import blind_rates
from failbench.studies.monitor.counts import (
    OTHER_ARCHITECTURES,
    decisive_table,
    delay_table,
    false_alarm_table,
)
from failbench.studies.monitor.figure import monitor_picture
from failbench.studies.monitor.finding import finding
from failbench.studies.monitor.judged import Judged
from failbench.studies.monitor.rates import method_table
from failbench.studies.monitor.results import rate_table
from failbench.studies.monitor.settings import JudgedRuns
from failbench.studies.monitor.shown import Shown, halves_in_words
from failbench.studies.monitor.tables import method_rates_table, monitor_tables


def report(
    versions: Sequence[Judged],
    predictions: pl.DataFrame,
    forest: pl.DataFrame,
    history: pl.DataFrame,
    cost: pl.DataFrame,
    reference: str,
    runs: JudgedRuns,
    settings: ScenarioIntervalSettings,
) -> StudyReport:
    """How often each version is right, by what, when, and how often it cries wolf."""
    rates = pl.concat(
        rate_table(judged, runs.steps_ahead, runs.lenders, reference, settings)
        for judged in versions
    )
    shown = Shown(
        rates=rates,
        decisive=pl.concat(decisive_table(judged) for judged in versions),
        delays=pl.concat(delay_table(judged) for judged in versions),
        alarms=pl.concat(
            false_alarm_table(judged, runs.lenders, reference, settings.confidence)
            for judged in versions
        ),
        cost=cost,
        blind=blind_rates(versions, forest, reference, settings),
        versions=runs.versions,
        halves=halves_in_words(runs.halves),
        reference=reference,
        lenders=runs.lenders,
        confidence=settings.confidence,
    )
    points = rounded(rates)
    methods = method_table(predictions, runs.contrasts, settings)
    metrics: dict[str, Any] = nest(rates, "version", "setting", "part", "name", "metric")
    alarms = nest(shown.alarms, "version", "setting", "kind", "bounds")
    delays = nest(
        shown.delays,
        "version",
        "setting",
        leaves=("median", "low", "high", "before", "never", "runs"),
    )
    for version, of_settings in metrics.items():
        for setting, parts in of_settings.items():
            parts["first_break"] = delays[version][setting]
            parts["false_alarms"] = alarms.get(version, {}).get(setting, {})
            if not parts["false_alarms"]:
                del parts["false_alarms"]
    elsewhere = {
        version: of_version[OTHER_ARCHITECTURES]
        for version, of_version in alarms.items()
        if OTHER_ARCHITECTURES in of_version
    }
    whole = rates.filter(part="whole")
    return StudyReport(
        metrics={
            "versions": metrics,
            "methods": nest(methods, "method", "metric"),
            "blind": nest(estimate_rows(shown.blind), "metric") if shown.blind else {},
            "elsewhere": elsewhere,
        },
        points={
            "monitor": points,
            "monitor_decisive": shown.decisive,
            "monitor_methods": rounded(methods),
            "monitor_first_break": rounded(shown.delays),
            "monitor_false_alarms": rounded(shown.alarms),
        },
        tables=(
            *monitor_tables(shown, history),
            method_rates_table(methods, reference, shown.halves, settings.confidence),
        ),
        figures={
            "monitor": monitor_picture(shown, points),
        },
        sentences={"finding": finding(shown)},
        summary=(
            Summary.of(
                whole, "version", "setting", "metric", "value", "ci_low", "ci_high", "n", "runs"
            ),
            Summary.of(
                shown.alarms, "version", "setting", "kind", "bounds", "alarmed", "n", "ci_high"
            ),
        ),
    )
