from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from failbench.methods.evidence import leaf_conditions, tree_paths


@pytest.fixture
def staircase() -> DecisionTreeClassifier:
    """Splits a alone, at 1, 2 and 3 (found midway), into classes 0, 1, 2 and 3."""
    a = np.array([0.5, 1.5, 2.5, 3.5])
    return DecisionTreeClassifier(random_state=0).fit(np.column_stack([a, 0 * a]), [0, 1, 2, 3])


def random_tree(seed: int, **limits: int) -> tuple[DecisionTreeClassifier, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(80, 4))
    labels = rng.integers(0, 5, 80)
    return DecisionTreeClassifier(random_state=seed, **limits).fit(matrix, labels), matrix


def test_repeated_tests_of_one_side_become_the_tightest(staircase):
    paths = tree_paths(staircase, ["a", "b"], np.array([[0.0, 0.0], [1.7, 0.0], [9.0, 0.0]]))
    seen = [{(item.signal, item.relation, item.threshold) for item in path} for path in paths]
    assert seen == [
        {("a", "below", 1.0)},
        {("a", "above", 1.0), ("a", "below", 2.0)},
        {("a", "above", 3.0)},
    ]


def test_the_threshold_itself_is_below(staircase):
    (path,) = tree_paths(staircase, ["a", "b"], np.array([[1.0, 0.0]]))
    assert [(item.value, item.relation, item.threshold) for item in path] == [(1.0, "below", 1.0)]


@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"max_leaf_nodes": 9}])
def test_merged_conditions_hold_for_exactly_the_runs_of_their_leaf(limits):
    tree, matrix = random_tree(3, **limits)
    leaves = tree.apply(matrix)
    bounds = leaf_conditions(tree)
    assert set(bounds) == set(leaves)
    for leaf, conditions in bounds.items():
        holds = np.ones(len(matrix), dtype=bool)
        for condition in conditions:
            above = matrix[:, condition.column] > condition.threshold
            holds &= above if condition.side == "above" else ~above
        assert holds.tolist() == (leaves == leaf).tolist()
