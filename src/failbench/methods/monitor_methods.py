"""Methods on what the monitor knows: its own answer, and classifiers on the flags of what broke."""

# Its own answers are those of the frozen rules, from which no fit can move them, and an abstention
# where nothing broke. What is learnt is how often they are right of what decided.

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Final, Self

import numpy as np
import pandas as pd
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Array, Labels, Mask, Probabilities
from failbench.base.errors import BadInputError
from failbench.base.method_settings import EbmSettings, RandomForestSettings
from failbench.base.predictions import DECIMALS, most_probable
from failbench.base.records import Record
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.methods.boosting_machine import ebm
from failbench.methods.classifiers import random_forest
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.improved_rules import scenario_weights

LEAST: Final = 1.0 / len(CATEGORIES) + 0.01  # so that no other category is more probable
PRIOR: Final = 2.0  # scenarios that an estimate starts from: one right and one wrong, or its kind's


DECIDED: Final = ["decided_kind", "decided_by"]
"""Columns that say what decided an answer."""


@dataclass(frozen=True)
class Sureness:
    """How often answers were right, in scenarios."""

    kinds: dict[str, tuple[float, float]]
    deciders: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, X: pd.DataFrame, right: Mask, weights: Array) -> Sureness:
        """Count runs that were decided, with their weights."""
        tables: list[dict[str, tuple[float, float]]] = []
        for column in DECIDED:
            known = X[column].notna().to_numpy()
            won, every = (weights * right)[known], weights[known]
            names = X[column].to_numpy()[known].astype(str)
            keys, decided_by = np.unique(names, return_inverse=True)
            of_keys = ((str(key), decided_by == place) for place, key in enumerate(keys))
            tables.append({key: (fsum(won[those]), fsum(every[those])) for key, those in of_keys})
        return cls(*tables)

    def of_runs(self, X: pd.DataFrame) -> Array:
        """The estimated share of right answers among those that what decided each run decides."""
        return np.array(
            [
                self.of_decision(str(kind), str(decider))
                for kind, decider in zip(X["decided_kind"], X["decided_by"], strict=True)
            ]
        )

    def of_decision(self, kind: str, decider: str) -> float:
        """The same of one invariant or ending: its share, drawn towards that of its kind."""
        right, whole = self.kinds.get(kind, (0.0, 0.0))
        of_kind = (right + PRIOR / 2) / (whole + PRIOR)
        right, whole = self.deciders.get(decider, (0.0, 0.0))
        return (right + PRIOR * of_kind) / (whole + PRIOR)


