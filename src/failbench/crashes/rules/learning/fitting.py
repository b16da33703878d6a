"""Estimators that are fitted."""

from __future__ import annotations

from dataclasses import replace

from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.interfaces import members, parameters
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Bound,
    Estimator,
    Frame,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.answers import transformed
from failbench.crashes.rules.learning.kinds import COMPOSED, SEARCHES, is_a, unfitted
from failbench.crashes.rules.learning.parameters import check_parameter
from failbench.crashes.rules.learning.requirements import (
    check_amounts,
    check_composed,
    check_target,
)
from failbench.crashes.rules.learning.samples import (
    as_grid,
    check_features,
    check_same_rows,
    width_of,
)


def fit(call: Call, estimator: Estimator) -> None:
    """Learn.

    Raises
    ------
    ViolationError
        If settings are none that are allowed, or the data do not fit.
    """
    settings.check(estimator.path, estimator.settings)
    X, y = call.arg(0, "X", "raw_documents"), call.arg(1, "y", "Y")
    if estimator.name in ("LabelEncoder", "LabelBinarizer"):
        y = call.arg(0, "y")
        _fit_labels(estimator, y)
        return
    check_composed(estimator, X)
    check_features(X, estimator.name)
    needs_y = is_a(estimator, "ClassifierMixin") or is_a(estimator, "RegressorMixin")
    if estimator.name in (*SEARCHES, *COMPOSED):
        needs_y = False
    if y is not None and needs_y:
        if isinstance(y, Known) and y.data is None:
            raise ViolationError("ValueError", f"{estimator.name} needs labels")
        check_same_rows(X, y)
        check_target(estimator, y)
    elif needs_y and y is None and call.is_complete:
        raise ViolationError(
            "TypeError" if _requires_y(estimator) else "ValueError",
            f"{estimator.name} needs labels",
        )
    elif y is not None:
        check_same_rows(X, y)
    weight = call.arg(None, "sample_weight")
    check_same_rows(X, weight, "rows and weights")
    check_amounts(estimator, X, y)
    if estimator.name in SEARCHES:
        _fit_search(call, estimator, X, y)
    elif estimator.steps is not None:
        _fit_steps(call, estimator, X, y)
    estimator.fitted = True
    estimator.features = width_of(X)
    is_named = isinstance(X, Frame) and X.columns is not None and X.is_complete
    keys = list(X.columns or {}) if isinstance(X, Frame) and is_named else []
    estimator.names = tuple(keys) if keys and all(isinstance(key, str) for key in keys) else None
    estimator.learnt = None
    grid = as_grid(y)
    if grid is not None and grid.rank is not None and grid.rank > 1:
        estimator.facts["several"] = True
    elif grid is not None and is_a(estimator, "ClassifierMixin"):
        estimator.classes, estimator.n_classes = facts.values_of(grid), facts.distinct(grid)
    estimator.facts["seen"] = X


def _requires_y(estimator: Estimator) -> bool:
    known = parameters(f"{estimator.path}.fit")
    return known is not None and "y" in known.required


def _fit_labels(estimator: Estimator, y: Value | None) -> None:
    grid = as_grid(y)
    estimator.fitted = True
    if grid is not None:
        if (
            estimator.name == "LabelEncoder"
            and (grid.rank or 1) > 1
            and grid.shape
            and grid.shape[-1] != 1
        ):
            raise ViolationError("ValueError", "labels are a vector")
        estimator.classes, estimator.n_classes = facts.values_of(grid), facts.distinct(grid)
        if estimator.classes is None:
            estimator.facts["bounds"] = facts.bounds(grid)


def _part(X: Value | None, columns: Value | None) -> Value | None:
    from_names = names_of(columns)
    if (
        isinstance(X, Frame)
        and X.columns is not None
        and from_names
        and all(n in X.columns for n in from_names)
    ):
        if isinstance(columns, Known):
            return X.columns[from_names[0]]
        return Frame({name: X.columns[name] for name in from_names}, True, X.rows, X.labels)
    return None


def _fit_steps(call: Call, estimator: Estimator, X: Value | None, y: Value | None) -> None:
    given = [each for each in (X, y) if each is not None]
    if estimator.name == "ColumnTransformer":
        for name, step in (estimator.steps or {}).items():
            if isinstance(step, Estimator):
                part = _part(X, (estimator.facts.get("columns") or {}).get(name))
                if part is not None:
                    fit(replace(call, args=[part, *given[1:]], kwargs={}, receiver=step), step)
                step.fitted = True
        return
    current: Value = X or Unknown()
    steps = list((estimator.steps or {}).values())
    if estimator.name != "Pipeline":
        for step in steps:
            if isinstance(step, Estimator):
                inner = unfitted(step)
                call.state.call(Bound(inner, "fit"), given)
        return
    for place, step in enumerate(steps):
        if not isinstance(step, Estimator):
            if not (isinstance(step, Known) and step.data in ("passthrough", None)):
                current = Unknown()
            continue
        is_last = place == len(steps) - 1
        call.state.call(Bound(step, "fit"), [current, *given[1:]])
        step.fitted = True
        if not is_last:
            if "transform" not in (members(step.path) or {"transform"}):
                raise ViolationError(
                    "TypeError", f"{step.name} is in the midst of a pipeline and transforms nothing"
                )
            current = transformed(replace(call, args=[current], kwargs={}, receiver=step), step)


def _fit_search(call: Call, estimator: Estimator, X: Value | None, y: Value | None) -> None:
    inner = estimator.settings.get("estimator")
    grid = estimator.settings.get("param_grid") or estimator.settings.get("param_distributions")
    settings.check_scoring(estimator.settings.get("scoring"))
    if not isinstance(inner, Estimator):
        return
    grids = (
        [grid]
        if isinstance(grid, Mapping)
        else grid.items or []
        if isinstance(grid, Sequence)
        else []
    )
    for each in grids:
        for key in each.items if isinstance(each, Mapping) else ():
            check_parameter(inner, str(key))
    best = unfitted(inner)
    given = [each for each in (X, y) if each is not None]
    call.state.call(Bound(best, "fit"), given)
    estimator.facts["best"] = best
