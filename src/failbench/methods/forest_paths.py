"""What the trees of a forest tested on the way to their votes.

A reader who wants to verify a vote must follow every tree, so the conditions to read are all tests
on the paths through all trees, none merged (Freitas, 2014, "Comprehensible classification models",
counts the conditions on the path of a tree). Those are hundreds; the evidence names the tests that
the answer's trees made most often.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.arrays import Labels
from failbench.methods.tuned_classifier import Reading
from failbench.verdicts import Evidence

Floats = npt.NDArray[np.float64]

TESTS = 10
"""Tests that the evidence of a forest names."""

BATCH = 1000
"""Runs whose paths are held at once: some tens of megabytes with a hundred trees."""


def explain_forest(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Reading]:
    """The ten tests made most often for each answer, and the tests on all paths.

    A test is a feature and a side. Each time that a tree makes it on a run's path it counts with
    the probability that the tree gives to the answer, so a tree that votes against the answer adds
    nothing. A test is shown with the median of its thresholds, on the same side of which the value
    lies; a missing value is shown as what replaced it. Paths are followed a batch of runs at a
    time, so that memory does not grow with the runs.
    """
    columns = pipeline[:-1].get_feature_names_out()
    values = np.asarray(pipeline[:-1].transform(X), dtype=np.float64)
    forest = pipeline[-1]
    trees = [tree.tree_ for tree in forest.estimators_]
    features = np.concatenate([tree.feature for tree in trees])
    thresholds = np.concatenate([tree.threshold for tree in trees])
    owner = np.repeat(np.arange(len(trees)), [tree.node_count for tree in trees])
    readings: list[Reading] = []
    for start in range(0, len(values), BATCH):
        batch = values[start : start + BATCH]
        paths, _ = forest.decision_path(batch)
        votes = _votes(forest, batch, answers[start : start + BATCH])
        for run, row in enumerate(batch):
            nodes = paths.indices[paths.indptr[run] : paths.indptr[run + 1]]
            tests = nodes[features[nodes] >= 0]  # a leaf tests nothing
            # Trees compare in single precision.
            above = row[features[tests]].astype(np.float32) > thresholds[tests]
            evidence = _most_frequent(
                columns, row, features[tests], above, thresholds[tests], votes[run, owner[tests]]
            )
            readings.append((evidence, len(tests)))
    return readings


def _votes(forest: Any, values: Floats, answers: Labels) -> Floats:
    """Probability that each tree gives to the answer of each run: ``[n_runs, n_trees]``."""
    positions = np.searchsorted(forest.classes_, answers.astype(str))
    by_tree = [tree.predict_proba(values)[np.arange(len(values)), positions] for tree in forest]
    return np.column_stack(by_tree)


def _most_frequent(
    columns: npt.NDArray[np.object_],
    row: Floats,
    features: npt.NDArray[np.intp],
    above: npt.NDArray[np.bool_],
    thresholds: Floats,
    weights: Floats,
) -> tuple[Evidence, ...]:
    """The tests of one run with the largest sums of weights, largest first."""
    kinds = 2 * features + above
    sums = np.bincount(kinds, weights, minlength=1)
    leading = [kind for kind in np.argsort(-sums, kind="stable")[:TESTS] if sums[kind] > 0]
    return tuple(
        Evidence(
            str(columns[kind // 2]),
            float(row[kind // 2]),
            "above" if kind % 2 else "below",
            float(np.median(thresholds[(kinds == kind) & (weights > 0)])),
        )
        for kind in leading
    )
