"""Supervised classifiers over the features: their pipelines and grids."""

from functools import partial
from typing import Self

import lightgbm as library
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from failbench.base.arrays import Array, Labels, Probabilities
from failbench.base.method_settings import (
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
    SymptomBaselineSettings,
)
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods import evidence
from failbench.methods.declaration import MethodDeclaration, by_name, from_features
from failbench.methods.forest import Forest
from failbench.methods.tuned_classifier import ConvergedLogisticRegression, TunedClassifier, tuned


def logistic_regression(
    settings: LogisticRegressionSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """Multinomial logistic regression (section 4.4), tuned over its L2 penalty."""
    linear = ConvergedLogisticRegression(max_iter=settings.max_iterations)
    grid = {"C": settings.inverse_penalty}
    folds = settings.inner_folds
    return tuned(features, linear, grid, folds, seed, evidence.explain_linear, StandardScaler())


def decision_tree(
    settings: DecisionTreeSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A CART tree (the paper's section 4.4), tuned over depth and leaf size."""
    tree = DecisionTreeClassifier(random_state=seed)
    grid = {"max_depth": settings.max_depth, "min_samples_leaf": settings.min_samples_leaf}
    return tuned(features, tree, grid, settings.inner_folds, seed, evidence.explain_tree)


def random_forest(
    settings: RandomForestSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A random forest (the paper's section 4.4), tuned over features per split and leaf size."""
    forest = Forest(settings.trees, random_state=seed)
    grid = {"max_features": settings.max_features, "min_samples_leaf": settings.min_samples_leaf}
    return tuned(features, forest, grid, settings.inner_folds, seed, evidence.explain_forest)


class Boosting(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """LightGBM's boosted trees; its own classifier writes each fit to text and reads it again."""

    def __init__(
        self,
        n_estimators: int,
        learning_rate: float,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.random_state = random_state

    def fit(self, X: Array, y: Labels) -> Self:
        """Boost one sequence of trees for each category, or one for two."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        several = len(self.classes_) > 2
        parameters = self.get_params() | {
            "objective": "multiclass" if several else "binary",
            "num_class": len(self.classes_) if several else 1,
            # The same bytes on every machine: histograms are built one way, by one thread.
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        runs = library.Dataset(np.asarray(X), codes, params={"verbosity": -1})
        self.booster_ = library.train(parameters, runs, keep_training_booster=True)
        return self

    def predict_proba(self, X: Array) -> Probabilities:
        """Probabilities by category, ``[n_runs, n_classes]``."""
        found = np.asarray(self.booster_.predict(X, num_threads=1))
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def predict(self, X: Array) -> Labels:
        """The most probable categories."""
        answers: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return answers


def lightgbm(settings: LightgbmSettings, features: tuple[str, ...], seed: int) -> TunedClassifier:
    """Gradient boosting by LightGBM (the paper's section 4.4), tuned over the size of trees."""
    boosting = Boosting(settings.trees, settings.learning_rate, random_state=seed)
    grid = {"num_leaves": settings.leaves, "min_child_samples": settings.min_samples_leaf}
    return tuned(features, boosting, grid, settings.inner_folds, seed, evidence.explain_boosted)


def symptom_baseline(
    settings: SymptomBaselineSettings,
    features: tuple[str, ...],  # noqa: ARG001 - the same symptoms under every feature set
    seed: int,
) -> TunedClassifier:
    """Accuracy without any measurement: a forest on error type, steps and what is missing."""
    symptoms = ColumnTransformer(
        [
            ("error_type", OneHotEncoder(handle_unknown="ignore"), ["error_type"]),
            ("steps", "passthrough", ["steps_before_failure"]),
            ("missing", MissingIndicator(features="all"), list(FEATURE_SETS["19"])),
        ],
        sparse_threshold=0.0,
        verbose_feature_names_out=False,
    )
    forest = Forest(settings.trees, random_state=seed)
    pipeline = Pipeline([("symptoms", symptoms), ("classify", forest)])
    return TunedClassifier(pipeline, {}, seed=seed, explain=evidence.explain_forest)


DECLARATIONS = by_name(
    *(
        MethodDeclaration(make.__name__, settings, partial(from_features, make))
        for make, settings in (
            (logistic_regression, LogisticRegressionSettings),
            (decision_tree, DecisionTreeSettings),
            (random_forest, RandomForestSettings),
            (lightgbm, LightgbmSettings),
            (symptom_baseline, SymptomBaselineSettings),
        )
    )
)
