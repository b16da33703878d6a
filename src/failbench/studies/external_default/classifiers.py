"""Classifiers: the authors' forest and our own, each with its own way to make numbers finite."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from failbench.features.feature import CEILING
from failbench.methods.boosting_machine import GroupBaggedBoosting, ebm
from failbench.methods.classifiers import (
    decision_tree,
    lightgbm,
    logistic_regression,
    random_forest,
)
from failbench.methods.learned_rules import learned_rules
from failbench.methods.tuned_classifier import TunedClassifier
from failbench.studies.external_default.preparation import Preparation
from failbench.studies.external_default.settings import THEIR_FOREST, ExternalDefaultDesign


def classifier(name: str, columns: list[str], design: ExternalDefaultDesign) -> Pipeline:
    """An unfitted classifier, which takes the columns as they are."""
    if name == THEIR_FOREST:
        forest = RandomForestClassifier(design.trees, random_state=design.seed)
        return Pipeline([("prepare", Preparation()), ("classify", forest)])
    return Pipeline(
        [("bound", FunctionTransformer(bounded)), *_house(name, tuple(columns), design)]
    )


def bounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Values no larger than the ceiling of our features, which infinite ones become."""
    return rows.clip(-CEILING, CEILING)


def fitted(pipeline: Pipeline, rows: Any, labels: Any, groups: Any) -> Pipeline:
    """Fit a classifier; the one that bags whole groups is given them, where there are any."""
    takes_groups = isinstance(pipeline["classify"], GroupBaggedBoosting) and groups is not None
    return pipeline.fit(rows, labels, **({"classify__groups": groups} if takes_groups else {}))


def _house(name: str, columns: tuple[str, ...], design: ExternalDefaultDesign) -> list[Any]:
    """The steps of one of our methods, whose search, which knows our categories alone, is not used.

    Values are bounded as our features are; the method imputes what is missing.
    """
    methods, seed = design.methods, design.seed
    tuned: dict[str, TunedClassifier] = {
        "learned_rules": learned_rules(methods.learned_rules, columns, seed),
        "logistic_regression": logistic_regression(methods.logistic_regression, columns, seed),
        "decision_tree": decision_tree(methods.decision_tree, columns, seed),
        "random_forest": random_forest(methods.random_forest, columns, seed),
        "lightgbm": lightgbm(methods.lightgbm, columns, seed),
        "ebm": ebm(methods.ebm, columns, seed),
    }
    single = {key: values[0] for key, values in tuned[name].grid.items()}
    pipeline: Pipeline = clone(tuned[name].pipeline).set_params(**single)
    return list(pipeline.steps)
