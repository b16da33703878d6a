"""Boosters of LightGBM that were trained."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning.boosted import check_input
from failbench.crashes.rules.learning.boosting_data import DATA
from failbench.crashes.rules.learning.samples import rows_of


def predict(call: Call) -> Value:
    """What a booster predicts."""
    booster = call.receiver
    assert isinstance(booster, Thing)
    X = call.arg(0, "data")
    if isinstance(X, Thing) and X.path == DATA:
        raise ViolationError("TypeError", "a data set cannot be predicted, only its data")
    check_input(booster, X)
    kinds = ("pred_leaf", "pred_contrib")
    if any(call.arg(None, kind) is not None for kind in kinds):
        return Array("numpy", (rows_of(X), None), "float64")
    single = booster.facts.get("single")
    shape = (rows_of(X),) if single else (rows_of(X), None) if single is False else None
    return Array("numpy", shape, "float64", nan=False)


def importance(call: Call) -> Value:
    """Importances, and the drawing of them."""
    value = call.first()
    fitted = getattr(value, "fitted", None)
    if fitted is False:
        raise ViolationError("NotFittedError", f"{call.name} of what did not learn")
    if isinstance(value, (Known, Array, Mapping)) and call.name == "plot_importance":
        raise ViolationError("TypeError", "booster must be Booster or LGBMModel.")
    if isinstance(value, Thing) and value.path == "lightgbm.Booster" and call.name == "plot_metric":
        raise ViolationError("TypeError", "a booster does not keep its metrics")
    return Unknown()


def booster_names(call: Call) -> Value:
    """What a booster knows of its features."""
    booster = call.receiver
    count = booster.facts.get("features") if isinstance(booster, Thing) else None
    if call.name == "feature_importance":
        return Array("numpy", (count,), None)
    return Sequence("list", None, count) if call.name == "feature_name" else Unknown()
