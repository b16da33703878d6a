"""Supervised classifiers over the features: their pipelines, grids and settings."""

from __future__ import annotations

from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from failbench.base.method_settings import (
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
)
from failbench.methods.contributions import explain_boosted, explain_linear
from failbench.methods.converged import ConvergedLogisticRegression
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.forest_paths import explain_forest
from failbench.methods.method import Method
from failbench.methods.tree_paths import ExplainTree
from failbench.methods.tuned_classifier import TunedClassifier, imputed


def logistic_regression(
    settings: LogisticRegressionSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """Multinomial logistic regression (the paper's section 4.4), tuned over its L2 penalty.

    Features are standardised so that one penalty suits all of them. The fit itself is not random:
    the seed is that of the inner folds.
    """
    pipeline = Pipeline(
        [
            ("impute", imputed(features)),
            ("scale", StandardScaler()),
            ("classify", ConvergedLogisticRegression(max_iter=settings.max_iterations)),
        ]
    )
    grid = {"classify__C": settings.inverse_penalty}
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed, explain_linear)


def decision_tree(
    settings: DecisionTreeSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A CART tree (the paper's section 4.4), tuned over depth and leaf size."""
    pipeline = Pipeline(
        [("impute", imputed(features)), ("classify", DecisionTreeClassifier(random_state=seed))]
    )
    grid = {
        "classify__max_depth": settings.max_depth,
        "classify__min_samples_leaf": settings.min_samples_leaf,
    }
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed, ExplainTree(features))


def random_forest(
    settings: RandomForestSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A random forest (the paper's section 4.4), tuned over features per split and leaf size."""
    forest = RandomForestClassifier(n_estimators=settings.trees, random_state=seed)
    pipeline = Pipeline([("impute", imputed(features)), ("classify", forest)])
    grid = {
        "classify__max_features": settings.max_features,
        "classify__min_samples_leaf": settings.min_samples_leaf,
    }
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed, explain_forest)


def lightgbm(settings: LightgbmSettings, features: tuple[str, ...], seed: int) -> TunedClassifier:
    """Gradient boosting by LightGBM (the paper's section 4.4), tuned over the size of trees."""
    boosting = LGBMClassifier(
        n_estimators=settings.trees,
        learning_rate=settings.learning_rate,
        # The same bytes on every machine: histograms are built one way, by one thread.
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        verbosity=-1,
        random_state=seed,
    )
    pipeline = Pipeline([("impute", imputed(features)), ("classify", boosting)])
    grid = {
        "classify__num_leaves": settings.leaves,
        "classify__min_child_samples": settings.min_samples_leaf,
    }
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed, explain_boosted)


def _build_logistic_regression(settings: LogisticRegressionSettings, context: Context) -> Method:
    """Logistic regression on the feature set in use."""
    return logistic_regression(settings, context.features, context.seed)


def _build_decision_tree(settings: DecisionTreeSettings, context: Context) -> Method:
    """A decision tree on the feature set in use."""
    return decision_tree(settings, context.features, context.seed)


def build_random_forest(settings: RandomForestSettings, context: Context) -> Method:
    """A random forest on the feature set in use."""
    return random_forest(settings, context.features, context.seed)


def _build_lightgbm(settings: LightgbmSettings, context: Context) -> Method:
    """LightGBM on the feature set in use."""
    return lightgbm(settings, context.features, context.seed)


DECLARATIONS = by_name(
    MethodDeclaration(
        "logistic_regression", LogisticRegressionSettings, _build_logistic_regression
    ),
    MethodDeclaration("decision_tree", DecisionTreeSettings, _build_decision_tree),
    MethodDeclaration("random_forest", RandomForestSettings, build_random_forest),
    MethodDeclaration("lightgbm", LightgbmSettings, _build_lightgbm),
)
