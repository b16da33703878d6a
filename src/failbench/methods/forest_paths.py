"""The tests that the trees of a forest make on the paths to their votes.

A reader who wants to verify a vote must follow every tree, so the conditions are all tests on the
paths through all trees, none merged (Freitas, 2014, "Comprehensible classification models", counts
the conditions on the path of a tree). These are hundreds; the evidence names the tests that the
answer's trees make most often.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.base.arrays import Array, Labels
from failbench.base.verdicts import Evidence
from failbench.methods.tuned_classifier import Explanation

SHOWN_TESTS = 10
"""Number of tests in the evidence of a forest."""

RUNS_PER_BATCH = 1000
"""Runs whose paths are in memory at once: some tens of megabytes with a hundred trees."""


def explain_forest(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Explanation]:
    """The ten most frequent tests for each answer, and the number of tests on all paths.

    A test is a feature and a side. Each occurrence on a run's path is weighted by the probability
    that the tree gives to the answer, so a tree that votes against the answer adds nothing. A test
    is shown with the median of its thresholds, on the same side of which the value lies; a missing
    value is shown as imputed. Runs are processed in batches, so that memory does not grow with
    their number.
    """
    columns = pipeline[:-1].get_feature_names_out()
    values = np.asarray(pipeline[:-1].transform(X), dtype=np.float64)
    forest = pipeline[-1]
    trees = [tree.tree_ for tree in forest.estimators_]
    features = np.concatenate([tree.feature for tree in trees])
    thresholds = np.concatenate([tree.threshold for tree in trees])
    tree_of_node = np.repeat(np.arange(len(trees)), [tree.node_count for tree in trees])
    explanations: list[Explanation] = []
    for start in range(0, len(values), RUNS_PER_BATCH):
        batch = values[start : start + RUNS_PER_BATCH]
        paths, _ = forest.decision_path(batch)
        votes = _votes(forest, batch, answers[start : start + RUNS_PER_BATCH])
        for run, row in enumerate(batch):
            nodes = paths.indices[paths.indptr[run] : paths.indptr[run + 1]]
            tests = nodes[features[nodes] >= 0]  # a leaf tests nothing
            # scikit-learn's trees compare in single precision.
            above = row[features[tests]].astype(np.float32) > thresholds[tests]
            evidence = _most_frequent(
                columns,
                row,
                features[tests],
                above,
                thresholds[tests],
                votes[run, tree_of_node[tests]],
            )
            explanations.append((evidence, len(tests)))
    return explanations


def _votes(forest: Any, values: Array, answers: Labels) -> Array:
    """Probability of the answer of each run by each tree: ``[n_runs, n_trees]``."""
    positions = np.searchsorted(forest.classes_, answers.astype(str))
    by_tree = [tree.predict_proba(values)[np.arange(len(values)), positions] for tree in forest]
    return np.column_stack(by_tree)


def _most_frequent(
    columns: npt.NDArray[np.object_],
    row: Array,
    features: npt.NDArray[np.intp],
    above: npt.NDArray[np.bool_],
    thresholds: Array,
    weights: Array,
) -> tuple[Evidence, ...]:
    """The tests of one run with the largest sums of weights, largest first."""
    keys = 2 * features + above
    sums = np.bincount(keys, weights, minlength=1)
    leading = [key for key in np.argsort(-sums, kind="stable")[:SHOWN_TESTS] if sums[key] > 0]
    return tuple(
        Evidence(
            str(columns[key // 2]),
            float(row[key // 2]),
            "above" if key % 2 else "below",
            float(np.median(thresholds[(keys == key) & (weights > 0)])),
        )
        for key in leading
    )
