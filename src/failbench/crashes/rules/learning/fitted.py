"""Estimators that are used before they are fitted."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.knowledge.interfaces import class_of
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Estimator, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning.kinds import SEARCHES, STATELESS

NEEDS_FIT: Final = frozenset({
    "predict", "transform", "predict_proba", "decision_function", "score",
    "predict_log_proba", "inverse_transform", "kneighbors", "score_samples",
    "get_feature_names_out", "staged_predict", "apply", "get_support", "sample",
    "radius_neighbors", "kneighbors_graph", "decision_path", "get_n_leaves", "get_depth",
    "partial_dependence",
})  # fmt: skip


def check_fitted(estimator: Estimator, name: str) -> None:
    """Refuse what an estimator can only tell after it learnt.

    Raises
    ------
    ViolationError
        ``NotFittedError``.
    """
    known = class_of(estimator.path) or {}
    if (
        estimator.name in STATELESS
        or known.get("stateless")
        or (estimator.name in SEARCHES and estimator.fitted is None)
    ):
        return
    fitted = estimator.fitted
    if estimator.name == "Pipeline" and estimator.steps is not None:
        steps = [step for step in estimator.steps.values() if isinstance(step, Estimator)]
        learners = [step for step in steps if step.name not in STATELESS]
        fitted = False if any(step.fitted is False for step in learners) else fitted
    if fitted is False:
        raise ViolationError("NotFittedError", f"{estimator.name}.{name} is called before fit")


def check_is_fitted(call: Call) -> Value:
    """The function that says whether an estimator learnt."""
    value = call.first()
    if isinstance(value, Estimator):
        check_fitted(value, "check_is_fitted")
    return Known(None)
