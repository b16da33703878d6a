"""Agreement: of two answers, ratings or orderings of the same scenarios, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_kappa_of

from failbench.base.arrays import Array
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

    def statistic(weights: Array) -> Array:
        return kappa_of_counts(np.tensordot(weights, occurs, axes=1).astype(np.float64))

    value = float(cohen_kappa_score(given["left"], given["right"]))
    value = 1.0 if np.isnan(value) else value
    return _over_scenarios(ordered, value, statistic, settings, f"Cohen's kappa of {what}")


def fleiss_kappa(table: pl.DataFrame, left: str, right: str) -> float:
    """Fleiss' kappa of two columns of answers, which is what the paper reports.

    Fleiss (1971), "Measuring nominal scale agreement among many raters": chance agreement is that
    of the answers of both together, where Cohen's keeps the two apart.
    """
    counts, _ = aggregate_raters(table.select(left, right).to_numpy())
    return float(fleiss_kappa_of(counts))


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
    value = float(stats.kendalltau(lefts, rights).statistic)
    value = 0.0 if np.isnan(value) else value
    tau = partial(weighted_tau, lefts, rights)
    return _over_scenarios(ordered, value, tau, settings, f"Kendall's tau-b of {what}")


def _over_scenarios(
    ordered: pl.DataFrame,
    value: float,
    statistic: Callable[[Array], Array],
    settings: BootstrapSettings,
    estimand: str,
) -> Interval:
    """A figure of scenarios, in the order of categories, from how often each is drawn."""
    sizes = ordered.group_by("category", maintain_order=True).len()["len"].to_list()

    def of_weights(weights: Weights) -> Array:
        return statistic(np.concatenate(weights, axis=-1))[None]

    low, high, method = resample(single_seeds(sizes), of_weights, settings).number(0, value)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=ordered.height,
        method=method,
        resampling_unit="scenario",
        estimand=estimand,
    )
