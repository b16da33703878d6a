"""Study differences: one method in two studies that predict the same scenarios."""

from __future__ import annotations

import polars as pl

from failbench.statistics.bootstrap import BootstrapSettings, Interval
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import paired_scores


def study_difference(
    predictions: pl.DataFrame, left: str, right: str, settings: BootstrapSettings, estimand: str
) -> Interval:
    """Accuracy of a method in one study less its accuracy in another, paired over their runs.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one method and feature set. Of the two studies
        the runs are taken that both predict; how these were split into folds may differ.
    left, right
        Names of the studies; the difference is the first less the second.
    settings
        Resamples and confidence of the BCa interval; where all resamples agree it is a point.
    estimand
        What the difference estimates, in words.
    """
    runs = [set(predictions.filter(pl.col("study") == study)["run_id"]) for study in (left, right)]
    shared = predictions.filter(
        pl.col("study").is_in([left, right]), pl.col("run_id").is_in(list(runs[0] & runs[1]))
    )
    scores = paired_scores(shared.with_columns(method="study", repeat=pl.lit(0), fold=pl.lit(0)))
    left_accuracy, right_accuracy = (
        float(scores.scenario_scores(study).mean()) for study in (left, right)
    )
    difference = left_accuracy - right_accuracy
    (bounds,) = difference_bounds(
        scores, [(left, right)], settings.resamples, settings.confidence, settings.seed
    )
    low, high = (difference, difference) if bounds is None else bounds
    return Interval(
        value=difference,
        ci_low=low,
        ci_high=high,
        n=scores.n,
        method="point" if bounds is None else "BCa bootstrap",
        resampling_unit=scores.unit,
        estimand=estimand,
    )
