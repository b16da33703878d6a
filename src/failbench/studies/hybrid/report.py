"""The report of hybrids: what each route is worth, and which thresholds are cheapest."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.methods.hybrid import HybridSettings
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.hybrid.figure import hybrids_picture
from failbench.studies.hybrid.results import RoutingSettings, hybrid_metrics, study_hybrids
from failbench.studies.hybrid.tables import routes_table, thresholds_table
from failbench.vocabulary import Route


def report(
    hybrids: Mapping[str, pl.DataFrame],
    rules: pl.DataFrame,
    members: Mapping[Route, pl.DataFrame],
    paper: Reported,
    thresholds: HybridSettings,
    costs: UnitCosts,
    settings: RoutingSettings,
    intervals: ScenarioIntervalSettings,
) -> StudyReport:
    """Say what each route is worth, beside the paper, and search for the cheapest thresholds."""
    study = study_hybrids(hybrids, rules, members, thresholds, costs, settings, intervals)
    confidence = intervals.confidence
    estimate = ("metric", "value", "ci_low", "ci_high", "n")
    return StudyReport(
        metrics=hybrid_metrics(study),
        points={"hybrid": rounded(study.routes)},
        tables=(
            routes_table(study.routes, paper, costs, confidence=confidence),
            thresholds_table(study.thresholds, thresholds, settings.halves, confidence=confidence),
        ),
        figures={"hybrid": hybrids_picture(study.routes, paper)},
        summary=(
            Summary.of(study.routes, "hybrid", "route", *estimate),
            Summary.of(study.thresholds, "human_cost", "wrong_answer_cost", *estimate),
        ),
    )
