"""Threshold choice: which pair of thresholds of a hybrid is cheapest, and how sure that is."""

from __future__ import annotations

from functools import partial

import numpy as np

from failbench.arrays import Array
from failbench.statistics.bootstrap import BATCH, Interval
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.row_weights import all_seeds, drawn_seeds
from failbench.studies.hybrid.routing import RoutedGrid, price


def cost_at(shares: Array, costs: UnitCosts, human: float, wrong: float) -> Array:
    """Cost of a diagnosis at given prices of a person's answer and of a wrong one.

    ``shares`` and what is returned have the axes of :func:`failbench.studies.hybrid.routing.price`.
    """
    return price(shares, costs.model_copy(update={"human": human}), wrong)


def cheapest_in_resamples(
    grid: RoutedGrid,
    costs: UnitCosts,
    prices: list[tuple[float, float]],
    settings: ScenarioIntervalSettings,
) -> Array:
    """Position of the cheapest pair in each resample of scenarios, ``[n_prices, n_resamples]``.

    Scenarios are drawn within categories, then their seeds; of pairs that cost the same the first
    is taken.
    """
    rng = np.random.default_rng(settings.seed)
    seed_rng = rng.spawn(1)[0]
    positions = []
    for start in range(0, settings.resamples, BATCH):
        drawn = min(BATCH, settings.resamples - start)
        weights = []
        for rows in grid.outcomes.seeds:
            counts = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), drawn)
            weights.append(drawn_seeds(counts.astype(np.float64), rows, seed_rng))
        shares = grid.shares(weights)
        paid = [cost_at(shares, costs, human, wrong) for human, wrong in prices]
        positions.append([cost.round(12).argmin(axis=-1) for cost in paid])
    return np.concatenate(positions, axis=-1)


def costs_of_halves(
    grid: RoutedGrid,
    costs: UnitCosts,
    prices: list[tuple[float, float]],
    measured: int,
    halves: int,
    seed: int,
) -> Array:
    """Costs over random halves, ``[n_prices, 3, n_halves]``.

    Of the pair that a half finds cheapest: on that half, and on the other; and of the pair of the
    main study on the other.
    """
    rng = np.random.default_rng([seed, 1])
    chosen = [random_half(rng, n, halves) for n in grid.sizes]
    halved = tuple(zip(chosen, grid.outcomes.seeds, strict=True))
    choosing = grid.shares([all_seeds(half, rows) for half, rows in halved])
    paying = grid.shares([all_seeds(1 - half, rows) for half, rows in halved])
    paid = []
    for human, wrong in prices:
        promised, asked = (cost_at(half, costs, human, wrong) for half in (choosing, paying))
        best = promised.round(12).argmin(axis=-1)[:, None]
        pick = partial(np.take_along_axis, indices=best, axis=-1)
        paid.append([pick(promised)[:, 0], pick(asked)[:, 0], asked[:, measured]])
    return np.array(paid)


def random_half(rng: np.random.Generator, n: int, halves: int) -> Array:
    """Which scenarios are in each half, ``[n_halves, n]``: of an odd one, one more or one less."""
    ranks = rng.random((halves, n)).argsort(axis=-1)
    size = n // 2 + (n % 2) * rng.integers(0, 2, (halves, 1))
    return (ranks < size).astype(np.float64)


def uncertainty(
    grid: RoutedGrid, best: int, resampled: Array, confidence: float
) -> dict[str, Interval]:
    """The cheapest thresholds with the range of those of resamples, and how many agree.

    ``best`` is the position of the pair on the grid, ``resampled`` those of one pair of prices as
    :func:`cheapest_in_resamples` finds them, ``[n_resamples]``.
    """
    tail = (1 - confidence) / 2
    n = sum(grid.sizes)
    estimates = {}
    for name in ("classifier_from", "rules_from"):
        levels = getattr(grid, name)
        low, high = np.quantile(levels[resampled], (tail, 1 - tail), method="inverted_cdf")
        estimates[name] = Interval(
            value=float(levels[best]),
            ci_low=min(float(low), float(levels[best])),
            ci_high=max(float(high), float(levels[best])),
            n=n,
            method="percentile bootstrap",
            resampling_unit="scenario",
            estimand="cheapest threshold, and what it is in resamples of the scenarios",
        )
    share = float((resampled == best).mean())
    estimates["agreement"] = _range(
        share,
        share,
        share,
        n,
        "scenario",
        "share of resamples in which the same pair of thresholds is cheapest",
    )
    return estimates


def optimism(halved: Array, n: int, confidence: float) -> dict[str, Interval]:
    """What half of the scenarios promise, and what the other half pays.

    ``halved`` are the costs of one pair of prices that :func:`costs_of_halves` finds,
    ``[3, n_halves]``; ``n`` scenarios were halved.
    """
    promised, asked, measured = halved
    tail = (1 - confidence) / 2
    costs_by_metric = {
        "cost_own_half": (promised, "on the half that chose the thresholds"),
        "cost_other_half": (asked, "on the half that did not choose the thresholds"),
        "saving_other_half": (
            measured - asked,
            "at the thresholds of the main study, less that at those that the other half chose",
        ),
    }
    estimates = {}
    for metric, (costs, words) in costs_by_metric.items():
        low, high = np.quantile(costs, (tail, 1 - tail))
        estimand = f"cost of a diagnosis {words}: mean and range over random halves"
        estimates[metric] = _range(
            float(costs.mean()), float(low), float(high), n, "half of the scenarios", estimand
        )
    return estimates


def _range(value: float, low: float, high: float, n: int, unit: str, estimand: str) -> Interval:
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=n,
        method="range",
        resampling_unit=unit,
        estimand=estimand,
    )
