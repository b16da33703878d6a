"""Hybrids: rules answer confident runs and defer the rest (the paper's sections 6.2 and 9.1)."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels, Probabilities
from failbench.base.method_settings import (
    HybridSettings,
    ImprovedRulesSettings,
    RandomForestSettings,
    SimulatedHumanSettings,
)
from failbench.base.verdicts import Diagnosis
from failbench.base.vocabulary import ABSTAIN, CATEGORIES, Route
from failbench.methods.classifiers import random_forest
from failbench.methods.declaration import Context, Method, MethodDeclaration, Sections, by_name
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.simulated_human import build_simulated_human


class RoutedMethod(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Rules that read every run first, and fitted members, of whom one answers what they defer."""

    rules: Any

    @abstractmethod
    def members(self) -> dict[Route, Any]:
        """The members besides the rules, by route."""

    @abstractmethod
    def route(self, diagnosis: Diagnosis) -> Route:
        """The member that diagnoses a run, given what the rules say of it."""

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Fit a copy of the rules and of every member."""
        self.rules_ = clone(self.rules).fit(X, y, groups=groups)
        self.members_ = {
            route: clone(member).fit(X, y, groups=groups)
            for route, member in self.members().items()
        }
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of the member that answers each run."""
        return np.array([diagnosis.category for diagnosis in self.diagnose(X)], dtype=object)

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """The probabilities of the member that answers each run."""
        routes = self._routes(self._rule_diagnoses(X))
        probabilities: Probabilities = self.rules_.predict_proba(X)
        for route, member in self.members_.items():
            deferred = routes == route
            if deferred.any():
                probabilities[deferred] = member.predict_proba(X[deferred])
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The diagnosis of the member that answers each run, with its route."""
        diagnoses = list(self._rule_diagnoses(X))
        routes = self._routes(tuple(diagnoses))
        for route, member in self.members_.items():
            positions = np.flatnonzero(routes == route)
            if len(positions):
                answers = member.diagnose(X.iloc[positions])
                for position, answer in zip(positions, answers, strict=True):
                    diagnoses[position] = answer
        return tuple(
            replace(diagnosis, route=route)
            for diagnosis, route in zip(diagnoses, routes, strict=True)
        )

    def _rule_diagnoses(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        check_is_fitted(self)
        diagnoses: tuple[Diagnosis, ...] = self.rules_.diagnose(X)
        return diagnoses

    def _routes(self, diagnoses: tuple[Diagnosis, ...]) -> Labels:
        return np.array([self.route(diagnosis) for diagnosis in diagnoses], dtype=object)


class Hybrid(RoutedMethod):
    """Rules above one confidence, a classifier above a lower one, a human below."""

    # A run also goes to the human if signals conflict or features of a leaf are missing: the
    # classifier reads the same signals. An abstention of the rules is never the answer.

    def __init__(
        self,
        rules: Any,
        classifier: Any,
        human: Any,
        rules_from: float = 0.85,
        classifier_from: float = 0.60,
    ) -> None:
        self.rules = rules
        self.classifier = classifier
        self.human = human
        self.rules_from = rules_from
        self.classifier_from = classifier_from

    def members(self) -> dict[Route, Any]:
        """The classifier and the human."""
        return {"classifier": self.classifier, "human": self.human}

    def route(self, diagnosis: Diagnosis) -> Route:
        """By confidence, unless signals conflict or are missing."""
        unclear = diagnosis.reason in ("conflict", "missing")
        if unclear or diagnosis.confidence < self.classifier_from:
            return "human"
        if diagnosis.category != ABSTAIN and diagnosis.confidence > self.rules_from:
            return "rules"
        return "classifier"


class HybridTwoWay(RoutedMethod):
    """Rules, and a classifier for every run from which they abstain."""

    def __init__(self, rules: Any, classifier: Any) -> None:
        self.rules = rules
        self.classifier = classifier

    def members(self) -> dict[Route, Any]:
        """The classifier."""
        return {"classifier": self.classifier}

    def route(self, diagnosis: Diagnosis) -> Route:
        """The classifier where the rules abstain."""
        return "classifier" if diagnosis.category == ABSTAIN else "rules"


class HybridSections(Sections):
    """Sections that the three-way hybrid is built from."""

    hybrid: HybridSettings
    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings
    simulated_human: SimulatedHumanSettings


class HybridTwoWaySections(Sections):
    """Sections that the two-way hybrid is built from; it defers where the rules abstain."""

    improved_rules: ImprovedRulesSettings
    random_forest: RandomForestSettings


def _hybrid(settings: HybridSections, context: Context) -> Method:
    return Hybrid(
        ImprovedRules(context.band, **settings.improved_rules.model_dump()),
        random_forest(settings.random_forest, context.features, context.seed),
        build_simulated_human(settings.simulated_human, context),
        **settings.hybrid.model_dump(),
    )


def _hybrid_two_way(settings: HybridTwoWaySections, context: Context) -> Method:
    return HybridTwoWay(
        ImprovedRules(context.band, **settings.improved_rules.model_dump()),
        random_forest(settings.random_forest, context.features, context.seed),
    )


DECLARATIONS = by_name(
    MethodDeclaration("hybrid", HybridSections, _hybrid, simulation=True),
    MethodDeclaration("hybrid_two_way", HybridTwoWaySections, _hybrid_two_way),
)
