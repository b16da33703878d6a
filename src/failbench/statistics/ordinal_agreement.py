"""Ordinal agreement: how far two orderings of the same scenarios go together, with intervals."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import stats

from failbench.arrays import Array
from failbench.statistics.bootstrap import BootstrapSettings, Interval, resample
from failbench.statistics.row_weights import Weights, single_seeds


def weighted_kappa(counts: Array) -> Array:
    """Kappa of two ratings on one ordinal scale, weighted by squared distance.

    Cohen (1968), "Weighted kappa: nominal scale agreement with provision for scaled disagreement";
    with these weights it is an intraclass correlation (Fleiss and Cohen, 1973). The same as
    ``sklearn.metrics.cohen_kappa_score(weights="quadratic")``, vectorised.
    """
    levels = np.arange(counts.shape[-1])
    penalty = (levels[:, None] - levels[None, :]) ** 2
    total = counts.sum(axis=(-2, -1))
    expected = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    seen = (penalty * counts).sum(axis=(-2, -1)) * total
    by_chance = (penalty * expected).sum(axis=(-2, -1))
    share = np.divide(seen, by_chance, out=np.ones_like(seen), where=by_chance > 0)
    return np.asarray(1 - share, dtype=np.float64)


def weighted_tau(left: Array, right: Array, weights: Array) -> Array:
    """Kendall's tau-b (Kendall, 1945) of two scores, each scenario counting by a whole weight.

    The same as ``scipy.stats.kendalltau`` of scores that are repeated by their weights.
    """
    lefts, rights = (np.sign(score[:, None] - score[None, :]) for score in (left, right))

    def pairs(matrix: Array) -> Array:
        return np.asarray(np.einsum("...i,...i->...", weights @ matrix, weights))

    concordant = pairs(lefts * rights)
    untied = np.sqrt(pairs(lefts**2) * pairs(rights**2))
    share = np.divide(concordant, untied, out=np.zeros_like(concordant), where=untied > 0)
    return np.asarray(share, dtype=np.float64)


def rank_agreement(
    scenarios: pl.DataFrame, left: pl.Expr, right: pl.Expr, settings: BootstrapSettings, what: str
) -> Interval:
    """Kendall's tau-b between two scores of scenarios, with its interval."""
    ordered = scenarios.sort("category", "scenario")
    scores = ordered.select(left.alias("left"), right.alias("right")).cast(pl.Float64)
    lefts, rights = scores["left"].to_numpy(), scores["right"].to_numpy()
    sizes = ordered.group_by("category", maintain_order=True).len()["len"].to_list()

    def statistic(weights: Weights) -> Array:
        return weighted_tau(lefts, rights, np.concatenate(weights, axis=-1))[None]

    value = float(stats.kendalltau(lefts, rights).statistic)
    value = 0.0 if np.isnan(value) else value
    low, high, method = resample(single_seeds(sizes), statistic, settings).number(0, value)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=ordered.height,
        method=method,
        resampling_unit="scenario",
        estimand=f"Kendall's tau-b of {what}",
    )
