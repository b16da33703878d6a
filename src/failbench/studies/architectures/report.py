"""The report of the architectures: the improved rules on each, and methods that never saw it."""

from __future__ import annotations

import polars as pl

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.architectures.figure import architectures_picture
from failbench.studies.architectures.results import (
    ArchitecturesSettings,
    architecture_metrics,
    architecture_rates,
    with_main_study,
)
from failbench.studies.architectures.sizes import with_sizes
from failbench.studies.architectures.stability_tables import left_out_table, stability_table
from failbench.studies.architectures.tables import architectures_table, thresholds_table


def report(
    rules: pl.DataFrame,
    predictions: pl.DataFrame,
    features: pl.DataFrame,
    paper: Reported,
    settings: ArchitecturesSettings,
    rules_settings: ImprovedRulesSettings,
    intervals: ScenarioIntervalSettings,
    workers: int = 1,
) -> StudyReport:
    """Rates on every architecture, and whether they are the same on all of them."""
    rates = architecture_rates(rules, predictions, intervals, settings, workers)
    table = with_sizes(with_main_study(rates, predictions, intervals), features, rules)
    repeats = dict(predictions.group_by("study").agg(pl.col("repeat").n_unique()).iter_rows())
    points, confidence = rounded(table), intervals.confidence
    spreads = table.filter(pl.col("metric") == "spread")
    return StudyReport(
        metrics=architecture_metrics(table),
        points={"architectures": points},
        tables=(
            architectures_table(table, paper, settings, confidence=confidence),
            thresholds_table(table, paper, settings, rules_settings, confidence=confidence),
            stability_table(table, settings, rules_settings, confidence=confidence),
            left_out_table(table, paper, repeats, confidence=confidence),
        ),
        figures={"architectures": architectures_picture(points, paper, settings)},
        summary=(
            Summary.of(spreads, "method", "thresholds", "noise", "value", "smallest_margin", "n"),
        ),
    )
