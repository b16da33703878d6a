"""A pipeline whose settings are chosen by cross-validation within the training runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import ParameterGrid, StratifiedGroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from failbench.base.arrays import Array, Labels, Positions, Probabilities
from failbench.base.predictions import DECIMALS, most_probable
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import CATEGORIES

Grid = Mapping[str, Sequence[Any]]
Explanation = tuple[tuple[Evidence, ...], int]
"""The evidence of an answer, and how many conditions a reader must check to verify it."""
Explain = Callable[[Any, Any, Labels], list[Explanation]]
"""From a fitted pipeline, runs and their answers to an explanation per run."""

TIE = 1e-9
"""Accuracies that differ by less are equal: rounding of means over the folds."""


class TunedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses the settings of a pipeline, then fits it to all training runs.

    The inner folds are stratified by category and grouped by scenario, so that no scenario has runs
    in both training and validation. Among settings whose accuracies differ only by rounding the
    first in the grid's order is chosen, so grids name the simplest first. The grid is of the last
    step, which receives the scenarios of the runs it is fitted to where its ``fit`` asks for
    ``groups``. The search is our own because that of scikit-learn prepares the runs of an inner
    fold anew for each setting, which costs several times what most of these fits do.
    """

    def __init__(
        self,
        pipeline: Any,
        grid: Grid,
        inner_folds: int = 3,
        seed: int = 0,
        explain: Explain | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.grid = grid
        self.inner_folds = inner_folds
        self.seed = seed
        self.explain = explain

    def fit(self, X: pd.DataFrame | Array, y: Labels, groups: Labels | None = None) -> Self:
        """Search the grid and fit; without ``groups`` every run is its own scenario."""
        labels = np.asarray(y, dtype=str)
        scenarios = np.arange(len(X)) if groups is None else np.asarray(groups, dtype=str)
        settings = list(ParameterGrid({name: list(values) for name, values in self.grid.items()}))
        chosen = settings[0]
        if len(settings) > 1:
            splitter = StratifiedGroupKFold(self.inner_folds, shuffle=True, random_state=self.seed)
            folds = splitter.split(labels, labels, scenarios)
            by_fold = [self._accuracies(settings, X, labels, scenarios, *fold) for fold in folds]
            accuracies = np.mean(by_fold, axis=0)
            chosen = settings[int(np.argmax(accuracies >= accuracies.max() - TIE))]
        self.pipeline_ = _fitted(clone(self.pipeline).set_params(**chosen), X, labels, scenarios)
        self.classes_ = np.array(CATEGORIES, dtype=object)
        return self

    def _accuracies(
        self,
        settings: Sequence[Mapping[str, Any]],
        X: pd.DataFrame | Array,
        labels: Labels,
        scenarios: Labels,
        trained: Positions,
        validated: Positions,
    ) -> list[float]:
        """Accuracy of each setting in an inner fold, whose runs are prepared once for all."""
        *first, last = clone(self.pipeline).steps
        preparation = Pipeline(first or [("as_they_are", "passthrough")])
        rows = X.iloc if isinstance(X, pd.DataFrame) else X
        prepared = preparation.fit_transform(rows[trained], labels[trained])
        held_out = preparation.transform(rows[validated])
        accuracies = []
        for setting in settings:
            classifier = clone(Pipeline([last])).set_params(**setting)
            _fitted(classifier, prepared, labels[trained], scenarios[trained])
            accuracies.append(_accuracy(classifier, held_out, labels[validated]))
        return accuracies

    def predict(self, X: pd.DataFrame | Array) -> Labels:
        """The most probable category; the first in the order of categories among equals."""
        check_is_fitted(self)
        return most_probable(self.predict_proba(X))

    def predict_proba(self, X: pd.DataFrame | Array) -> Probabilities:
        """Probabilities in the order of categories; zero for categories without training runs."""
        check_is_fitted(self)
        return _all_categories(self.pipeline_, X)

    def diagnose(self, X: pd.DataFrame | Array) -> tuple[Diagnosis, ...]:
        """The most probable category of each run, with its probability and evidence.

        The confidence is rounded as it is stored, so that rounding cannot move it across a
        threshold.
        """
        probabilities = self.predict_proba(X)
        answers = most_probable(probabilities)
        explanations: Sequence[tuple[tuple[Evidence, ...], int | None]] = [((), None)] * len(X)
        if self.explain is not None:
            explanations = self.explain(self.pipeline_, X, answers)
        return tuple(
            Diagnosis(answer, float(probability), evidence, conditions)
            for answer, probability, (evidence, conditions) in zip(
                answers, probabilities.max(axis=1).round(DECIMALS), explanations, strict=True
            )
        )


def _fitted(
    pipeline: Pipeline, X: pd.DataFrame | Array, labels: Labels, scenarios: Labels
) -> Pipeline:
    """The pipeline, fitted; its last step receives the scenarios if it bags whole ones."""
    name, classifier = pipeline.steps[-1]
    asks = has_fit_parameter(classifier, "groups")
    return pipeline.fit(X, labels, **({f"{name}__groups": scenarios} if asks else {}))


def _all_categories(pipeline: Any, X: pd.DataFrame | Array) -> Probabilities:
    """Probabilities in the order of categories; zero for categories without training runs."""
    probabilities = np.zeros((len(X), len(CATEGORIES)))
    order = [CATEGORIES.index(category) for category in pipeline.classes_]
    probabilities[:, order] = pipeline.predict_proba(X)
    return probabilities


def _accuracy(pipeline: Any, X: pd.DataFrame | Array, labels: Labels) -> float:
    """Accuracy of the answers of :meth:`TunedClassifier.predict`."""
    return float((most_probable(_all_categories(pipeline, X)) == labels).mean())


def imputed(features: Sequence[str]) -> ColumnTransformer:
    """Select features and impute missing values with the median of the training runs.

    A feature without a value in any training run becomes zero, so that the columns stay the same;
    they keep the names of the features.
    """
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return ColumnTransformer(
        [("features", imputer, list(features))], verbose_feature_names_out=False
    )


def tuned(
    features: tuple[str, ...],
    classifier: Any,
    grid: Grid,
    inner_folds: int,
    seed: int,
    explain: Explain,
    scaler: Any = None,
) -> TunedClassifier:
    """A classifier of imputed features, maybe scaled, tuned over some of its own settings."""
    scaled = [("scale", scaler)] if scaler is not None else []
    steps = [("impute", imputed(features)), *scaled, ("classify", classifier)]
    of_step = {f"classify__{name}": values for name, values in grid.items()}
    return TunedClassifier(Pipeline(steps), of_step, inner_folds, seed, explain)
