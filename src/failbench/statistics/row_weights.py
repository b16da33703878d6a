"""Row weights: how much each seed of each scenario counts in a sum over scenarios.

A scenario counts once however many seeds it was recorded with, and each of its seeds counts alike.
What is summed has a row per scenario and seed, sorted by scenario; where one row is all that a
scenario has, row weights are scenario weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array

Weights = Sequence[Array]
"""How much each row counts, by category: ``[..., n_rows]``."""
SeedCounts = npt.NDArray[np.intp]
"""Rows that each scenario of a category has, one for each seed: ``[n_scenarios]``."""
Seeds = tuple[SeedCounts, ...]
"""The rows of each scenario, by category."""


def seed_counts(rows: pl.DataFrame) -> SeedCounts:
    """Seeds of each scenario of a category, in the order of the scenarios' names.

    Parameters
    ----------
    rows
        Of one category, with ``scenario`` and ``seed``.
    """
    counts = rows.group_by("scenario").agg(pl.col("seed").n_unique()).sort("scenario")
    return counts["seed"].to_numpy().astype(np.intp)


def single_seeds(sizes: Iterable[int]) -> Seeds:
    """One row for each scenario; ``sizes`` are the scenarios of each category."""
    return tuple(np.ones(size, dtype=np.intp) for size in sizes)


def unit_of(seeds: Seeds) -> str:
    """What is resampled, in words: scenarios, and their seeds where there are several."""
    several = any((rows > 1).any() for rows in seeds)
    return "scenario, then seed" if several else "scenario"


def all_seeds(counts: Array, seeds: SeedCounts) -> Array:
    """Row weights of scenarios that count so often, with all their seeds.

    Parameters
    ----------
    counts
        How often each scenario counts, ``[..., n_scenarios]``.
    seeds
        Rows of each scenario.

    Returns
    -------
    numpy.ndarray
        ``[..., n_rows]``: the rows of a scenario share its count evenly.
    """
    return np.asarray(np.repeat(counts / seeds, seeds, axis=-1), dtype=np.float64)


def once(seeds: Seeds) -> Weights:
    """Row weights with which every scenario counts once."""
    return tuple(all_seeds(np.ones(len(counts)), counts) for counts in seeds)


def drawn_seeds(counts: Array, seeds: SeedCounts, rng: np.random.Generator) -> Array:
    """Row weights of drawn scenarios whose seeds are drawn, too.

    Each time that a scenario is drawn, as many of its seeds are drawn as it has, with replacement
    and independently of its other draws. Over ``k`` draws of a scenario with ``m`` seeds that makes
    ``k m`` draws among ``m`` seeds: their numbers are multinomial. Where every scenario has a
    single seed there is nothing to draw, and ``rng`` is left alone.

    Parameters
    ----------
    counts
        How often each scenario was drawn, whole numbers, ``[..., n_scenarios]``.
    seeds
        Rows of each scenario.
    rng
        Where the seeds are drawn from.

    Returns
    -------
    numpy.ndarray
        ``[..., n_rows]``: the weights of a scenario's rows add up to its count.
    """
    weights = all_seeds(counts, seeds)
    starts = np.cumsum(seeds) - seeds
    for number in np.unique(seeds[seeds > 1]):
        chosen = np.flatnonzero(seeds == number)
        draws = number * counts[..., chosen].astype(np.int64)
        rows = starts[chosen, None] + np.arange(number)
        weights[..., rows] = rng.multinomial(draws, np.full(number, 1 / number)) / number
    return weights
