"""The random forest of scikit-learn, tree for tree, grown without checking its runs at every tree.

On two hundred runs the library spends two thirds of a fit on checks that come out alike for each of
the hundred trees: what the labels are, whether weights are numbers, which parameters a tree has.
"""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._criterion import Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

from failbench.base.arrays import Array, Labels, Probabilities

LARGEST = np.iinfo(np.int32).max


class Forest(RandomForestClassifier):  # type: ignore[misc]
    """A forest of trees by Gini's criterion without a limit of depth, on numbers alone."""

    def __init__(
        self,
        n_estimators: int = 100,
        max_features: str | float = "sqrt",
        min_samples_leaf: int = 1,
        random_state: int | None = None,
    ) -> None:
        # of the library's parameters those that are grown by: another is an error, not ignored
        super().__init__(
            n_estimators,
            max_features=max_features,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
        )

    def fit(self, X: Array, y: Labels) -> Self:
        """Grow all trees from the same runs; each sends a missing value where it did best."""
        runs = np.ascontiguousarray(X, dtype=np.float32)
        gaps = np.isnan(runs).any(axis=0)
        self.classes_, codes = np.unique(y, return_inverse=True)
        (count, features), classes = runs.shape, len(self.classes_)
        self.n_features_in_, self.n_outputs_, self.n_classes_ = features, 1, classes
        labels, sizes = codes[:, None].astype(np.float64), np.array([classes], dtype=np.intp)
        leaf, tried = self.min_samples_leaf, _features_tried(self.max_features, features)
        missing = gaps if gaps.any() else None
        limits = (max(2, 2 * leaf), leaf, 0.0, LARGEST, 0.0)
        prototype = DecisionTreeClassifier(max_features=self.max_features, min_samples_leaf=leaf)
        prototype.classes_, prototype.max_features_ = np.arange(float(classes)), tried
        prototype.n_features_in_, prototype.n_outputs_ = features, 1
        prototype.n_classes_ = classes
        seeds, rng = np.random.RandomState(self.random_state), np.random.RandomState()
        self.estimators_ = []
        for _ in range(self.n_estimators):
            tree = copy(prototype)
            tree.random_state = seeds.randint(LARGEST)
            rng.seed(tree.random_state)
            drawn = np.bincount(rng.randint(0, count, count), minlength=count)
            rng.seed(tree.random_state)
            splitter = BestSplitter(Gini(1, sizes), tried, leaf, 0.0, rng, None)
            tree.tree_ = Tree(features, sizes, 1)
            builder = DepthFirstTreeBuilder(splitter, *limits)
            builder.build(tree.tree_, runs, labels, drawn.astype(np.float64), missing)
            self.estimators_.append(tree)
        return self

    def predict_proba(self, X: Array) -> Probabilities:
        """Mean of the trees' shares of labels, ``[n_runs, n_classes]``."""
        runs = np.ascontiguousarray(X, dtype=np.float32)
        total = np.zeros((len(runs), self.n_classes_))
        for tree in self.estimators_:
            total += tree.tree_.predict(runs)
        mean: Probabilities = total / len(self.estimators_)
        return mean


def _features_tried(asked: str | float, features: int) -> int:
    """Features that a split looks at, of which it takes the best."""
    if isinstance(asked, str):
        root = np.sqrt(features) if asked == "sqrt" else np.log2(features)
        return max(1, int(root))
    return max(1, int(asked * features))
