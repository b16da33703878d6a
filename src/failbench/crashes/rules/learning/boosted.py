"""Estimators of LightGBM."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Estimator,
    Frame,
    Known,
    Mapping,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.samples import (
    as_grid,
    check_same_rows,
    kind_of_target,
    rows_of,
    width_of,
)

ERROR: Final = "LightGBMError"

LIMITS: Final = {
    "num_leaves": (2, 131072),
    "max_bin": (2, None),
    "bagging_fraction": (0, 1),
    "feature_fraction": (0, 1),
    "learning_rate": (0, None),
    "min_data_in_leaf": (0, None),
    "lambda_l1": (0, None),
    "lambda_l2": (0, None),
    "num_class": (1, None),
    "min_gain_to_split": (0, None),
    "subsample": (0, 1),
    "colsample_bytree": (0, 1),
    "reg_alpha": (0, None),
    "reg_lambda": (0, None),
    "max_bins": (2, None),
    "min_child_samples": (0, None),
    "top_rate": (0, 1),
    "alpha": (0, None),
    "tweedie_variance_power": (1, 2),
}
"""Lowest and highest value of parameters, from the documentation of the library's parameters."""

OPEN_AT_ZERO: Final = frozenset({
    "learning_rate", "bagging_fraction", "feature_fraction", "subsample", "colsample_bytree",
    "num_class",
})  # fmt: skip

OBJECTIVES: Final = frozenset({
    "regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma",
    "tweedie", "binary", "multiclass", "multiclassova", "cross_entropy",
    "cross_entropy_lambda", "lambdarank", "rank_xendcg", "l2", "l1", "mse", "mae", "rmse",
    "mean_squared_error", "mean_absolute_error", "l2_root", "root_mean_squared_error",
    "regression_l2", "softmax", "multiclass_ova", "ova", "ovr", "xentropy", "xentlambda",
    "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart", "custom", "none", "null", "na",
    "mean_absolute_percentage_error",
})  # fmt: skip


def check_settings(given: dict[str, Any]) -> None:
    """Refuse parameters that the library does not allow.

    Raises
    ------
    ViolationError
        ``LightGBMError``.
    """
    for name, (low, high) in LIMITS.items():
        value = given.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        too_low = value < low or (value == low and name in OPEN_AT_ZERO and low == 0)
        if too_low or (high is not None and value > high):
            raise ViolationError(ERROR, f"{name} cannot be {value}")
    objective = given.get("objective") or given.get("application")
    if isinstance(objective, str) and objective not in OBJECTIVES:
        raise ViolationError(ERROR, f"{objective!r} is no objective")
    classes = given.get("num_class")
    if (
        objective in ("multiclass", "softmax", "multiclassova")
        and given.get("complete")
        and (classes is None or (isinstance(classes, int) and classes <= 1))
    ):
        raise ViolationError(ERROR, "several classes need num_class")
    if objective in ("binary", "regression") and isinstance(classes, int) and classes > 1:
        raise ViolationError(ERROR, f"{objective} has no {classes} classes")
    if given.get("boosting") == "rf" or given.get("boosting_type") == "rf":
        share = given.get("bagging_fraction", given.get("subsample", 1.0))
        frequency = given.get("bagging_freq", given.get("subsample_freq", 0))
        features = given.get("feature_fraction", given.get("colsample_bytree", 1.0))
        numbers = all(isinstance(each, (int, float)) for each in (share, frequency, features))
        if numbers and not (frequency > 0 and 0 < share < 1) and not 0 < features < 1:
            raise ViolationError(ERROR, "a forest needs a share of rows or features")


def constants(values: dict[str, Value]) -> dict[str, Any]:
    """Settings as constants; those that are not known are left out."""
    known = {key: settings.constant(value) for key, value in values.items()}
    return {key: value for key, value in known.items() if value is not None}


