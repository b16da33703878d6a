"""Hybrids: rules answer what they are sure of, and hand on the rest (the paper's 6.2 and 9.1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from failbench.arrays import Labels, Probabilities
from failbench.records import Record
from failbench.verdicts import Diagnosis
from failbench.vocabulary import ABSTAIN, CATEGORIES, Route


class HybridSettings(Record):
    """Where the three-way hybrid hands on; the section ``hybrid`` of params.yaml."""

    rules_from: float = Field(ge=0, le=1)
    classifier_from: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.classifier_from > self.rules_from:
            raise ValueError("classifier_from must not be above rules_from")
        return self


class RoutedMethod(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Rules that see every run first, and members that answer what the rules hand on.

    Every member is fitted to all training runs: who answers is decided run by run afterwards, from
    what the rules say of it.
    """

    rules: Any

    @abstractmethod
    def members(self) -> dict[Route, Any]:
        """Those who answer besides the rules, by route."""

    @abstractmethod
    def route(self, diagnosis: Diagnosis) -> Route:
        """Who answers a run of which the rules say this."""

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
        """The category that whoever answers a run names."""
        return np.array([one.category for one in self.diagnose(X)], dtype=object)

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """The probabilities of whoever answers."""
        routes = self._routes(self._first(X))
        probabilities: Probabilities = self.rules_.predict_proba(X)
        for route, member in self.members_.items():
            handed_on = routes == route
            if handed_on.any():
                probabilities[handed_on] = member.predict_proba(X[handed_on])
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The answer, confidence and evidence of whoever answers, and who that was."""
        found = list(self._first(X))
        routes = self._routes(tuple(found))
        for route, member in self.members_.items():
            positions = np.flatnonzero(routes == route)
            if len(positions):
                answers = member.diagnose(X.iloc[positions])
                for position, answer in zip(positions, answers, strict=True):
                    found[position] = answer
        return tuple(replace(one, route=route) for one, route in zip(found, routes, strict=True))

    def _first(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        check_is_fitted(self)
        first: tuple[Diagnosis, ...] = self.rules_.diagnose(X)
        return first

    def _routes(self, diagnoses: tuple[Diagnosis, ...]) -> Labels:
        return np.array([self.route(one) for one in diagnoses], dtype=object)


class Hybrid(RoutedMethod):
    """Rules above one confidence, a classifier down to another, a human below.

    A run goes to the human as well if the rules abstain from it because signals conflict or
    critical metrics are missing, whatever their confidence: that is no matter of degree, and the
    classifier reads the same signals. If they abstain for lack of confidence alone, the confidence
    decides; rules that abstain are never taken for an answer.

    Parameters
    ----------
    rules, classifier, human
        Methods; the confidence of the rules is the C(x) of the paper's equation 3.
    rules_from
        The rules answer where C(x) is above this.
    classifier_from
        The classifier answers where C(x) is at least this.
    """

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
    """Rules, and a classifier for every run from which they abstain.

    Parameters
    ----------
    rules, classifier
        Methods; the rules may abstain.
    """

    def __init__(self, rules: Any, classifier: Any) -> None:
        self.rules = rules
        self.classifier = classifier

    def members(self) -> dict[Route, Any]:
        """The classifier."""
        return {"classifier": self.classifier}

    def route(self, diagnosis: Diagnosis) -> Route:
        """The classifier where the rules abstain."""
        return "classifier" if diagnosis.category == ABSTAIN else "rules"
