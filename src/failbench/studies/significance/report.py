"""The report of significance: the named contrasts, tested but for those that are in-sample."""

from __future__ import annotations

from itertools import chain

import polars as pl

from failbench.reporting.labels import made_in_view
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.comparison import (
    Comparison,
    Difference,
    comparisons_table,
    contrasts_of,
    difference_metrics,
)
from failbench.statistics.paired_scores import Pair
from failbench.statistics.significance import SignificanceSettings, compare_all
from failbench.studies.significance.figure import contrasts_picture
from failbench.studies.significance.sentences import contrast_sentences
from failbench.studies.significance.tables import contrasts_table


def report(predictions: pl.DataFrame, settings: SignificanceSettings) -> StudyReport:
    """Compare the contrasts on all feature sets; the metrics are of the primary set."""
    in_view = tuple(pair for pair in settings.contrasts if any(map(made_in_view, pair)))
    held_out = tuple(pair for pair in settings.contrasts if pair not in in_view)
    tested = _compared(predictions, settings, held_out)
    development = [each.untested for each in _compared(predictions, settings, in_view)]
    contrasts: list[Difference] = [*tested, *development]
    columns = ("feature_set", "left", "right", "difference", "p", "p_holm", "p_rope", "n")
    return StudyReport(
        metrics={
            name: difference_metrics(
                each for each in of_kind if each.feature_set == settings.feature_set
            )
            for name, of_kind in (("contrasts", tested), ("development", development))
        },
        points={"significance": rounded(comparisons_table(contrasts))},
        tables=(contrasts_table(contrasts, settings, predictions["repeat"].n_unique()),),
        sentences={"contrast_sentences": contrast_sentences(contrasts, settings)},
        figures={"significance": contrasts_picture(contrasts, settings)},
        summary=(Summary.of(comparisons_table(contrasts), *columns),),
    )


def _compared(
    predictions: pl.DataFrame, settings: SignificanceSettings, pairs: tuple[Pair, ...]
) -> list[Comparison]:
    """Pairs on the primary feature set and then on the others; Holm's adjustment is over them."""
    if not pairs:
        return []
    of_pairs = predictions.filter(pl.col("method").is_in(set(chain(*pairs))))
    others = sorted(set(predictions["feature_set"]) - {settings.feature_set})
    return [
        contrast
        for name in (settings.feature_set, *others)
        for contrast in contrasts_of(
            compare_all(
                of_pairs, settings.model_copy(update={"feature_set": name, "contrasts": pairs})
            )
        )
    ]
