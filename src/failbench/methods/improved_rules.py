"""Improved rules: a tree that abstains unless several signals confirm a category."""

from dataclasses import dataclass
from typing import Self, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels, Probabilities
from failbench.base.method_settings import ImprovedRulesSettings
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.declaration import Context, Method, MethodDeclaration, by_name
from failbench.methods.healthy import Band
from failbench.methods.improved_tree import (
    TREE,
    Leaf,
    RuleTree,
    conditions_on_path,
    reduced_tree,
    route,
)
from failbench.methods.rules import EvaluatedConditions, resolve

PRIOR = 0.5  # pseudo-counts of right and of wrong runs in a weight: Jeffreys' prior of a proportion

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Judgements:
    """For each run: the leaf it reaches, C(x), and the reason to abstain (None: no abstention)."""

    leaves: npt.NDArray[np.intp]
    confidence: npt.NDArray[np.float64]
    reasons: Labels


class ImprovedRules(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A tree of 47 nodes with leaves that several signals must confirm (section 4.2).

    The confidence is equation 3 of the paper, with S(x) the signals of the leaf that a run reaches:

    .. math:: C(x) = \min_{i \in S(x)} w_i \cdot 1[\text{signal}_i \text{ holds}]

    At a leaf with a category the method abstains, in this order, if a feature among S(x) is
    ``missing``, if a signal of an incompatible category holds (``conflict``), or if C(x) is below
    ``tau`` (``low_confidence``); other leaves abstain for a fixed reason.

    The weight w_i is the precision of the signal for the leaf's category among training runs that
    reach the leaf, or without such among all, by scenarios; as the posterior mean under Jeffreys'
    prior (Brown, Cai and DasGupta, 2001), so that a leaf with few runs is not certain.
    """

    def __init__(
        self,
        band: Band,
        tau: float = 0.60,
        catastrophic_perplexity: float = 400.0,
        gradient_norm: float = 1000.0,
        healthy_sds: float = 3.0,
        signals: tuple[str, ...] | None = None,
    ) -> None:
        self.band = band
        self.tau = tau
        self.catastrophic_perplexity = catastrophic_perplexity
        self.gradient_norm = gradient_norm
        self.healthy_sds = healthy_sds
        self.signals = signals

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Fill in thresholds and measure weights; without ``groups`` every run is a scenario."""
        self.tree_ = self._resolved()
        evaluated = EvaluatedConditions(X)
        reached = route(self.tree_, evaluated)
        shares = scenario_weights(len(X), groups)
        labels = np.asarray(y, dtype=object)
        self.weights_: tuple[Weights, ...] = tuple(
            _weights(leaf, reached == position, labels == leaf.category, shares, evaluated)
            for position, leaf in enumerate(self.tree_.leaves)
        )
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def recalibrated(self, band: Band, gradient_norm: float) -> Self:
        """The same weights under other thresholds, for runs with another healthy band."""
        check_is_fitted(self)
        changed = clone(self).set_params(band=band, gradient_norm=gradient_norm)
        changed.tree_ = changed._resolved()
        changed.weights_, changed.classes_ = self.weights_, self.classes_
        return cast("Self", changed)

    def _resolved(self) -> RuleTree:
        limits = {
            "catastrophic_perplexity": self.catastrophic_perplexity,
            "gradient_norm": self.gradient_norm,
        }
        declared = TREE if self.signals is None else reduced_tree(TREE, self.signals)
        return declared.with_conditions(
            lambda conditions: resolve(conditions, self.band, self.healthy_sds, limits)
        )

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of the leaf that each run reaches, or ``"abstain"``."""
        return self.answers(self.judge(EvaluatedConditions(X)))

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """C(x) for the leaf's category, the rest equally over all; equal where it has none."""
        return self.probabilities(self.judge(EvaluatedConditions(X)))

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The answers, with every condition checked on path and leaf, whether or not it held."""
        evaluated = EvaluatedConditions(X)
        judgements = self.judge(evaluated)
        answers = self.answers(judgements)
        diagnoses = []
        for run, leaf in enumerate(judgements.leaves.tolist()):
            checked = conditions_on_path(self.tree_, leaf, evaluated, run)
            evidence = tuple(evaluated.evidence(condition)[run] for condition in checked)
            diagnoses.append(
                Diagnosis(
                    answers[run],
                    float(judgements.confidence[run]),
                    evidence,
                    len(evidence),
                    judgements.reasons[run],
                )
            )
        return tuple(diagnoses)

    def answers(self, judgements: Judgements) -> Labels:
        """The answers of ``predict`` from judgements."""
        named = self._categories()[judgements.leaves]
        answers: Labels = np.where(pd.isna(judgements.reasons), named, ABSTAIN)
        return answers

    def probabilities(self, judgements: Judgements) -> Probabilities:
        """The probabilities of ``predict_proba`` from judgements, ``[n_runs, n_categories]``."""
        named = self._categories()[judgements.leaves]
        confidence = judgements.confidence[:, None]
        chosen = named[:, None] == self.classes_[None, :]
        return np.asarray(confidence * chosen + (1 - confidence) / len(CATEGORIES))

    def _categories(self) -> Labels:
        return np.array([leaf.category for leaf in self.tree_.leaves], dtype=object)

    def judge(self, evaluated: EvaluatedConditions) -> Judgements:
        """Judge runs from evaluated conditions, which several calls may share."""
        check_is_fitted(self)
        reached = route(self.tree_, evaluated)
        confidence = np.zeros(len(reached))
        reasons: Labels = np.full(len(reached), None, dtype=object)
        for position, (leaf, weights) in enumerate(
            zip(self.tree_.leaves, self.weights_, strict=True)
        ):
            at_leaf = reached == position
            if leaf.reason is not None:
                reasons[at_leaf] = leaf.reason
                continue
            # [n_signals, n_runs]
            holds = np.array([evaluated.holds(signal) for signal in leaf.confirms])
            confidence[at_leaf] = (weights[:, None] * holds).min(axis=0)[at_leaf]
            against = [evaluated.holds(signal) for signal in leaf.against]
            missing = evaluated.runs[leaf.critical].isna().any(axis=1).to_numpy()
            # later assignments overwrite earlier ones: the reason that comes first is assigned last
            reasons[at_leaf & (confidence < self.tau)] = "low_confidence"
            reasons[at_leaf & np.logical_or.reduce(against)] = "conflict"
            reasons[at_leaf & missing] = "missing"
        return Judgements(reached, confidence, reasons)


def scenario_weights(n_runs: int, groups: Labels | None) -> Weights:
    """One over the number of runs of each run's scenario; without groups every run is its own."""
    if groups is None:
        return np.ones(n_runs)
    _, scenario, counts = np.unique(
        np.asarray(groups, dtype=str), return_inverse=True, return_counts=True
    )
    return np.asarray(1 / counts[scenario])


def _weights(
    leaf: Leaf,
    at_leaf: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
    shares: Weights,
    evaluated: EvaluatedConditions,
) -> Weights:
    weights = []
    for signal in leaf.confirms:
        holds = evaluated.holds(signal)
        counted = holds & at_leaf if (holds & at_leaf).any() else holds
        weights.append(
            (shares[counted & right].sum() + PRIOR) / (shares[counted].sum() + 2 * PRIOR)
        )
    return np.array(weights)


def build_improved_rules(settings: ImprovedRulesSettings, context: Context) -> Method:
    """The improved rules, their thresholds taken from the healthy band."""
    return ImprovedRules(context.band, **settings.model_dump())


DECLARATIONS = by_name(
    MethodDeclaration("improved_rules", ImprovedRulesSettings, build_improved_rules)
)
