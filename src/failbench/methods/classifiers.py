"""Supervised classifiers over the features: their pipelines and grids."""

from functools import partial

from lightgbm import LGBMClassifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

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
