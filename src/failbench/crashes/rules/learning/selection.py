"""Splits and cross-validation of scikit-learn."""

from __future__ import annotations

import math
from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.rows import part_of
from failbench.crashes.rules.frames.rows import rows_of as with_rows
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.interfaces import class_of
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
    Estimator,
    Frame,
    Known,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.kinds import unfitted
from failbench.crashes.rules.learning.samples import as_grid, check_same_rows, rows_of


def split(call: Call) -> Value:
    """Data in two parts.

    Raises
    ------
    ViolationError
        If lengths differ, a part would be empty, or a class is too small to be in both.
    """
    if not call.args and call.is_complete:
        raise ViolationError("ValueError", "there is nothing to split")
    for each in call.args[1:]:
        check_same_rows(call.args[0], each, "data to split")
    rows = rows_of(call.args[0]) if call.args else None
    stratify = call.arg(None, "stratify")
    sizes = _sizes(call, rows)
    if stratify is not None and not (isinstance(stratify, Known) and stratify.data is None):
        check_strata(stratify, sizes)
        if call.args:
            check_same_rows(call.args[0], stratify, "data and strata")
        if settings.constant(call.arg(None, "shuffle") or Known(True)) is False:
            raise ViolationError("ValueError", "strata need rows to be shuffled")
    parts: list[Value] = []
    for each in call.args:
        parts += [_part(each, sizes[0]), _part(each, sizes[1])]
    return Sequence("list", parts if call.is_complete else None)


def _sizes(call: Call, rows: int | None) -> tuple[int | None, int | None]:
    test, train = call.number(None, "test_size"), call.number(None, "train_size")
    if test is not None and train is not None and test < 1 and train < 1 and test + train > 1:
        raise ViolationError("ValueError", "the parts are more than there is")
    if test is not None and test > 1 and rows is not None and test >= rows:
        raise ViolationError("ValueError", f"a part of {test:g} is taken of {rows} rows")
    if rows is None or call.arg(None, "train_size") is not None:
        return None, None
    if call.arg(None, "test_size") is None:
        test = 0.25
    if test is None:
        return None, None
    size = math.ceil(test * rows) if test < 1 else int(test)
    if rows - size <= 0:
        raise ViolationError("ValueError", f"nothing is left of {rows} rows")
    return rows - size, size