class BrokenInvariants(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The monitor's own answer: the component whose invariant broke first."""

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn how sure answers are; without ``groups`` every run is its own scenario."""
        self.sureness_ = Sureness.of(X, _is_right(X, y), scenario_weights(len(X), groups))
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The component of what decided, or an abstention."""
        check_is_fitted(self)
        answers: Labels = X["answer"].to_numpy().astype(object)
        return answers

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Confidence in the answer, the rest in equal parts; the same for all where none broke."""
        check_is_fitted(self)
        probabilities = np.full((len(X), len(CATEGORIES)), 1.0 / len(CATEGORIES))
        sureness = np.maximum(self.sureness_.of_runs(X), LEAST)
        for row, (answer, sure) in enumerate(zip(X["answer"], sureness, strict=True)):
            if answer in CATEGORIES:
                probabilities[row] = (1 - sure) / (len(CATEGORIES) - 1)
                probabilities[row, CATEGORIES.index(answer)] = sure
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The answer to each run, with one line of evidence: what broke or how the run ended."""
        confidences = self.predict_proba(X).max(axis=1).round(DECIMALS)
        return tuple(
            Diagnosis(answer, float(confidence), (_evidence(run),), conditions=1)
            if answer != ABSTAIN
            else Diagnosis(
                ABSTAIN,
                float(confidence),
                reason="missing" if run["answer"] == ABSTAIN else "low_confidence",
            )
            for answer, confidence, run in zip(
                self.predict(X), confidences, X.to_dict("records"), strict=True
            )
        )


class AbstainingInvariants(BrokenInvariants):
    """The monitor's own answer where it is sure, and an abstention elsewhere."""

    # It is sure from the highest confidence on at which it still answers a given share of the
    # training scenarios, where the confidence of each is learnt from all others. A precision would
    # be the other choice: among the surest answers errors are too few, and too even, to tell one.

    def __init__(self, coverage: float = 0.80) -> None:
        self.coverage = coverage

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn how sure answers are, and from where on enough of them are left."""
        super().fit(X, y, groups)
        weights, right = scenario_weights(len(X), groups), _is_right(X, y)
        scenarios = np.arange(len(X)) if groups is None else np.asarray(groups)
        decided, sure = X[DECIDED], np.empty(len(X))
        for scenario in np.unique(scenarios):
            held = scenarios == scenario
            others = Sureness.of(decided[~held], right[~held], weights[~held])
            sure[held] = others.of_runs(decided[held])
        named = X["answer"].to_numpy() != ABSTAIN
        sure = np.where(named, sure.round(DECIMALS), 0.0)
        levels = np.unique(sure)[::-1]
        enough = [
            level for level in levels if weights[sure >= level].sum() >= self._wanted(weights)
        ]
        self.threshold_ = float(enough[0])
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The component of what decided, or an abstention where that is not sure enough."""
        answers = super().predict(X)
        answers[self.sureness_.of_runs(X).round(DECIMALS) < self.threshold_] = ABSTAIN
        return answers

    def _wanted(self, weights: Array) -> float:
        """The weight of the training runs that are to be answered; no more than rounding allows."""
        return self.coverage * float(weights.sum()) - 1e-9


def _is_right(X: pd.DataFrame, y: Labels) -> Mask:
    right: Mask = X["answer"].to_numpy() == np.asarray(y)
    return right


def _evidence(run: dict[str, object]) -> Evidence:
    name = str(run["decided_by"])
    seen = f"step {float(str(run['decided_step'])):.0f}"
    if run["decided_kind"] == "ending":
        seen = f"{run['end_kind']} in {run['end_phase']}, {seen}"
    return Evidence(name, seen, "matches", str(run["statement"]))


class EndingTable(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The commonest category among training scenarios with the same end, phase and exception."""

    # Of fewer than ``fewest``, those with the same kind and phase, then the same kind, then all.

    def __init__(self, fewest: int = 2) -> None:
        self.fewest = fewest

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Count; each scenario counts once, and without ``groups`` each run does."""
        weights = scenario_weights(len(X), groups)
        places = np.array([CATEGORIES.index(label) for label in y])
        scenarios = np.arange(len(X)) if groups is None else np.asarray(groups)
        tables = []
        for depth in range(len(_COLUMNS), -1, -1):
            table: dict[tuple[str, ...], Array] = {}
            ended: dict[tuple[str, ...], set[object]] = {}
            for key, place, weight, scenario in zip(
                _endings(X, depth), places, weights, scenarios, strict=True
            ):
                table.setdefault(key, np.zeros(len(CATEGORIES)))[place] += weight
                ended.setdefault(key, set()).add(scenario)
            tables.append(
                {
                    key: row
                    for key, row in table.items()
                    if not depth or len(ended[key]) >= self.fewest
                }
            )
        self.tables_ = tuple(tables)
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The most probable category; the first in the order of categories among equals."""
        return most_probable(self.predict_proba(X))

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Shares of the categories in the entry of each run's ending, one added to each count."""
        counts = np.array([counts for _, counts in self._entries(X)])
        shares: Probabilities = (counts + 1) / (counts.sum(axis=1, keepdims=True) + len(CATEGORIES))
        return shares

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The commonest category of each run's ending, with that ending as evidence."""
        probabilities = self.predict_proba(X)
        answers = most_probable(probabilities)
        return tuple(
            Diagnosis(
                answer,
                float(probability),
                (Evidence("ending", ", ".join(filter(None, key)), "matches", "training runs"),),
                conditions=1,
            )
            for answer, probability, (key, _) in zip(
                answers, probabilities.max(axis=1).round(DECIMALS), self._entries(X), strict=True
            )
        )

    def _entries(self, X: pd.DataFrame) -> list[tuple[tuple[str, ...], Array]]:
        check_is_fitted(self)
        depths = range(len(_COLUMNS), -1, -1)
        candidates = zip(*(_endings(X, depth) for depth in depths), strict=True)
        return [
            next(
                (key, table[key])
                for key, table in zip(keys, self.tables_, strict=True)
                if key in table
            )
            for keys in candidates
        ]


_COLUMNS: Final = ("end_kind", "end_phase", "end_error")


def _endings(X: pd.DataFrame, depth: int) -> list[tuple[str, ...]]:
    columns = [X[name].to_numpy() for name in _COLUMNS[:depth]]
    return [tuple(str(column[row]) for column in columns) for row in range(len(X))]


class NoSettings(Record):
    """No settings, as the rules are frozen; the section ``invariants`` of params.yaml is empty."""


class AbstainingSettings(Record):
    """How many runs are answered; the section ``invariants_abstaining`` of params.yaml."""

    coverage: float = Field(gt=0, le=1)


class EndingSettings(Record):
    """When an ending is too rare; the section ``ending`` of params.yaml."""

    fewest: int = Field(ge=1)


def _flags(context: Context) -> tuple[str, ...]:
    if not context.known:
        problem = "nothing that the monitor knows stands beside the features."
        raise BadInputError("features", "known", problem, "Join it by failbench.prediction.known.")
    return context.known


DECLARATIONS = by_name(
    *(
        MethodDeclaration(name, settings, build, reads_features=False)
        for name, settings, build in (
            ("invariants", NoSettings, lambda _, context: BrokenInvariants()),  # noqa: ARG005
            (
                "invariants_abstaining",
                AbstainingSettings,
                lambda settings, _: AbstainingInvariants(settings.coverage),
            ),
            ("ending", EndingSettings, lambda settings, _: EndingTable(settings.fewest)),
            (
                "forest_on_invariants",
                RandomForestSettings,
                lambda settings, context: random_forest(settings, _flags(context), context.seed),
            ),
            (
                "ebm_on_invariants",
                EbmSettings,
                lambda settings, context: ebm(settings, _flags(context), context.seed),
            ),
        )
    )
)
