"""Kappa: agreement of two sorts of answers to the same scenarios beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_kappa_of

from failbench.arrays import Array
from failbench.statistics.bootstrap import BootstrapSettings, Interval, resample
from failbench.statistics.row_weights import Weights, single_seeds


def kappa_of_counts(counts: Array) -> Array:
    """Cohen's kappa of many tables of counts at once.

    Cohen (1960), "A coefficient of agreement for nominal scales"; the same as
    ``sklearn.metrics.cohen_kappa_score``, vectorised for resamples.
    """
    total = counts.sum(axis=(-2, -1))
    alike = np.trace(counts, axis1=-2, axis2=-1) * total
    by_chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1)
    beyond = total**2 - by_chance
    kappa = np.divide(alike - by_chance, beyond, out=np.ones_like(beyond), where=beyond > 0)
    return np.asarray(kappa, dtype=np.float64)


def kappa_interval(
    table: pl.DataFrame,
    left: pl.Expr,
    right: pl.Expr,
    answers: Sequence[str | bool],
    settings: BootstrapSettings,
    what: str,
) -> Interval:
    """Cohen's kappa of two answers to each scenario, with its interval."""
    ordered = table.sort("category", "scenario")
    given = ordered.select(left.alias("left"), right.alias("right"))
    codes = given.select(
        pl.all().replace_strict(list(answers), range(len(answers)), return_dtype=pl.Int64)
    ).to_numpy()
    occurs = np.zeros((ordered.height, len(answers), len(answers)))
    occurs[np.arange(ordered.height), codes[:, 0], codes[:, 1]] = 1
    sizes = ordered.group_by("category", maintain_order=True).len()["len"].to_list()

    def statistic(weights: Weights) -> Array:
        counts = np.tensordot(np.concatenate(weights, axis=-1), occurs, axes=1)
        return kappa_of_counts(counts.astype(np.float64))[None]

    value = float(cohen_kappa_score(given["left"], given["right"]))
    value = 1.0 if np.isnan(value) else value
    low, high, method = resample(single_seeds(sizes), statistic, settings).number(0, value)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=ordered.height,
        method=method,
        resampling_unit="scenario",
        estimand=f"Cohen's kappa of {what}",
    )


def fleiss_kappa(table: pl.DataFrame, left: str, right: str) -> float:
    """Fleiss' kappa of two columns of answers, which is what the paper reports.

    Fleiss (1971), "Measuring nominal scale agreement among many raters": chance agreement is that
    of the answers of both together, where Cohen's keeps the two apart.
    """
    counts, _ = aggregate_raters(table.select(left, right).to_numpy())
    return float(fleiss_kappa_of(counts))
