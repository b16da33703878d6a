"""Threshold choice: which pair of thresholds of a hybrid is cheapest, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from failbench.base.arrays import Array
from failbench.statistics.bootstrap import BATCH
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.routing import RoutedGrid, price
from failbench.statistics.row_weights import all_seeds, drawn_seeds

Prices = Sequence[tuple[UnitCosts, float]]
"""What answers cost, and what a wrong one costs besides."""
Range = tuple[float, float, float]
"""A value, and the lowest and highest of others."""


def cheapest_in_resamples(
    grid: RoutedGrid, prices: Prices, settings: ScenarioIntervalSettings
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
        paid = [price(shares, costs, wrong) for costs, wrong in prices]
        positions.append([cost.round(12).argmin(axis=-1) for cost in paid])
    return np.concatenate(positions, axis=-1)


def costs_of_halves(
    grid: RoutedGrid, prices: Prices, measured: int, halves: int, seed: int
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
    for costs, wrong in prices:
        promised, asked = (price(half, costs, wrong) for half in (choosing, paying))
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
) -> dict[str, Range]:
    """The cheapest thresholds with the range of those of resamples, and how many agree.

    ``best`` is the position of the pair on the grid, ``resampled`` those of one pair of prices as
    :func:`cheapest_in_resamples` finds them, ``[n_resamples]``.
    """
    tail, ranges = (1 - confidence) / 2, {}
    for name in ("classifier_from", "rules_from"):
        levels = getattr(grid, name)
        low, high = np.quantile(levels[resampled], (tail, 1 - tail), method="inverted_cdf")
        value = float(levels[best])
        ranges[name] = (value, min(float(low), value), max(float(high), value))
    share = float((resampled == best).mean())
    return {**ranges, "agreement": (share, share, share)}


def optimism(halved: Array, confidence: float) -> dict[str, Range]:
    """What half of the scenarios promise, and what the other half pays: means and ranges.

    ``halved`` are the costs of one pair of prices that :func:`costs_of_halves` finds,
    ``[3, n_halves]``.
    """
    promised, asked, measured = halved
    tail, ranges = (1 - confidence) / 2, {}
    costs = {
        "cost_own_half": promised,
        "cost_other_half": asked,
        "saving_other_half": measured - asked,
    }
    for name, paid in costs.items():
        low, high = np.quantile(paid, (tail, 1 - tail))
        ranges[name] = (float(paid.mean()), float(low), float(high))
    return ranges
