"""Paths of a fitted decision tree as conditions that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree

from failbench.base.verdicts import Evidence, Side

NO_CHILD = -1
"""scikit-learn's mark of a leaf in ``children_left``."""


@dataclass(frozen=True)
class PathCondition:
    """One side of a split: the column is above the threshold, or at most equal to it."""

    column: int
    side: Side
    threshold: float


PathConditions = tuple[PathCondition, ...]


def leaf_conditions(tree: BaseDecisionTree) -> dict[int, PathConditions]:
    """The merged conditions on the path to each leaf, by node number.

    Of several tests of one column on one side only the tightest is kept, at the position of the
    first: it implies the others. The leaves are in the order of the tree, left before right.
    """
    nodes = tree.tree_
    leaves: dict[int, PathConditions] = {}
    pending: list[tuple[int, PathConditions]] = [(0, ())]
    while pending:
        node, path = pending.pop()
        if nodes.children_left[node] == NO_CHILD:
            leaves[node] = path
            continue
        column, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        below, above = (
            PathCondition(column, "below", threshold),
            PathCondition(column, "above", threshold),
        )
        # the left child is popped first
        pending.append((int(nodes.children_right[node]), _tightened(path, above)))
        pending.append((int(nodes.children_left[node]), _tightened(path, below)))
    return leaves


def tree_paths(
    tree: BaseDecisionTree, features: Sequence[str], matrix: npt.NDArray[np.float64]
) -> list[tuple[Evidence, ...]]:
    """The merged conditions on the path of each run through a fitted tree, root first."""
    paths = leaf_conditions(tree)
    return [
        tuple(
            Evidence(
                features[condition.column],
                float(values[condition.column]),
                condition.side,
                condition.threshold,
            )
            for condition in paths[int(leaf)]
        )
        for values, leaf in zip(matrix, tree.apply(matrix), strict=True)
    ]


@dataclass(frozen=True)
class ExplainTree:
    """Explains the answers of a pipeline of imputation (``impute``) and one tree (``classify``).

    A reader checks only the merged conditions on the path to the leaf.
    """

    features: tuple[str, ...]

    def __call__(
        self,
        pipeline: Pipeline,
        X: pd.DataFrame,
        answers: npt.NDArray[Any],  # noqa: ARG002
    ) -> list[tuple[tuple[Evidence, ...], int]]:
        """Evidence and number of conditions per run."""
        matrix = np.asarray(pipeline["impute"].transform(X), dtype=np.float64)
        paths = tree_paths(pipeline["classify"], self.features, matrix)
        return [(evidence, len(evidence)) for evidence in paths]


def _tightened(path: PathConditions, deeper: PathCondition) -> PathConditions:
    # on one path a deeper test of the same column and side is always tighter
    key = (deeper.column, deeper.side)
    if key not in {(condition.column, condition.side) for condition in path}:
        return (*path, deeper)
    return tuple(
        deeper if (condition.column, condition.side) == key else condition for condition in path
    )