def check_strata(value: Value, sizes: tuple[int | None, int | None] = (None, None)) -> None:
    """Refuse strata of which one has a single member.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    grid = as_grid(value)
    if grid is None:
        return
    if grid.data is not None and grid.data.ndim == 1:
        values = grid.data.tolist()
        if values and min(values.count(each) for each in set(values)) < 2:
            raise ViolationError("ValueError", "a stratum has a single member")
    count = facts.distinct(grid)
    if count is not None and any(size is not None and size < count for size in sizes):
        raise ViolationError("ValueError", f"a part has fewer rows than there are {count} strata")
    if count is not None and grid.size is not None and grid.size < 2 * count:
        raise ViolationError("ValueError", "a stratum has a single member")
    if facts.has_nan(grid):
        raise ViolationError("ValueError", "strata have gaps")


def _part(value: Value, rows: int | None) -> Value:
    if isinstance(value, Frame):
        made = with_rows(value, rows)
        for name, column in (made.columns or {}).items():
            old = (value.columns or {})[name]
            column.nan = False if facts.has_nan(old) is False else None
        return made
    if isinstance(value, Array):
        shape = None if value.shape is None else (rows, *value.shape[1:])
        if value.home == "series":
            return part_of(value, rows)
        made_array = derived(value, shape, keep=True)
        low, high, _ = facts.bounds(value)
        made_array.low, made_array.high = low, high
        made_array.nan = False if facts.has_nan(value) is False else None
        made_array.inf = False if facts.has_inf(value) is False else None
        return made_array
    if isinstance(value, Sequence):
        return Sequence("list", None, rows)
    return Unknown()


def crossed(call: Call) -> Value:
    """Cross-validation: an estimator learns on parts.

    Raises
    ------
    ViolationError
        If it would not learn from the whole, or there are more folds than rows.
    """
    given = settings.are_given(call)
    estimator, X, y = given.get("estimator"), given.get("X"), given.get("y")
    check_same_rows(X, y)
    folds = settings.constant(given.get("cv", Known(5)))
    rows = rows_of(X)
    if isinstance(folds, int) and rows is not None and folds > rows:
        raise ViolationError("ValueError", f"{folds} folds of {rows} rows")
    grid = as_grid(y)
    if isinstance(estimator, Estimator):
        if (
            grid is not None
            and grid.data is not None
            and isinstance(folds, int)
            and folds is not True
        ):
            from_classes = "ClassifierMixin" in _bases(estimator)
            values = grid.data.ravel().tolist()
            if from_classes and values and max(values.count(each) for each in set(values)) < folds:
                raise ViolationError("ValueError", f"no class has {folds} members")
        data = [each for each in (X, y) if each is not None]
        try:
            call.state.call(Bound(unfitted(estimator), "fit"), data)
        except ViolationError as violation:
            raise ViolationError("ValueError", violation.reason) from violation
    if call.name == "cross_val_score":
        return Array("numpy", (folds if isinstance(folds, int) else None,), "float64")
    if call.name == "cross_val_predict":
        return Array("numpy", (rows,) if given.get("method") is None else None)
    return Unknown()


def _bases(estimator: Estimator) -> list[str]:
    known = class_of(estimator.path)
    return [] if known is None else list(known["bases"])


def splitter(call: Call) -> Value:
    """A way of splitting.

    Raises
    ------
    ViolationError
        If there are fewer than two parts, or a seed without shuffling.
    """
    count = call.integer(0, "n_splits")
    if call.name in ("KFold", "StratifiedKFold", "GroupKFold", "TimeSeriesSplit"):
        if count is not None and count < 2:
            raise ViolationError("ValueError", f"{count} folds are too few")
        seed = call.arg(None, "random_state")
        is_seeded = isinstance(seed, Known) and seed.data is not None
        if call.name != "TimeSeriesSplit" and is_seeded and call.flag(1, "shuffle") is False:
            raise ViolationError("ValueError", "a seed without shuffling has no effect")
    return Thing(
        call.path, {"n_splits": count if count is not None or call.arg(0, "n_splits") else 5}
    )


def parts(call: Call) -> Value:
    """The parts of a way of splitting."""
    owner = call.receiver
    X, y = call.arg(0, "X"), call.arg(1, "y")
    check_same_rows(X, y)
    rows = rows_of(X)
    count = owner.facts.get("n_splits") if isinstance(owner, Thing) else None
    needs = {"GroupKFold": (2, "groups"), "LeaveOneGroupOut": (2, "groups")}
    name = call.path.split(".")[-2]
    if name in needs and call.arg(*needs[name]) is None:
        raise ViolationError("ValueError", "groups are due")
    if isinstance(count, int) and rows is not None and "Fold" in name and count > rows:
        raise ViolationError("ValueError", f"{count} folds of {rows} rows")
    places = Array("numpy", (None,), "int64", low=0, high=None if rows is None else rows - 1)
    return Sequence("iterator", None, None, Sequence("tuple", [places, places]))


SPLITTERS: Final = ("KFold", "StratifiedKFold", "GroupKFold", "TimeSeriesSplit", "ShuffleSplit",
    "StratifiedShuffleSplit", "LeaveOneOut", "LeaveOneGroupOut", "RepeatedKFold")  # fmt: skip

FUNCTIONS: Final[dict[str, Handler]] = {
    "sklearn.model_selection.train_test_split": split,
    **{
        f"sklearn.model_selection.{name}": crossed
        for name in ("cross_val_score", "cross_validate", "cross_val_predict")
    },
    **{f"sklearn.model_selection.{name}": splitter for name in SPLITTERS},
    **{f"sklearn.model_selection.{name}.split": parts for name in SPLITTERS},
}
