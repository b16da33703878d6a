"""Report of importance: which signals two classifiers rest on, and the shapes of one of them."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.importance.figure import importance_picture, shapes_picture
from failbench.studies.importance.measure import IMPORTANCE_SETS, Importances
from failbench.studies.importance.removal import removal
from failbench.studies.importance.results import (
    ImportanceSettings,
    importance_metrics,
    importance_table,
    leading_share,
    source_agreement,
)
from failbench.studies.importance.tables import importance_tables, known_table


def report(
    measured: Importances,
    shapes: pl.DataFrame,
    ablation: pl.DataFrame,
    paper: Reported,
    settings: ImportanceSettings,
) -> StudyReport:
    """Drops in accuracy, built-in importances, how far both sources agree, and leading terms."""
    table = importance_table(measured, settings)
    agreement = source_agreement(measured)
    leading = {
        feature_set: leading_share(measured.built_in, feature_set, "random_forest")
        for feature_set in IMPORTANCE_SETS
    }
    return StudyReport(
        metrics=importance_metrics(table, agreement, leading),
        points={
            "importance": rounded(table),
            # ends of bins are in the units of features, and some are below a rate's last decimal
            "ebm_shapes": rounded(shapes, "low", "high"),
        },
        tables=(
            *importance_tables(table, agreement, leading, removal(ablation), paper, settings),
            *known_table(table, settings),
        ),
        figures={
            "importance": importance_picture(table, paper),
            "ebm_shapes": shapes_picture(shapes),
        },
        summary=(
            Summary.of(
                table.filter(pl.col("kind") == "group"),
                *("feature_set", "method", "name", "value", "ci_low", "ci_high"),
                *("share", "own", "n"),
            ),
        ),
    )
