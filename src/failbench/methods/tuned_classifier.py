"""A pipeline whose settings inner folds choose, and logistic regression that converges."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid, StratifiedGroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from failbench.base.arrays import Array, Labels, Positions, Probabilities
from failbench.base.errors import BadInputError
from failbench.base.predictions import DECIMALS, most_probable
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.base.vocabulary import CATEGORIES

Grid = Mapping[str, Sequence[Any]]
Explanation = tuple[tuple[Evidence, ...], int]  # evidence, and how many conditions verify it
Explain = Callable[[Any, Any, Labels], list[Explanation]]
"""From a fitted pipeline, runs and their answers to an explanation per run."""

TIE = 1e-9  # accuracies that differ by less are equal: rounding of means over the folds


class TunedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses the settings of a pipeline by inner folds, then fits it to all training runs."""

    # Folds are grouped by scenario. Of accuracies that differ only by rounding the first is taken,
    # so grids name the simplest first; they are of the last step, which gets the scenarios of its
    # runs if its ``fit`` asks for ``groups``. The search is our own because scikit-learn's prepares
    # a fold anew for each setting, at several times the cost of most of these fits.

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
        scenarios: Any = np.arange(len(X)) if groups is None else np.asarray(groups, dtype=str)
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
        """The most probable categories; confidence is rounded as it is stored."""
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
    return float((most_probable(_all_categories(pipeline, X)) == labels).mean())


def imputed(features: Sequence[str]) -> ColumnTransformer:
    """Select features and impute missing values with the training median, or zero without any."""
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


# A solver with a loose tolerance stops somewhere on a flat region of the loss, where rounding
# decides (probabilities of two fits differed by 0.27). The penalised loss is strictly convex;
# Newton's method reaches its minimum to within rounding in ten steps (Boyd and Vandenberghe, 2004,
# section 9.5); on texts it stopped at 1.4e-12, short of ``TOLERANCE``, the limit of its precision.

Solver = Literal["newton-cholesky", "newton-cg"]

TOLERANCE: Final = 1e-12  # largest gradient aimed at; over 1 / (C n_runs) it bounds the distance
CONVERGED: Final = 1e-10  # largest gradient of a fit; probabilities were within 4e-9 of exact


class ConvergedLogisticRegression(LogisticRegression):  # type: ignore[misc]
    """Multinomial logistic regression with an L2 penalty, by Newton's method to convergence."""

    def __init__(
        self, C: float = 1.0, solver: Solver = "newton-cholesky", max_iter: int = 100
    ) -> None:
        super().__init__(C=C, solver=solver, max_iter=max_iter, tol=TOLERANCE)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, and check convergence by the gradient rather than by the solver's own status."""
        with warnings.catch_warnings():
            # Solvers warn of steps without progress at the minimum, and some stop early silently.
            warnings.simplefilter("ignore")
            super().fit(X, y)
        largest = float(np.abs(self._gradient(X, y)).max())
        if not largest <= CONVERGED:  # also true of NaN
            problem = (
                f"logistic regression with an inverse penalty of {self.C:g} did not converge in "
                f"{self.n_iter_.max()} steps: the gradient of its loss is still {largest:.1e}."
            )
            remedy = "Raise max_iterations, or take large values out of inverse_penalty."
            raise BadInputError("params.yaml", "max_iterations", problem, remedy)
        return self

    def _gradient(self, X: Any, y: Any) -> Array:
        """Gradient of the mean loss, the intercept last; a row a category, of two the second."""
        excess = self.predict_proba(X) - (np.asarray(y)[:, None] == self.classes_)
        excess = excess[:, -len(self.coef_) :]
        by_weight = excess.T @ np.asarray(X, dtype=np.float64) + self.coef_ / self.C
        gradient: Array = np.column_stack([by_weight, excess.sum(axis=0)]) / len(excess)
        return gradient
