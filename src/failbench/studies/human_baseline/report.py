"""The report of the human baseline: what a simulation of people says of the paper's figure."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.methods.simulated_human import SkillLevel
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.human_baseline.figure import human_baseline_picture
from failbench.studies.human_baseline.results import human_baseline, human_metrics
from failbench.studies.human_baseline.settings import HumanBaselineSettings
from failbench.studies.human_baseline.tables import human_tables, study_points


def report(
    levels: Mapping[str, SkillLevel],
    scenarios: pl.DataFrame,
    shares: pl.DataFrame,
    hybrid: pl.DataFrame,
    paper: Reported,
    settings: HumanBaselineSettings,
) -> StudyReport:
    """Simulate studies of people, and hold them against what the paper prints."""
    accuracy = reported_number(paper, "human_accuracy")
    deviation = reported_number(paper, "human_sd")
    baseline = human_baseline(levels, scenarios, shares, hybrid, settings, accuracy)
    points, curves = rounded(study_points(baseline)), rounded(baseline.curves)
    return StudyReport(
        metrics=human_metrics(baseline),
        points={"human_baseline": points, "human_skill": curves},
        tables=human_tables(baseline, settings, paper),
        figures={"human_baseline": human_baseline_picture(points, curves, (accuracy, deviation))},
        summary=(
            Summary.of(points, "coupling", "design", "n", "accuracy", "low", "high", "deviation"),
        ),
    )
