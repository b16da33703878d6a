"""Estimators of scikit-learn that are made, and the rules of their methods."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Estimator,
    Known,
    Mapping,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import boosted, settings
from failbench.crashes.rules.learning.answers import asked, transformed
from failbench.crashes.rules.learning.fitted import NEEDS_FIT, check_fitted, check_is_fitted
from failbench.crashes.rules.learning.fitting import fit
from failbench.crashes.rules.learning.kinds import COMPOSED, unfitted
from failbench.crashes.rules.learning.parameters import set_params
from failbench.crashes.rules.learning.samples import rows_of

GROUPED: Final = {
    "make_pipeline": "sklearn.pipeline.Pipeline",
    "make_union": "sklearn.pipeline.FeatureUnion",
    "make_column_transformer": "sklearn.compose.ColumnTransformer",
}


def made(call: Call) -> Value:
    """A new estimator."""
    estimator = Estimator(call.path, settings.are_given(call))
    if estimator.name in COMPOSED:
        place = {
            "FeatureUnion": "transformer_list",
            "Pipeline": "steps",
            "ColumnTransformer": "transformers",
        }
        steps = estimator.settings.get(place.get(estimator.name, "estimators"))
        estimator.steps = _steps(estimator, steps)
    return estimator


def _steps(estimator: Estimator, value: Value | None) -> dict[str, Value] | None:
    items = iteration.elements(value) if value is not None else None
    if items is None:
        return None
    steps: dict[str, Value] = {}
    selected: dict[str, Value] = {}
    for item in items:
        parts = iteration.elements(item)
        if parts is None or len(parts) < 2 or not isinstance(parts[0], Known):
            return None
        steps[str(parts[0].data)] = parts[1]
        if len(parts) > 2:
            selected[str(parts[0].data)] = parts[2]
    estimator.facts["columns"] = selected
    return steps


def grouped(call: Call) -> Value:
    """A pipeline, union or column transformer whose steps get their names."""
    estimator = Estimator(GROUPED[call.name], dict(call.kwargs), steps={})
    selected: dict[str, Value] = {}
    assert estimator.steps is not None
    for value in call.args:
        parts = iteration.elements(value) if call.name == "make_column_transformer" else [value]
        if not parts or not isinstance(parts[0], (Estimator, Known)):
            estimator.steps = None
            return estimator
        step = parts[0]
        name = step.name.lower() if isinstance(step, Estimator) else str(getattr(step, "data", ""))
        number = 2
        while name in estimator.steps:
            base = name.rpartition("-")[0] or name
            name, number = f"{base}-{number}", number + 1
        estimator.steps[name] = step
        if len(parts) > 1:
            selected[name] = parts[1]
    estimator.facts["columns"] = selected
    return estimator


def clone(call: Call) -> Value:
    """The same settings, and nothing learnt."""
    value = call.first()
    if isinstance(value, Estimator):
        return unfitted(value)
    if isinstance(value, Known) or (
        isinstance(value, Thing) and call.flag(None, "safe", default=True)
    ):
        raise ViolationError("TypeError", "only estimators are cloned")
    return Unknown()


def method(call: Call) -> Value:
    """A method of an estimator."""
    estimator = call.receiver
    assert isinstance(estimator, Estimator)
    name = call.name
    if name == "set_params":
        return set_params(call, estimator)
    if name == "get_params":
        return Mapping(dict(estimator.settings), False)
    if estimator.path.startswith("lightgbm."):
        return boosted.method(call, estimator)
    if name in ("fit", "fit_transform", "fit_predict", "partial_fit"):
        fit(call, estimator)
        if name in ("fit", "partial_fit"):
            return estimator
        if name == "fit_predict":
            return Array("numpy", (rows_of(call.first()),), "int64", nan=False, inf=False)
        return transformed(call, estimator)
    if name in NEEDS_FIT:
        check_fitted(estimator, name)
        return asked(call, estimator)
    return Unknown()


FUNCTIONS: Final[dict[str, Handler]] = {
    "estimator": made,
    "estimator method": method,
    "sklearn.base.clone": clone,
    "sklearn.pipeline.make_pipeline": grouped,
    "sklearn.pipeline.make_union": grouped,
    "sklearn.compose.make_column_transformer": grouped,
    "sklearn.utils.validation.check_is_fitted": check_is_fitted,
}
