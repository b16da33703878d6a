"""Answers of additive scores as evidence: the few terms that make up most of a score.

Lage et al. (2019, "Human evaluation of models built for interpretability") find that what makes an
explanation slow to verify is how many chunks it has. What a reader must check here is every term
that is needed for 95 % of the sum of the absolute contributions to the score of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.arrays import Labels
from failbench.methods.tuned_classifier import Reading
from failbench.verdicts import Evidence

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

SHARE = 0.95
"""Share of a score's absolute contributions that its evidence accounts for."""

ROUNDING = 1e-9
"""A share that is reached but for this is reached; terms of one size but for it are equal."""


def leading_terms(contributions: Floats, share: float) -> list[Positions]:
    """The fewest terms that make up a share of the absolute contributions, largest first.

    Parameters
    ----------
    contributions
        What each term adds to the score of a run's answer: ``[n_runs, n_terms]``.
    share
        From 0 to 1.

    Returns
    -------
    list
        Positions of terms, an array per run, the first of equal ones first; empty for a run to
        which no term contributes.
    """
    sizes = np.abs(contributions)
    totals = sizes.sum(axis=1, keepdims=True)
    shares = np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0)
    # Sums of products end in digits that processors disagree about: these decide no order.
    order = np.argsort(-np.rint(shares / ROUNDING), axis=1, kind="stable")
    reached = np.take_along_axis(shares, order, axis=1).cumsum(axis=1)
    short = reached < share - ROUNDING
    needed = np.where(totals[:, 0] > 0, short.sum(axis=1) + 1, 0)
    return [terms[:count] for terms, count in zip(order, needed, strict=True)]


def linear_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Floats:
    """Coefficient times standardised value, ``[n_runs, n_features]``.

    With what is measured from the training mean these are the SHAP values of a linear score
    (Lundberg and Lee, 2017, "A unified approach to interpreting model predictions", corollary 1).
    """
    classifier = pipeline["classify"]
    return weighted_terms(classifier, classifier.coef_, pipeline[:-1].transform(X), answers)


def weighted_terms(classifier: Any, weights: Floats, values: Floats, answers: Labels) -> Floats:
    """Value times weight in the score of the answer, ``[n_runs, n_features]``.

    Parameters
    ----------
    classifier
        The fitted linear classifier; its ``classes_`` say which weights are whose.
    weights
        Of shape ``[n_classes, n_features]``; with two categories, those of the second only.
    values
        What the weights multiply, ``[n_runs, n_features]``.
    answers
        A category a run.
    """
    by_class = _each_class(weights.T)  # [n_features, n_classes]
    contributions: Floats = values * by_class[:, _positions(classifier, answers)].T
    return contributions


def boosted_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Floats:
    """SHAP values of boosted trees, ``[n_runs, n_features]``, as LightGBM computes them.

    Lundberg and Lee (2017); with the score that LightGBM expects of any run they add up to the raw
    score of the answer.
    """
    values = pipeline[:-1].transform(X)
    found = pipeline["classify"].predict(values, pred_contrib=True)
    by_class = found.reshape(len(values), -1, values.shape[1] + 1)[:, :, :-1]
    return _of_answers(_each_class(np.moveaxis(by_class, 1, 2)), _positions(pipeline, answers))


