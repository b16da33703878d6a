"""The report of difficulty: what was measured of each scenario against what was declared."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import estimate_rows, nest
from failbench.studies.difficulty.figure import difficulty_picture
from failbench.studies.difficulty.measure import Difficulty
from failbench.studies.difficulty.results import DifficultySettings, difficulty_estimates
from failbench.studies.difficulty.tables import difficulty_points, difficulty_tables


def report(
    difficulty: Difficulty, paper: Reported, settings: DifficultySettings, reference: str
) -> StudyReport:
    """Agreement of declared and measured difficulty, and the hardest scenarios."""
    estimates = difficulty_estimates(difficulty, settings, reference)
    table = pl.concat(
        estimate_rows(intervals, group=group) for group, intervals in estimates.items()
    )
    points = rounded(difficulty_points(difficulty))
    hardest = difficulty.scenarios.head(settings.hardest)
    return StudyReport(
        metrics=nest(table, "group", "metric"),
        points={"difficulty": points},
        tables=difficulty_tables(difficulty, estimates, paper, settings),
        figures={"difficulty": difficulty_picture(points)},
        summary=(Summary.of(hardest, "scenario", "declared", "ease", "instead"),),
    )
