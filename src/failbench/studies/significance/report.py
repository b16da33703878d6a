"""The report of significance: every pair of methods compared, and the named contrasts tested."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.comparison import (
    comparison_metrics,
    comparisons_table,
    contrasts_of,
)
from failbench.statistics.significance import SignificanceSettings, compare_all
from failbench.studies.significance.figure import contrasts_picture, difference_map_picture
from failbench.studies.significance.sentences import contrast_sentences
from failbench.studies.significance.tables import contrasts_table


def report(predictions: pl.DataFrame, settings: SignificanceSettings) -> StudyReport:
    """Compare all methods on all feature sets; the map and the metrics are of the primary set.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one study.
    settings
        The section ``significance`` of params.yaml.

    Raises
    ------
    BadInputError
        If a contrast names a method that was not predicted, or a method has no label.
    """
    comparisons = compare_all(predictions, settings)
    primary = [pair for pair in comparisons if pair.feature_set == settings.feature_set]
    others = [
        contrast
        for name in sorted(set(predictions["feature_set"]) - {settings.feature_set})
        for contrast in contrasts_of(
            compare_all(
                predictions.filter(pl.col("feature_set") == name),
                settings.model_copy(update={"feature_set": name}),
            )
        )
    ]
    contrasts = [*contrasts_of(comparisons), *others]
    columns = ("feature_set", "left", "right", "difference", "p", "p_holm", "p_rope", "n")
    return StudyReport(
        metrics=comparison_metrics(comparisons, settings.alpha),
        points={"significance": rounded(comparisons_table(comparisons))},
        tables=(contrasts_table(contrasts, settings, predictions["repeat"].n_unique()),),
        sentences={"contrast_sentences": contrast_sentences(contrasts, settings)},
        figures={
            "significance": contrasts_picture(contrasts, settings),
            "significance_map": difference_map_picture(primary),
        },
        summary=(Summary.of(comparisons_table(contrasts), *columns),),
    )
