"""Functions and data sets of LightGBM."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
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
from failbench.crashes.rules.learning.boosted import ERROR, check_settings, constants
from failbench.crashes.rules.learning.booster import booster_names, importance, predict
from failbench.crashes.rules.learning.boosting_data import (
    DATA,
    construct,
    data_set,
    get,
    valid,
    width_of_data,
)
from failbench.crashes.rules.learning.samples import as_grid
from failbench.crashes.rules.learning.settings import constant

ALIASES: Final = {"l2": ("mse", "mean_squared_error", "regression", "regression_l2"), "l1": ("mae",
    "mean_absolute_error", "regression_l1"), "rmse": ("root_mean_squared_error", "l2_root"),
    "binary_logloss": ("binary",), "multi_logloss": ("multiclass", "softmax")}  # fmt: skip
"""Names of metrics, and others by which they may be asked for."""

DEFAULT_METRIC: Final = {
    "regression": "l2",
    "l2": "l2",
    "mse": "l2",
    "regression_l1": "l1",
    "l1": "l1",
    "mae": "l1",
    "binary": "binary_logloss",
    "multiclass": "multi_logloss",
    "lambdarank": "ndcg",
    "rmse": "rmse",
    "poisson": "poisson",
    "quantile": "quantile",
    "huber": "huber",
}


def train(call: Call) -> Value:
    """A booster.

    Raises
    ------
    ViolationError
        If the data, parameters or labels do not go together, or there is nothing to stop early by.
    """
    params, data = call.arg(0, "params"), call.arg(1, "train_set")
    given = constants(params.items) if isinstance(params, Mapping) else {}
    complete = (
        isinstance(params, Mapping) and params.is_complete and len(given) == len(params.items)
    )
    if isinstance(params, (Known, Sequence)):
        raise ViolationError(
            "TypeError" if call.name == "cv" else "AttributeError", "parameters are a dict"
        )
    if data is not None and not isinstance(data, (Thing, Unknown)):
        raise ViolationError("TypeError", "a data set of LightGBM is due")
    rounds = call.integer(2, "num_boost_round", default=100)
    if rounds is not None and rounds <= 0:
        raise ViolationError("ValueError", f"{rounds} rounds are too few")
    sets = call.arg(3, "valid_sets")
    callbacks = iteration.elements(call.kwargs["callbacks"]) if "callbacks" in call.kwargs else []
    found = [e for e in callbacks or [] if isinstance(e, Thing)]
    stops = any(each.path == "lightgbm.early_stopping" for each in found) or given.get(
        "early_stopping_round"
    )
    items: list[Value] | None = [] if sets is None else iteration.elements(sets)
    if isinstance(sets, Thing):
        items = [sets]
    for each in items or []:
        if isinstance(each, (Array, Sequence)):
            raise ViolationError("TypeError", "a set to evaluate is a data set of LightGBM")
    check_settings({**given, "complete": complete})
    if isinstance(data, Thing) and data.path == DATA:
        construct(data)
        _check_labels(data, given, complete)
    for each in items or []:
        if isinstance(each, Thing) and each.path == DATA and each is not data:
            each.facts.setdefault("reference", data)
            construct(each)
    if stops and call.name == "train":
        is_none = (
            sets is None
            or (items is not None and not items)
            or (isinstance(sets, Known) and sets.data is None)
        )
        if is_none and call.is_complete:
            raise ViolationError(
                "ValueError", "For early stopping, at least one dataset and eval metric is required"
            )
        if given.get("metric") in ("None", "none", "null"):
            raise ViolationError(
                "ValueError", "For early stopping, at least one dataset and eval metric is required"
            )
    names = _names(call, items, data)
    metrics = _metrics(given, complete)
    for each in found:
        if each.path == "lightgbm.record_evaluation":
            history = each.facts.get("history")
            if isinstance(history, Mapping) and names is not None:
                for name in names:
                    inner = {
                        m: Sequence("list", None, rounds if not stops else None)
                        for m in metrics or ()
                    }
                    history.items[name] = Mapping(dict(inner), metrics is not None)
            elif isinstance(history, Mapping):
                history.is_complete = False
    features = width_of_data(data) if isinstance(data, Thing) else None
    classes = given.get("num_class", 1)
    seen = data.facts.get("data") if isinstance(data, Thing) else None
    return Thing(
        "lightgbm.Booster",
        {
            "features": features,
            "single": classes == 1 if complete else None,
            "seen": seen,
            "rounds": rounds,
        },
    )


def _names(call: Call, items: list[Value] | None, data: Value | None) -> list[Hashable] | None:
    given = call.arg(4, "valid_names")
    if items is None:
        return None
    try:
        names = constant(given) if given is not None else None
    except TypeError:
        return None
    names = [names] if isinstance(names, str) else names
    if given is not None and not isinstance(names, list):
        return None
    result: list[Hashable] = []
    for place, each in enumerate(items):
        if names and place < len(names):
            result.append(names[place])
        else:
            result.append("training" if each is data else f"valid_{place}")
    return result


def _metrics(given: dict[str, Any], complete: bool) -> list[str] | None:
    metric = given.get("metric")
    if metric is None and complete:
        default = DEFAULT_METRIC.get(str(given.get("objective", "regression")))
        return None if default is None else [default]
    names = [metric] if isinstance(metric, str) else metric if isinstance(metric, list) else None
    if names is None:
        return None
    names = [part for name in names for part in str(name).split(",")]
    canonical = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
    return [canonical.get(name, name) for name in names]


def _check_labels(data: Thing, given: dict[str, Any], complete: bool) -> None:
    grid = as_grid(data.facts.get("label"))
    objective = given.get("objective")
    if (
        data.facts.get("label") is None
        and not data.facts.get("label_rows")
        and complete
        and "told" not in data.facts
    ):
        raise ViolationError(
            ERROR, "labels should not be None" if objective else "labels are missing"
        )
    if grid is None:
        return
    low, high = facts.lowest(grid), facts.highest(grid)
    classes = given.get("num_class")
    if (
        objective in ("multiclass", "softmax", "multiclassova")
        and isinstance(classes, int)
        and ((high is not None and high >= classes) or (low is not None and low < 0))
    ):
        raise ViolationError(ERROR, f"labels are from 0 to {classes - 1}")
    if (
        objective in ("poisson", "gamma", "tweedie")
        and low is not None
        and (low < 0 or (objective == "gamma" and low <= 0))
    ):
        raise ViolationError(ERROR, f"{objective} is of labels that are not negative")
    if (
        objective in ("cross_entropy", "xentropy")
        and high is not None
        and low is not None
        and (high > 1 or low < 0)
    ):
        raise ViolationError(ERROR, "labels are between 0 and 1")
    if (
        objective in ("lambdarank", "rank_xendcg")
        and data.facts.get("group") is None
        and "told" not in data.facts
    ):
        raise ViolationError(ERROR, "ranks need the sizes of queries")


def cross_validate(call: Call) -> Value:
    """Results of cross-validation, by name."""
    params = call.arg(0, "params")
    given = constants(params.items) if isinstance(params, Mapping) else {}
    complete = (
        isinstance(params, Mapping) and params.is_complete and len(given) == len(params.items)
    )
    train(call)
    data = call.arg(1, "train_set")
    stratified = call.flag(None, "stratified", default=True)
    if (
        isinstance(data, Thing)
        and stratified
        and call.arg(None, "folds") is None
        and len(call.args) < 6
    ):
        grid = as_grid(data.facts.get("label"))
        if grid is not None and facts.are_whole(grid) is False and facts.kind(grid) == "f":
            raise ViolationError("ValueError", "fractions are no strata")
    override = call.arg(None, "metrics")
    if override is not None:
        given["metric"] = constant(override)
    names = _metrics(given, complete)
    if names is None:
        return Mapping({}, False)
    curve: dict[Hashable, Value] = {}
    for name in names:
        for part in ("mean", "stdv"):
            curve[f"valid {name}-{part}"] = Sequence("list", None, None)
            if call.flag(None, "eval_train_metric"):
                curve[f"train {name}-{part}"] = Sequence("list", None, None)
    if call.flag(None, "return_cvbooster"):
        curve["cvbooster"] = Unknown()
    return Mapping(curve, call.arg(None, "feval") is None)


def recorder(call: Call) -> Value:
    """What stores evaluations in a dict."""
    history = call.arg(0, "eval_result")
    if isinstance(history, (Known, Sequence)):
        raise ViolationError("TypeError", "evaluations are stored in a dict")
    return Thing("lightgbm.record_evaluation", {"history": history})


def stopper(call: Call) -> Value:
    """What stops early."""
    rounds = call.integer(0, "stopping_rounds")
    if rounds is not None and rounds <= 0:
        raise ViolationError("ValueError", "stopping_rounds should be greater than zero.")
    return Thing("lightgbm.early_stopping", {})


FUNCTIONS: Final[dict[str, Handler]] = {
    "lightgbm.Dataset": data_set,
    "lightgbm.Dataset.create_valid": valid,
    "lightgbm.train": train,
    "lightgbm.cv": cross_validate,
    "lightgbm.record_evaluation": recorder,
    "lightgbm.early_stopping": stopper,
    "lightgbm.Booster.predict": predict,
    **{
        f"lightgbm.Dataset.{name}": get
        for name in (
            "get_data",
            "construct",
            "get_label",
            "num_data",
            "num_feature",
            "subset",
            "set_categorical_feature",
            "set_reference",
        )
    },
    **{f"lightgbm.{name}": importance for name in ("plot_importance", "plot_tree", "plot_metric")},
    "lightgbm.Booster.feature_importance": booster_names,
    "lightgbm.Booster.feature_name": booster_names,
}