def check_columns(X: Value | None, what: str = "pandas dtypes") -> None:
    """Refuse columns that are no numbers and no categories.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    if isinstance(X, Frame):
        for label, column in (X.columns or {}).items():
            if column.dtype in ("object", "str") or facts.kind(column) in ("M", "m", "U"):
                raise ViolationError(
                    "ValueError", f"{what} must be int, float or bool: {label!r} is {column.dtype}"
                )
        return
    grid = as_grid(X)
    if grid is not None and grid.home == "numpy" and facts.kind(grid) == "U":
        raise ViolationError("ValueError", "text is no feature")


def method(call: Call, estimator: Estimator) -> Value:
    """A method of an estimator of LightGBM."""
    name = call.name
    if name == "fit":
        return fit(call, estimator)
    if name in ("predict", "predict_proba", "score"):
        if estimator.fitted is False:
            raise ViolationError("NotFittedError", f"{estimator.name}.{name} is called before fit")
        X = call.arg(0, "X")
        check_input(estimator, X)
        if name == "score":
            check_same_rows(X, call.arg(1, "y"))
            return Array("python", (), "float64")
        if name == "predict_proba":
            return Array(
                "numpy", (rows_of(X), estimator.n_classes), "float64", nan=False, low=0.0, high=1.0
            )
        is_class = estimator.name == "LGBMClassifier"
        raw = settings.constant(call.arg(None, "raw_score") or Known(False))
        return Array(
            "numpy", (rows_of(X),) if not raw else None, None if is_class else "float64", nan=False
        )
    return Unknown()


def check_input(owner: Estimator | Thing, X: Value | None) -> None:
    """Refuse data that are not as those that were learnt from.

    Raises
    ------
    ViolationError
        If there are other numbers of columns, other categories, or text.
    """
    grid = as_grid(X)
    if (
        grid is not None
        and grid.shape is not None
        and len(grid.shape) == 1
        and not isinstance(X, Frame)
    ):
        exception = "ValueError"
        raise ViolationError(exception, "a table is due")
    check_columns(X)
    features = owner.features if isinstance(owner, Estimator) else owner.facts.get("features")
    seen = owner.facts.get("seen")
    width = width_of(X)
    is_estimator = isinstance(owner, Estimator)
    if isinstance(seen, Frame) and isinstance(X, Frame):
        ours = [n for n, c in (seen.columns or {}).items() if c.dtype == "category"]
        theirs = [n for n, c in (X.columns or {}).items() if c.dtype == "category"]
        if len(ours) != len(theirs) and seen.is_complete and X.is_complete and width == features:
            raise ViolationError(
                "ValueError", "train and valid dataset categorical_feature do not match."
            )
    if isinstance(features, int) and width is not None and width != features:
        exception = "ValueError" if is_estimator else ERROR
        raise ViolationError(exception, f"{features} features were learnt and {width} are given")


def fit(call: Call, estimator: Estimator) -> Value:
    """Learn."""
    X, y = call.arg(0, "X"), call.arg(1, "y")
    given = constants(estimator.settings)
    name = estimator.name
    grid_X = as_grid(X)
    if grid_X is not None and grid_X.shape is not None and len(grid_X.shape) != 2:
        raise ViolationError("ValueError", "a table is due")
    check_columns(X)
    check_same_rows(X, y)
    check_same_rows(X, call.arg(2, "sample_weight"), "rows and weights")
    grid = as_grid(y)
    if grid is not None:
        if facts.has_nan(grid) or facts.has_inf(grid):
            raise ViolationError("ValueError", "labels have gaps or are infinite")
        if grid.shape is not None and len(grid.shape) == 2 and (grid.shape[1] or 0) > 1:
            raise ViolationError("ValueError", "labels are a vector")
        if name == "LGBMClassifier" and kind_of_target(y) == "continuous":
            raise ViolationError("ValueError", "fractions are no classes")
        if name in ("LGBMRegressor", "LGBMRanker") and (
            grid.dtype == "str" or grid.element_types == ("str",)
        ):
            raise ViolationError("ValueError", "labels are numbers")
        estimator.classes, estimator.n_classes = facts.values_of(grid), facts.distinct(grid)
    if name == "LGBMRanker":
        check_groups(call.arg(None, "group"), rows_of(X), call.is_complete)
        low = None if grid is None else facts.lowest(grid)
        if low is not None and low < 0:
            raise ViolationError(ERROR, "labels of ranks are not negative")
        high = None if grid is None else facts.highest(grid)
        if high is not None and high > 30 and "label_gain" not in given:
            raise ViolationError(ERROR, f"the label {high:g} of a rank is too large")
        if grid is not None and facts.are_whole(grid) is False:
            raise ViolationError(ERROR, "labels of ranks are whole")
    check_settings(given)
    callbacks = iteration.elements(call.kwargs["callbacks"]) if "callbacks" in call.kwargs else []
    stops = any(
        isinstance(e, Thing) and e.path == "lightgbm.early_stopping" for e in callbacks or []
    )
    if (
        stops
        and call.arg(None, "eval_set") is None
        and call.arg(None, "eval_X") is None
        and call.is_complete
    ):
        raise ViolationError("ValueError", "stopping early needs a set to evaluate")
    for pair in iteration.elements(call.kwargs.get("eval_set", Unknown())) or []:
        parts = iteration.elements(pair)
        if parts is not None and len(parts) == 2:
            check_same_rows(parts[0], parts[1])
            width = width_of(parts[0])
            if width is not None and width_of(X) is not None and width != width_of(X):
                raise ViolationError(ERROR, "the set to evaluate has other features")
    estimator.fitted, estimator.features = True, width_of(X)
    estimator.facts["seen"] = X
    is_named = isinstance(X, Frame) and X.columns is not None and X.is_complete
    estimator.names = tuple(X.columns or {}) if isinstance(X, Frame) and is_named else None
    estimator.learnt = None
    return estimator


def check_groups(value: Value | None, rows: int | None, is_complete: bool = True) -> None:
    """Refuse sizes of queries that do not sum to the rows.

    Raises
    ------
    ViolationError
        ``LightGBMError``; ``ValueError`` if there are none.
    """
    if value is None or (isinstance(value, Known) and value.data is None):
        if is_complete:
            raise ViolationError("ValueError", "a ranker needs the sizes of queries")
        return
    grid = as_grid(value)
    if grid is None or rows is None:
        return
    if grid.data is not None and grid.data.dtype.kind in "iu":
        if int(grid.data.sum()) != rows:
            raise ViolationError(ERROR, f"queries have {int(grid.data.sum())} rows of {rows}")
        return
    low, high, is_attained = facts.bounds(grid)
    if grid.length is not None and low is not None and high is not None and is_attained:
        least = low * (grid.length - 1) + high
        most = high * (grid.length - 1) + low
        if least > rows or most < rows:
            raise ViolationError(ERROR, f"queries cannot have {rows} rows in all")


def learnt(value: Estimator, name: str, known: frozenset[str]) -> Value:
    """An attribute that is there after fit.

    Raises
    ------
    ViolationError
        If it did not learn, or there is no such attribute.
    """
    if name not in known and name not in ("classes_", "n_classes_", "feature_names_in_"):
        raise ViolationError("AttributeError", f"{value.name} has no attribute {name}")
    if value.fitted is False:
        raise ViolationError("NotFittedError", f"{value.name}.{name} is there after fit")
    if name == "booster_":
        features = value.features
        path = "lightgbm.Booster"
        single = value.name != "LGBMClassifier" or value.n_classes == 2
        return Thing(
            path,
            {
                "features": features,
                "seen": value.facts.get("seen"),
                "single": single
                if value.n_classes is not None or value.name != "LGBMClassifier"
                else None,
            },
        )
    if name == "feature_importances_":
        return Array("numpy", (value.features,), "int64")
    if name in ("evals_result_", "best_score_"):
        return Mapping({}, False)
    return Unknown()
