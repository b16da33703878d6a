"""Methods on what the monitor knows: its own answer, and classifiers on what broke.

They read columns of :mod:`failbench.base.known_columns`, the same in every feature set:
classifiers see the flags.
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np
import pandas as pd
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Array, Labels, Probabilities
from failbench.base.errors import BadInputError
from failbench.base.method_settings import EbmSettings, RandomForestSettings
from failbench.base.predictions import DECIMALS, most_probable
from failbench.base.records import Record
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.boosting_machine import ebm
from failbench.methods.broken_invariants import (
    AbstainingInvariants,
    BrokenInvariants,
    scenario_weights,
)
from failbench.methods.classifiers import random_forest
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.method import Method


class EndingTable(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The commonest category among training scenarios that ended alike.

    Alike are runs with the same kind of end, phase and type of exception; where fewer than
    ``fewest`` training scenarios ended so, those with the same kind and phase, then those of the
    same kind, then all.
    """

    def __init__(self, fewest: int = 2) -> None:
        self.fewest = fewest

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Count; each scenario counts once, and without ``groups`` each run does."""
        weights = scenario_weights(X, groups)
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
    """The first so many parts of the ending of each run."""
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


def _build_invariants(settings: NoSettings, context: Context) -> Method:  # noqa: ARG001
    """The monitor's answer."""
    return BrokenInvariants()


def _build_abstaining(settings: AbstainingSettings, context: Context) -> Method:  # noqa: ARG001
    """The monitor's answer where it is sure enough."""
    return AbstainingInvariants(settings.coverage)


def _build_ending(settings: EndingSettings, context: Context) -> Method:  # noqa: ARG001
    """The table of endings."""
    return EndingTable(settings.fewest)


def _build_forest(settings: RandomForestSettings, context: Context) -> Method:
    """A random forest on flags."""
    return random_forest(settings, _flags(context), context.seed)


def _build_ebm(settings: EbmSettings, context: Context) -> Method:
    """A boosting machine on flags."""
    return ebm(settings, _flags(context), context.seed)


def _flags(context: Context) -> tuple[str, ...]:
    if not context.known:
        raise BadInputError(
            "features",
            "known",
            "nothing that the monitor knows stands beside the features.",
            "Join it by failbench.prediction.known.",
        )
    return context.known


DECLARATIONS = by_name(
    MethodDeclaration("invariants", NoSettings, _build_invariants, reads_features=False),
    MethodDeclaration(
        "invariants_abstaining", AbstainingSettings, _build_abstaining, reads_features=False
    ),
    MethodDeclaration("ending", EndingSettings, _build_ending, reads_features=False),
    MethodDeclaration(
        "forest_on_invariants", RandomForestSettings, _build_forest, reads_features=False
    ),
    MethodDeclaration("ebm_on_invariants", EbmSettings, _build_ebm, reads_features=False),
)
