"""What a fitted decision tree tested on the way to a leaf, as conditions that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree

from failbench.methods.rules import Side
from failbench.verdicts import Evidence

NO_CHILD = -1
"""scikit-learn's mark of a leaf in ``children_left``."""


@dataclass(frozen=True)
class Bound:
    """One side of a split: the column lies above the threshold, or at it or below."""

    column: int
    side: Side
    threshold: float


Bounds = tuple[Bound, ...]


def leaf_bounds(tree: BaseDecisionTree) -> dict[int, Bounds]:
    """The merged conditions on the way to each leaf, by the number of its node.

    Of several tests of one column on one side the tightest stays, at the place of the first: the
    others follow from it. The leaves are in the order of the tree, left before right.
    """
    nodes = tree.tree_
    found: dict[int, Bounds] = {}
    waiting: list[tuple[int, Bounds]] = [(0, ())]
    while waiting:
        node, bounds = waiting.pop()
        if nodes.children_left[node] == NO_CHILD:
            found[node] = bounds
            continue
        column, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        below, above = Bound(column, "below", threshold), Bound(column, "above", threshold)
        # the left side is taken off the end of the list first
        waiting.append((int(nodes.children_right[node]), _tightened(bounds, above)))
        waiting.append((int(nodes.children_left[node]), _tightened(bounds, below)))
    return found


def tree_paths(
    tree: BaseDecisionTree, features: Sequence[str], matrix: npt.NDArray[np.float64]
) -> list[tuple[Evidence, ...]]:
    """Of each run, the merged conditions on its path through a fitted tree, root first.

    Parameters
    ----------
    tree
        A fitted decision tree; of a forest, one of its ``estimators_``.
    features
        Names of the columns that the tree was fitted on.
    matrix
        The runs as the tree receives them, nothing missing: ``[n_runs, n_features]``.

    Returns
    -------
    list
        One tuple of evidence a run; empty for a tree that is a single leaf. ``below`` includes the
        threshold itself, as scikit-learn's splits do.
    """
    bounds = leaf_bounds(tree)
    return [
        tuple(
            Evidence(features[one.column], float(values[one.column]), one.side, one.threshold)
            for one in bounds[int(leaf)]
        )
        for values, leaf in zip(matrix, tree.apply(matrix), strict=True)
    ]


@dataclass(frozen=True)
class ExplainTree:
    """Explains the answers of a pipeline of imputation (``impute``) and one tree (``classify``).

    A reader checks the merged conditions on the path to the leaf, and nothing else.

    Attributes
    ----------
    features
        Names of the columns that the imputation gives to the tree.
    """

    features: tuple[str, ...]

    def __call__(
        self,
        pipeline: Pipeline,
        X: pd.DataFrame,
        answers: npt.NDArray[Any],  # noqa: ARG002
    ) -> list[tuple[tuple[Evidence, ...], int]]:
        """Evidence and number of conditions, run by run."""
        matrix = np.asarray(pipeline["impute"].transform(X), dtype=np.float64)
        paths = tree_paths(pipeline["classify"], self.features, matrix)
        return [(evidence, len(evidence)) for evidence in paths]


def _tightened(bounds: Bounds, deeper: Bound) -> Bounds:
    # on one path a deeper test of the same column and side is always the tighter one
    where = (deeper.column, deeper.side)
    if where not in {(one.column, one.side) for one in bounds}:
        return (*bounds, deeper)
    return tuple(deeper if (one.column, one.side) == where else one for one in bounds)