def additive_contributions(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Floats:
    """What the shape function of each feature, or of a pair of them, adds, ``[n_runs, n_terms]``.

    Nori et al. (2019, "InterpretML: a unified framework for machine learning interpretability");
    with the intercept they add up to the raw score of the answer.
    """
    found = pipeline["classify"].eval_terms(pipeline[:-1].transform(X))
    by_class = found.reshape(*found.shape[:2], -1)
    return _of_answers(_each_class(by_class), _positions(pipeline, answers))


def explain_linear(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Reading]:
    """Terms of a linear score, each held against the mean of the training runs."""
    terms = leading_terms(linear_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    means = np.broadcast_to(pipeline["scale"].mean_, values.shape)
    return _readings(pipeline, terms, values, means)


def explain_boosted(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Reading]:
    """Features that carry the answer of boosted trees, each held against the training median.

    Such evidence summarises the trees as Ribeiro et al. (2016, "Why should I trust you?") do, and
    does not prove the answer. The conditions to read are those that do: the tests on the paths
    through all trees of the answered category (Freitas, 2014, "Comprehensible classification
    models").
    """
    terms = leading_terms(boosted_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    nothing = pd.DataFrame(np.nan, index=[0], columns=pipeline["impute"].feature_names_in_)
    medians = np.broadcast_to(pipeline["impute"].transform(nothing), values.shape)
    readings = _readings(pipeline, terms, values, medians)
    tests = boosted_path_lengths(pipeline, X, answers)
    return [(evidence, int(count)) for (evidence, _), count in zip(readings, tests, strict=True)]


def explain_additive(pipeline: Any, X: pd.DataFrame, answers: Labels) -> list[Reading]:
    """Terms of an additive score, each held against the nearer edge of the bin it fell into.

    Within its bin a value adds the same whatever it is; the nearer edge is where that changes. A
    term of two features is two conditions to read, one on each axis of its surface.
    """
    terms = leading_terms(additive_contributions(pipeline, X, answers), SHARE)
    values = pipeline["impute"].transform(X)
    edges = [levels[0] for levels in pipeline["classify"].bins_]
    nearest = np.column_stack(
        [_nearer_edge(column, cuts) for column, cuts in zip(values.T, edges, strict=True)]
    )
    members = pipeline["classify"].term_features_  # the features of each term, one or two
    read = [[feature for term in leading for feature in members[term]] for leading in terms]
    # A feature is evidence once, however many of the terms it is in.
    named = (np.array(list(dict.fromkeys(one)), dtype=np.intp) for one in read)
    readings = _readings(pipeline, named, values, nearest)
    return [(evidence, len(one)) for (evidence, _), one in zip(readings, read, strict=True)]


def boosted_path_lengths(pipeline: Any, X: pd.DataFrame, answers: Labels) -> Positions:
    """Tests on the paths through all trees of the answered category, ``[n_runs]``."""
    classifier = pipeline["classify"]
    leaves = classifier.predict(pipeline[:-1].transform(X), pred_leaf=True)  # [n_runs, n_trees]
    trees = classifier.booster_.dump_model()["tree_info"]
    lengths = np.column_stack(
        [_depths(tree["tree_structure"])[leaf] for tree, leaf in zip(trees, leaves.T, strict=True)]
    )
    classes = classifier.booster_.num_model_per_iteration()
    # Trees take turns over the categories; two categories share one sequence of trees.
    turns = np.arange(len(trees)) % classes
    of_answer = turns == (_positions(pipeline, answers) % classes)[:, None]
    tests: Positions = np.where(of_answer, lengths, 0).sum(axis=1)
    return tests


def _depths(root: dict[str, Any]) -> Positions:
    """Depth of each leaf of a dumped tree, by the number of the leaf."""
    found: dict[int, int] = {}
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if "split_index" in node:
            waiting += [(node[side], depth + 1) for side in ("left_child", "right_child")]
        else:
            # A tree that is a single leaf does not number it.
            found[node.get("leaf_index", 0)] = depth
    return np.array([found[leaf] for leaf in sorted(found)])


def _each_class(scores: Floats) -> Floats:
    """Scores a category on the last axis; with two categories libraries give the second's only."""
    return np.concatenate([-scores, scores], axis=-1) if scores.shape[-1] == 1 else scores


def _positions(classifier: Any, answers: Labels) -> Positions:
    """Where the answers stand among the categories of the classifier."""
    return np.asarray(np.searchsorted(classifier.classes_, answers.astype(str)), dtype=np.intp)


def _of_answers(by_class: Floats, positions: Positions) -> Floats:
    """From ``[n_runs, n_terms, n_classes]`` the terms of each run's answer."""
    contributions: Floats = by_class[np.arange(len(positions)), :, positions]
    return contributions


def _nearer_edge(values: Floats, cuts: Floats) -> Floats:
    """The cut nearest to each value; a column that was never cut is held against itself."""
    if not len(cuts):
        return values
    nearest: Floats = cuts[np.abs(values[:, None] - cuts).argmin(axis=1)]
    return nearest


def _readings(
    pipeline: Any, terms: Iterable[Positions], values: Floats, thresholds: Floats
) -> list[Reading]:
    """Evidence of the leading features of each run; a value at its threshold counts as below."""
    names = pipeline["impute"].get_feature_names_out()
    readings: list[Reading] = []
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
        readings.append((evidence, len(evidence)))
    return readings
