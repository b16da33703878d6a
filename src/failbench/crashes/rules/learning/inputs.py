"""What fitted estimators refuse as input."""

from __future__ import annotations

from typing import Any

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.values import Array, Estimator, Frame, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.kinds import SEARCHES, STATELESS
from failbench.crashes.rules.learning.requirements import check_composed
from failbench.crashes.rules.learning.samples import as_grid, check_features, rows_of, width_of


def check_neighbours(estimator: Estimator) -> None:
    """Refuse more neighbours than rows were learnt."""
    seen = estimator.facts.get("seen")
    count = settings.constant(estimator.settings.get("n_neighbors", Known(5)))
    rows = rows_of(seen) if isinstance(seen, (Frame, Array)) else None
    if isinstance(count, int) and rows is not None and count > rows:
        raise ViolationError("ValueError", f"{count} neighbours of {rows} rows")


def check_input(estimator: Estimator, X: Value) -> None:
    """Refuse data that are not as those that were learnt from.

    Raises
    ------
    ViolationError
        If they have other columns, or are no features.
    """
    check_features(X, estimator.name)
    check_composed(estimator, X)
    width = width_of(X)
    names = (
        list(X.columns or {})
        if isinstance(X, Frame) and X.columns is not None and X.is_complete
        else None
    )
    if (
        (
            estimator.names is not None
            and names is not None
            and estimator.name not in ("ColumnTransformer", *STATELESS)
        )
        and all(isinstance(each, str) for each in names)
        and tuple(names) != tuple(estimator.names)
    ):
        raise ViolationError(
            "ValueError", "features have other names, or another order, than was learnt"
        )
    if estimator.features is not None and width is not None and width != estimator.features:
        if estimator.name not in ("ColumnTransformer", "Pipeline", *SEARCHES, *STATELESS):
            raise ViolationError(
                "ValueError",
                f"{estimator.name} learnt {estimator.features} features and is given {width}",
            )
        if estimator.name == "Pipeline" and width < estimator.features:
            raise ViolationError(
                "ValueError", f"{estimator.features} features were learnt and {width} are given"
            )
        if estimator.name == "Pipeline" and not any(
            isinstance(s, Estimator) and s.name == "ColumnTransformer"
            for s in (estimator.steps or {}).values()
        ):
            raise ViolationError(
                "ValueError", f"{estimator.features} features were learnt and {width} are given"
            )
    if estimator.name in ("OneHotEncoder", "OrdinalEncoder"):
        check_vocabulary(estimator, X)


def check_vocabulary(estimator: Estimator, X: Value | None) -> None:
    """Refuse categories that were not learnt.

    Raises
    ------
    ViolationError
        If one is certain to occur.
    """
    if estimator.name == "LabelEncoder":
        grid = as_grid(X)
        if grid is None or estimator.classes is None:
            bounds = estimator.facts.get("bounds")
            if grid is not None and bounds is not None and bounds[2]:
                high = facts.highest(grid)
                if high is not None and high > bounds[1]:
                    raise ViolationError("ValueError", f"the label {high:g} was not learnt")
            return
        for each in facts.seen(grid):
            if each not in estimator.classes:
                raise ViolationError("ValueError", f"the label {each!r} was not learnt")
        return
    handling = settings.constant(estimator.settings.get("handle_unknown", Known("error")))
    seen = estimator.facts.get("seen")
    told = estimator.facts.get("categories")
    if handling != "error" or not isinstance(X, (Frame, Array)):
        return
    for place, column in enumerate(_columns(X)):
        learnt: tuple[Any, ...] | None = None
        if isinstance(seen, (Frame, Array)):
            columns = _columns(seen)
            learnt = facts.values_of(columns[place]) if place < len(columns) else None
        elif told is not None and place < len(told):
            learnt = told[place]
        if learnt is None:
            continue
        for each in facts.seen(column):
            if each not in learnt:
                raise ViolationError("ValueError", f"the category {each!r} was not learnt")


def _columns(value: Frame | Array) -> list[Array]:
    if isinstance(value, Frame):
        return list((value.columns or {}).values())
    if value.data is not None and value.data.ndim == 2:
        return [
            Array("numpy", (len(value.data),), value.dtype, value.data[:, p])
            for p in range(value.data.shape[1])
        ]
    if value.shape is not None and len(value.shape) == 2 and value.shape[1] == 1:
        return [value]
    return []
