"""Kinds of estimators of scikit-learn."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.knowledge.interfaces import class_of
from failbench.crashes.rules.knowledge.values import Estimator

SEARCHES: Final = (
    "GridSearchCV",
    "RandomizedSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
)
COMPOSED: Final = (
    "Pipeline", "ColumnTransformer", "FeatureUnion", "VotingClassifier", "VotingRegressor",
    "StackingClassifier", "StackingRegressor",
)  # fmt: skip
STATELESS: Final = (
    "FunctionTransformer", "Normalizer", "Binarizer", "HashingVectorizer", "FeatureHasher",
    "AdditiveChi2Sampler",
)  # fmt: skip


def is_a(estimator: Estimator, base: str) -> bool:
    """Whether the class of an estimator has a base."""
    known = class_of(estimator.path)
    return known is not None and base in known["bases"]


def unfitted(value: Estimator) -> Estimator:
    """An estimator without what it learnt."""
    steps = value.steps
    if steps is not None:
        steps = {k: unfitted(v) if isinstance(v, Estimator) else v for k, v in steps.items()}
    kept = {key: each for key, each in value.facts.items() if key == "columns"}
    return Estimator(value.path, dict(value.settings), False, steps=steps, facts=kept)
