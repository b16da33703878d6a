"""Evidence of classifiers: the terms of additive scores, and the tests on the paths of trees."""

# The time to verify an explanation grows with its parts (Lage et al., 2019). Of an additive score
# these are the terms of 95 % of the sum of absolute contributions; of a tree the conditions on its
# path (Freitas, 2014); of a forest all tests on the paths through all trees, none merged.

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.tree import BaseDecisionTree

from failbench.base.arrays import Array, Labels, Positions
from failbench.base.verdicts import Evidence, Side
from failbench.methods.tuned_classifier import Explanation

SHARE = 0.95  # share of a score's absolute contributions that its evidence accounts for
ROUNDING = 1e-9  # shares and sizes of terms that differ by less are equal


def leading_terms(contributions: Array, share: float) -> list[Positions]:
    """The fewest terms that make up a share of the absolute contributions, largest first."""
    sizes = np.abs(contributions)
    totals = sizes.sum(axis=1, keepdims=True)
    shares = np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0)
    # Processors disagree about the last digits of sums of products: these must not decide.
    order = np.argsort(-np.rint(shares / ROUNDING), axis=1, kind="stable")
    reached = np.take_along_axis(shares, order, axis=1).cumsum(axis=1)
    short = reached < share - ROUNDING
    needed = np.where(totals[:, 0] > 0, short.sum(axis=1) + 1, 0)
    return [terms[:count] for terms, count in zip(order, needed, strict=True)]


def linear_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Array:
    """Coefficient times standardised value: linear SHAP values (Lundberg and Lee, 2017, cor. 1)."""
    classifier = pipeline["classify"]
    return weighted_terms(classifier, classifier.coef_, pipeline[:-1].transform(X), answers)


def weighted_terms(classifier: Any, weights: Array, values: Array, answers: Labels) -> Array:
    """Value times weight in the score of the answer, ``[n_runs, n_features]``."""
    by_class = _all_classes(weights.T)  # [n_features, n_classes]
    contributions: Array = values * by_class[:, _positions(classifier, answers)].T
    return contributions


def boosted_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Array:
    """SHAP values of boosted trees (Lundberg and Lee, 2017), as LightGBM computes them."""
    values = pipeline[:-1].transform(X)
    flat = pipeline["classify"].booster_.predict(values, pred_contrib=True)
    by_class = flat.reshape(len(values), -1, values.shape[1] + 1)[:, :, :-1]
    return _of_answers(_all_classes(np.moveaxis(by_class, 1, 2)), _positions(pipeline, answers))


def additive_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Array:
    """Shape functions of features and pairs (Nori et al., 2019), ``[n_runs, n_terms]``."""
    terms = pipeline["classify"].eval_terms(pipeline[:-1].transform(X))
    by_class = terms.reshape(*terms.shape[:2], -1)
    return _of_answers(_all_classes(by_class), _positions(pipeline, answers))


