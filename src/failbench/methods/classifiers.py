"""Supervised classifiers over the features: declarations of pipelines and of what is tuned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from failbench.methods.tuned_classifier import TunedClassifier, imputed
from failbench.scenarios import Record

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class DecisionTreeSettings(Record):
    """Grid of the decision tree; the section ``decision_tree`` of params.yaml."""

    inner_folds: int = Field(ge=2)
    max_depth: tuple[Count | None, ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


class RandomForestSettings(Record):
    """Size and grid of the random forest; the section ``random_forest`` of params.yaml."""

    trees: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    max_features: tuple[Literal["sqrt", "log2"] | Share, ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


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
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed)


def random_forest(
    settings: RandomForestSettings, features: tuple[str, ...], seed: int
) -> TunedClassifier:
    """A random forest (the paper's section 4.4), tuned over features a split and leaf size."""
    forest = RandomForestClassifier(n_estimators=settings.trees, random_state=seed)
    pipeline = Pipeline([("impute", imputed(features)), ("classify", forest)])
    grid = {
        "classify__max_features": settings.max_features,
        "classify__min_samples_leaf": settings.min_samples_leaf,
    }
    return TunedClassifier(pipeline, grid, settings.inner_folds, seed)
