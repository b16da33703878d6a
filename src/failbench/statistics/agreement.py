"""Agreement of answers, ratings or orderings of the same scenarios, and what depends on what."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_kappa_of

from failbench.base.arrays import Array, Labels
from failbench.statistics.bootstrap import (
    BootstrapSettings,
    Interval,
    resampled_interval,
    single_seeds,
)
from failbench.statistics.scenario_values import quotient


def kappa_of_counts(counts: Array) -> Array:
    """Cohen's kappa (1960) of many tables at once; the same as scikit-learn's."""
    total = counts.sum(axis=(-2, -1))
    alike = np.trace(counts, axis1=-2, axis2=-1) * total
    by_chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1)
    beyond = total**2 - by_chance
    return quotient(alike - by_chance, beyond, otherwise=1.0)


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

    return _over_scenarios(ordered, statistic, settings, f"Cohen's kappa of {what}")


def fleiss_kappa(table: pl.DataFrame, left: str, right: str) -> float:
    """Fleiss' kappa (1971), which the paper reports: chance is that of both columns together."""
    counts, _ = aggregate_raters(table.select(left, right).to_numpy())
    return float(fleiss_kappa_of(counts))


def weighted_kappa(counts: Array) -> Array:
    """Kappa weighted by squared distance (Cohen, 1968), as scikit-learn's quadratic one."""
    levels = np.arange(counts.shape[-1])
    penalty = (levels[:, None] - levels[None, :]) ** 2
    total = counts.sum(axis=(-2, -1))
    expected = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    seen = (penalty * counts).sum(axis=(-2, -1)) * total
    by_chance = (penalty * expected).sum(axis=(-2, -1))
    return 1 - quotient(seen, by_chance, otherwise=1.0)


def weighted_tau(left: Array, right: Array, weights: Array) -> Array:
    """Kendall's tau-b (1945) of two scores, each scenario repeated by a whole weight."""
    lefts, rights = (np.sign(score[:, None] - score[None, :]) for score in (left, right))

    def pairs(matrix: Array) -> Array:
        return np.asarray(np.einsum("...i,...i->...", weights @ matrix, weights))

    concordant = pairs(lefts * rights)
    untied = np.sqrt(pairs(lefts**2) * pairs(rights**2))
    return quotient(concordant, untied)


def rank_agreement(
    scenarios: pl.DataFrame, left: pl.Expr, right: pl.Expr, settings: BootstrapSettings, what: str
) -> Interval:
    """Kendall's tau-b between two scores of scenarios, with its interval."""
    ordered = scenarios.sort("category", "scenario")
    scores = ordered.select(left.alias("left"), right.alias("right")).cast(pl.Float64)
    lefts, rights = scores["left"].to_numpy(), scores["right"].to_numpy()
    tau = partial(weighted_tau, lefts, rights)
    return _over_scenarios(ordered, tau, settings, f"Kendall's tau-b of {what}")


def _over_scenarios(
    ordered: pl.DataFrame,
    statistic: Callable[[Array], Array],
    settings: BootstrapSettings,
    estimand: str,
) -> Interval:
    sizes = ordered.group_by("category", maintain_order=True).len()["len"].to_list()
    return resampled_interval(
        single_seeds(sizes),
        lambda weights: statistic(np.concatenate(weights, axis=-1)),
        settings,
        estimand,
    )


def cramers_v(tables: Array) -> Array:
    """Cramer's V (1946, "Mathematical methods of statistics", chapter 21) of shares."""
    total = tables.sum(axis=(-2, -1), keepdims=True)
    rows, columns = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    expected = quotient(rows * columns, total)
    parts = quotient((tables - expected) ** 2, expected)
    least = np.minimum((rows > 0).sum(axis=(-2, -1)), (columns > 0).sum(axis=(-2, -1))) - 1
    whole = total[..., 0, 0] * least
    v: Array = np.sqrt(quotient(parts.sum(axis=(-2, -1)), whole))
    return v


def permutation_test(
    shares: Array, groups: Labels, permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """P of Cramér's V or more, and its mean, when groups of whole scenarios are permuted."""
    # The observed order counts among the permutations (Phipson and Smyth, 2010).
    members = (groups[None, :] == np.unique(groups)[:, None]).astype(np.float64)
    observed = float(cramers_v(members @ shares).round(12))
    drawn = np.array(
        [cramers_v(members @ shares[rng.permutation(len(shares))]) for _ in range(permutations)]
    ).round(12)
    above = int((drawn >= observed).sum())
    return (1 + above) / (1 + permutations), float(drawn.mean())
