from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from failbench.methods.tree_paths import ExplainTree, leaf_conditions, tree_paths
from failbench.methods.tuned_classifier import imputed


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


def test_a_single_leaf_has_nothing_to_read():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 0])
    assert tree_paths(tree, ["a"], np.array([[5.0]])) == [()]


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


def test_the_root_is_read_first():
    tree, matrix = random_tree(5, max_leaf_nodes=12)
    roots = {(path[0].signal, path[0].threshold) for path in tree_paths(tree, "abcd", matrix[:60])}
    name = "abcd"[tree.tree_.feature[0]]
    assert name in {signal for signal, _ in roots}
    assert {signal for signal, _ in roots} == {name}


def test_a_pickled_explanation_names_the_imputed_value_and_counts_conditions():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=40), "other": 0.0, "b": rng.normal(size=40)})
    labels = np.where(frame["a"] > 0, "one", "two")
    frame.loc[0, "a"] = np.nan
    pipeline = Pipeline([("impute", imputed(["b", "a"])), ("classify", DecisionTreeClassifier())])
    pipeline.fit(frame, labels)
    explain = pickle.loads(pickle.dumps(ExplainTree(("b", "a"))))
    explained = explain(pipeline, frame, labels)
    assert [count for _, count in explained] == [len(evidence) for evidence, _ in explained]
    first = next(item for item in explained[0][0] if item.signal == "a")
    assert first.value == pytest.approx(frame["a"].median())
