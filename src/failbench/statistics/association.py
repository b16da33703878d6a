"""Association: how strongly one category depends on another, and whether chance would do."""

from __future__ import annotations

import numpy as np

from failbench.base.arrays import Array, Labels


def cramers_v(tables: Array) -> Array:
    """Cramer's V (1946, "Mathematical methods of statistics", chapter 21) of shares."""
    total = tables.sum(axis=(-2, -1), keepdims=True)
    rows, columns = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    expected = np.divide(rows * columns, total, out=np.zeros_like(tables), where=total > 0)
    parts = np.divide(
        (tables - expected) ** 2, expected, out=np.zeros_like(tables), where=expected > 0
    )
    least = np.minimum((rows > 0).sum(axis=(-2, -1)), (columns > 0).sum(axis=(-2, -1))) - 1
    whole = total[..., 0, 0] * least
    share = np.divide(parts.sum(axis=(-2, -1)), whole, out=np.zeros_like(whole), where=whole > 0)
    v: Array = np.sqrt(share)
    return v


def permutation_test(
    shares: Array, groups: Labels, permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Test whether shares of kinds depend on groups, by permuting the groups of whole scenarios.

    The Monte Carlo test counts the observed order among the permutations (Phipson and Smyth, 2010,
    "Permutation p-values should never be zero").

    Returns
    -------
    tuple
        The probability of the observed V or a larger one, and the mean V, under permutation.
    """
    members = (groups[None, :] == np.unique(groups)[:, None]).astype(np.float64)
    observed = float(cramers_v(members @ shares).round(12))
    drawn = np.array(
        [cramers_v(members @ shares[rng.permutation(len(shares))]) for _ in range(permutations)]
    ).round(12)
    above = int((drawn >= observed).sum())
    return (1 + above) / (1 + permutations), float(drawn.mean())