def explain_linear(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Explanation]:
    """Terms of a linear score, each compared with the mean of the training runs."""
    terms = leading_terms(linear_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    means = np.broadcast_to(pipeline["scale"].mean_, values.shape)
    return _explanations(pipeline, terms, values, means)


def explain_boosted(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Explanation]:
    """Features that carry the answer of boosted trees, each compared with the training median."""
    # They summarise (Ribeiro et al., 2016, "Why should I trust you?") and do not prove: the
    # conditions counted are the tests on the paths through all trees of the category (Freitas,
    # 2014).
    terms = leading_terms(boosted_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    all_missing = pd.DataFrame(np.nan, index=[0], columns=pipeline["impute"].feature_names_in_)
    medians = np.broadcast_to(pipeline["impute"].transform(all_missing), values.shape)
    explanations = _explanations(pipeline, terms, values, medians)
    tests = boosted_path_lengths(pipeline, X, answers)
    return [
        (evidence, int(count)) for (evidence, _), count in zip(explanations, tests, strict=True)
    ]


def explain_additive(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Explanation]:
    """Terms of an additive score, each against the nearer edge of its bin; two for a pair."""
    terms = leading_terms(additive_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    edges = [levels[0] for levels in pipeline["classify"].bins_]
    nearest = np.column_stack(
        [_nearest_edge(column, cuts) for column, cuts in zip(values.T, edges, strict=True)]
    )
    members = pipeline["classify"].term_features_  # the features of each term, one or two
    features = [[feature for term in leading for feature in members[term]] for leading in terms]
    # A feature is evidence once, however many of the terms contain it.
    unique = (np.array(list(dict.fromkeys(of_run)), dtype=np.intp) for of_run in features)
    explanations = _explanations(pipeline, unique, values, nearest)
    return [
        (evidence, len(of_run))
        for (evidence, _), of_run in zip(explanations, features, strict=True)
    ]


def boosted_path_lengths(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Positions:
    """Tests on the paths through all trees of the answered category, ``[n_runs]``."""
    classifier = pipeline["classify"]
    booster = classifier.booster_
    leaves = booster.predict(pipeline[:-1].transform(X), pred_leaf=True)  # [n_runs, n_trees]
    trees = _leaf_depths(booster.model_to_string())
    lengths = np.column_stack([each[leaf] for each, leaf in zip(trees, leaves.T, strict=True)])
    classes = booster.num_model_per_iteration()
    # Trees alternate over the categories; two categories share one sequence of trees.
    tree_classes = np.arange(len(trees)) % classes
    of_answer = tree_classes == (_positions(pipeline, answers) % classes)[:, None]
    tests: Positions = np.where(of_answer, lengths, 0).sum(axis=1)
    return tests


def _leaf_depths(model: str) -> list[Positions]:
    """Depths of the leaves of each tree by their numbers, from the text that LightGBM saves.

    Inner nodes are numbered from the root down; a leaf is the complement of its number. A tree
    without splits has one leaf, the root.
    """
    of_trees = []
    for tree in model.split("\nTree=")[1:]:
        fields = dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
        leaves = np.zeros(int(fields["num_leaves"]), dtype=np.intp)
        nodes = {0: 0}
        children = (fields.get(side, "").split() for side in ("left_child", "right_child"))
        for node, sides in enumerate(zip(*children, strict=True)):
            for child in map(int, sides):
                if child < 0:
                    leaves[~child] = nodes[node] + 1
                else:
                    nodes[child] = nodes[node] + 1
        of_trees.append(leaves)
    return of_trees


def _all_classes(scores: Array) -> Array:
    """Scores per category on the last axis; of two categories libraries give only the second."""
    return np.concatenate([-scores, scores], axis=-1) if scores.shape[-1] == 1 else scores


def _positions(classifier: Any, answers: Labels) -> Positions:
    return np.asarray(np.searchsorted(classifier.classes_, answers.astype(str)), dtype=np.intp)


def _of_answers(by_class: Array, positions: Positions) -> Array:
    """The terms of each run's answer, from ``[n_runs, n_terms, n_classes]``."""
    contributions: Array = by_class[np.arange(len(positions)), :, positions]
    return contributions


def _nearest_edge(values: Array, cuts: Array) -> Array:
    """The cut nearest to each value; without cuts, the value itself."""
    if not len(cuts):
        return values
    nearest: Array = cuts[np.abs(values[:, None] - cuts).argmin(axis=1)]
    return nearest


def _explanations(
    pipeline: Any, terms: Iterable[Positions], values: Array, thresholds: Array
) -> list[Explanation]:
    """Evidence of the leading features of each run; a value at its threshold counts as below."""
    names = pipeline["impute"].get_feature_names_out()
    explanations: list[Explanation] = []
    for run, leading in enumerate(terms):
        evidence = tuple(
            Evidence(
                str(names[term]),
                float(values[run, term]),
                "above" if values[run, term] > thresholds[run, term] else "below",
                float(thresholds[run, term]),
            )
            for term in leading
        )
        explanations.append((evidence, len(evidence)))
    return explanations


NO_CHILD = -1  # scikit-learn's mark of a leaf in ``children_left``


@dataclass(frozen=True)
class PathCondition:
    """One side of a split: the column is above the threshold, or at most equal to it."""

    column: int
    side: Side
    threshold: float


PathConditions = tuple[PathCondition, ...]


def leaf_conditions(tree: BaseDecisionTree) -> dict[int, PathConditions]:
    """The merged conditions to each leaf, left to right; the tightest of a side is kept."""
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
    tree: BaseDecisionTree, features: Iterable[str], matrix: npt.NDArray[np.float64]
) -> list[tuple[Evidence, ...]]:
    """The merged conditions on the path of each run through a fitted tree, root first."""
    paths, names = leaf_conditions(tree), list(map(str, features))
    return [
        tuple(
            Evidence(
                names[condition.column],
                float(values[condition.column]),
                condition.side,
                condition.threshold,
            )
            for condition in paths[int(leaf)]
        )
        for values, leaf in zip(matrix, tree.apply(matrix), strict=True)
    ]


def explain_tree(
    pipeline: Any,
    X: pd.DataFrame,
    answers: Labels,  # noqa: ARG001
) -> list[Explanation]:
    """The merged conditions on the path to the leaf of one tree."""
    matrix = np.asarray(pipeline["impute"].transform(X), dtype=np.float64)
    names = pipeline["impute"].get_feature_names_out()
    paths = tree_paths(pipeline["classify"], names, matrix)
    return [(evidence, len(evidence)) for evidence in paths]


def _tightened(path: PathConditions, deeper: PathCondition) -> PathConditions:
    # on one path a deeper test of the same column and side is always tighter
    key = (deeper.column, deeper.side)
    if key not in {(condition.column, condition.side) for condition in path}:
        return (*path, deeper)
    return tuple(
        deeper if (condition.column, condition.side) == key else condition for condition in path
    )


SHOWN_TESTS = 10  # number of tests in the evidence of a forest
RUNS_PER_BATCH = 1000  # in memory at once: some tens of megabytes with a hundred trees


def explain_forest(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Explanation]:
    """The ten most frequent tests for each answer, and the number of tests on all paths."""
    # An occurrence of a feature and side counts as the tree's probability for the answer. A test is
    # shown with the median of its thresholds, a missing value as imputed. Batches bound the memory.
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
        # asked of the trees, as the forest checks the runs again for each of them
        runs = batch.astype(np.float32)
        paths = sparse.hstack([tree.decision_path(runs) for tree in trees]).tocsr()
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
    runs, rows = values.astype(np.float32), np.arange(len(values))
    return np.column_stack([tree.tree_.predict(runs)[rows, positions] for tree in forest])


def _most_frequent(
    columns: npt.NDArray[np.object_],
    row: Array,
    features: npt.NDArray[np.intp],
    above: npt.NDArray[np.bool_],
    thresholds: Array,
    weights: Array,
) -> tuple[Evidence, ...]:
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
