"""Explanations of additive scores: the few terms that make up most of a score.

Lage et al. (2019, "Human evaluation of models built for interpretability") find that the time to
verify an explanation grows with its number of parts. Here a reader checks every term needed for
95 % of the sum of the absolute contributions to the score of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.base.arrays import Array, Labels
from failbench.base.verdicts import Evidence
from failbench.methods.tuned_classifier import Explanation

Positions = npt.NDArray[np.intp]

SHARE = 0.95
"""Share of a score's absolute contributions that its evidence accounts for."""

ROUNDING = 1e-9
"""Shares and sizes of terms that differ by less are equal."""


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
    """Coefficient times standardised value, ``[n_runs, n_features]``.

    As values are measured from the training mean, these are the SHAP values of a linear score
    (Lundberg and Lee, 2017, "A unified approach to interpreting model predictions", corollary 1).
    """
    classifier = pipeline["classify"]
    return weighted_terms(classifier, classifier.coef_, pipeline[:-1].transform(X), answers)


def weighted_terms(classifier: Any, weights: Array, values: Array, answers: Labels) -> Array:
    """Value times weight in the score of the answer, ``[n_runs, n_features]``."""
    by_class = _all_classes(weights.T)  # [n_features, n_classes]
    contributions: Array = values * by_class[:, _positions(classifier, answers)].T
    return contributions


def boosted_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Array:
    """SHAP values of boosted trees, ``[n_runs, n_features]``, as LightGBM computes them.

    Lundberg and Lee (2017); with LightGBM's expected score they add up to the raw score of the
    answer.
    """
    values = pipeline[:-1].transform(X)
    flat = pipeline["classify"].predict(values, pred_contrib=True)
    by_class = flat.reshape(len(values), -1, values.shape[1] + 1)[:, :, :-1]
    return _of_answers(_all_classes(np.moveaxis(by_class, 1, 2)), _positions(pipeline, answers))


def additive_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Array:
    """Values of the shape functions of features and of pairs of them, ``[n_runs, n_terms]``.

    Nori et al. (2019, "InterpretML: a unified framework for machine learning interpretability");
    with the intercept they add up to the raw score of the answer.
    """
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
    """Features that carry the answer of boosted trees, each compared with the training median.

    Such evidence summarises the trees, as do Ribeiro et al. (2016, "Why should I trust you?"), and
    does not prove the answer. The conditions counted are those that do: the tests on the paths
    through all trees of the answered category (Freitas, 2014, "Comprehensible classification
    models").
    """
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
    """Terms of an additive score, each compared with the nearer edge of its bin.

    Within a bin the contribution is constant; it changes at the nearer edge. A term of two features
    is two conditions, one on each axis of its surface.
    """
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
    leaves = classifier.predict(pipeline[:-1].transform(X), pred_leaf=True)  # [n_runs, n_trees]
    trees = classifier.booster_.dump_model()["tree_info"]
    lengths = np.column_stack(
        [_depths(tree["tree_structure"])[leaf] for tree, leaf in zip(trees, leaves.T, strict=True)]
    )
    classes = classifier.booster_.num_model_per_iteration()
    # Trees alternate over the categories; two categories share one sequence of trees.
    tree_classes = np.arange(len(trees)) % classes
    of_answer = tree_classes == (_positions(pipeline, answers) % classes)[:, None]
    tests: Positions = np.where(of_answer, lengths, 0).sum(axis=1)
    return tests


def _depths(root: dict[str, Any]) -> Positions:
    """Depth of each leaf of a dumped tree, by the number of the leaf."""
    depths: dict[int, int] = {}
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if "split_index" in node:
            pending += [(node[side], depth + 1) for side in ("left_child", "right_child")]
        else:
            # The only leaf of a tree without splits has no number.
            depths[node.get("leaf_index", 0)] = depth
    return np.array([depths[leaf] for leaf in sorted(depths)])


def _all_classes(scores: Array) -> Array:
    """Scores per category on the last axis; of two categories libraries give only the second."""
    return np.concatenate([-scores, scores], axis=-1) if scores.shape[-1] == 1 else scores


def _positions(classifier: Any, answers: Labels) -> Positions:
    """Positions of the answers among the categories of the classifier."""
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
