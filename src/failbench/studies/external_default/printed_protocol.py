"""The authors' own protocol, step by step as their program has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from failbench.arrays import Array, Labels, Mask
from failbench.studies.external_default.preparation import Preparation
from failbench.studies.external_default.settings import PrintedProtocol
from failbench.studies.external_default.tasks import Task

Rows = Any
"""Positions of rows, an array of integers."""


def printed_answers(task: Task, column_set: str, protocol: PrintedProtocol) -> tuple[Rows, Labels]:
    """Prepare and scale all rows, split them at random, select columns, search, and answer."""
    assert task.positive is not None
    positive: Mask = task.labels == task.positive
    negative = next(label for label in task.labels if label != task.positive)
    prepared = Preparation().fit_transform(task.rows[task.columns(column_set)])
    values: Array = StandardScaler().fit_transform(prepared)
    trained, tested = train_test_split(
        np.arange(len(values)), test_size=protocol.test_share, random_state=protocol.split_seed
    )
    trained_labels = positive[trained].astype(int)
    first = RandomForestClassifier(protocol.selection_trees, random_state=protocol.split_seed)
    importance = first.fit(values[trained], trained_labels).feature_importances_
    selected = np.argsort(importance)[::-1][: protocol.selected]
    forest = _searched(protocol).fit(values[np.ix_(trained, selected)], trained_labels)
    named = forest.predict(values[np.ix_(tested, selected)]).astype(bool)
    return tested, np.where(named, task.positive, negative).astype(object)


def _searched(protocol: PrintedProtocol) -> Any:
    """The forest, or the search over its grid where this has several settings."""
    grid = {
        "n_estimators": protocol.trees,
        "max_depth": protocol.max_depth,
        "min_samples_split": protocol.min_samples_split,
        "min_samples_leaf": protocol.min_samples_leaf,
        "max_features": protocol.max_features,
    }
    forest = RandomForestClassifier(random_state=protocol.split_seed)
    if all(len(values) == 1 for values in grid.values()):
        return forest.set_params(**{name: values[0] for name, values in grid.items()})
    return GridSearchCV(forest, grid, cv=protocol.inner_folds)
