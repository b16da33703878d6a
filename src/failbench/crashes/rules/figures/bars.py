"""Bars, counts and shares."""

from __future__ import annotations

from failbench.crashes.rules.figures.sizes import grid_of, size_of
from failbench.crashes.rules.figures.words import check_words
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def bars(call: Call) -> Value:
    """Bars.

    Raises
    ------
    ViolationError
        If there are other numbers of places and heights, or heights are text.
    """
    check_words(call)
    x, height = call.arg(0, "x", "y"), call.arg(1, "height", "width")
    left, right = size_of(x), size_of(height)
    if left is not None and right is not None and left != right and 1 not in (left, right):
        raise ViolationError("ValueError", f"{left} places and {right} heights do not broadcast")
    grid = grid_of(height)
    if grid is not None and grid.dtype == "str":
        raise ViolationError("TypeError", "heights are numbers")
    labels = call.kwargs.get("tick_label")
    if isinstance(labels, Sequence) and left is not None and labels.size not in (left, None):
        raise ViolationError("ValueError", f"{labels.size} names are given for {left} bars")
    names = call.kwargs.get("label")
    if isinstance(names, Sequence) and left is not None and names.size not in (left, None):
        raise ViolationError("ValueError", f"{names.size} labels are given for {left} bars")
    for name in ("yerr", "xerr"):
        _check_errors(call.kwargs.get(name), left)
    return Unknown()


def _check_errors(value: Value | None, count: int | None) -> None:
    grid = grid_of(value)
    if grid is None:
        return
    low = facts.lowest(grid)
    if low is not None and low < 0:
        raise ViolationError("ValueError", "errors are not negative")
    if grid.shape is not None and count is not None:
        is_right = grid.shape in ((), (count,), (1,), (2, count), (2, 1)) or None in grid.shape
        if not is_right:
            raise ViolationError(
                "ValueError", f"errors of {shown(grid.shape)} are given for {count} points"
            )


def errors(call: Call) -> Value:
    """Points with errors."""
    check_words(call)
    x, y = size_of(call.arg(0, "x")), size_of(call.arg(1, "y"))
    if x is not None and y is not None and x != y:
        raise ViolationError("ValueError", f"'x' and 'y' must have the same size, not {x} and {y}")
    _check_errors(call.arg(2, "yerr"), y)
    _check_errors(call.arg(3, "xerr"), x)
    return Unknown()


def histogram(call: Call) -> Value:
    """A histogram.

    Raises
    ------
    ViolationError
        If weights have another shape, bins do not rise, or values are not finite.
    """
    check_words(call)
    grid, weights = grid_of(call.arg(0, "x")), grid_of(call.kwargs.get("weights"))
    if (
        grid is not None
        and weights is not None
        and None not in (grid.size, weights.size)
        and grid.size != weights.size
    ):
        raise ViolationError("ValueError", f"{weights.size} weights of {grid.size} values")
    bins = grid_of(call.arg(1, "bins"))
    if bins is not None and bins.data is not None:
        if (
            bins.data.ndim == 1
            and bins.data.dtype.kind in "if"
            and (bins.data[1:] < bins.data[:-1]).any()
        ):
            raise ViolationError("ValueError", "bins must increase")
        if bins.data.ndim == 0 and bins.data.dtype.kind in "if" and bins.data <= 0:
            raise ViolationError("ValueError", "a number of bins is positive")
        if bins.data.ndim == 0 and bins.data.dtype.kind == "f":
            raise ViolationError("TypeError", "a number of bins is whole")
    if grid is not None and facts.has_inf(grid) and call.arg(2, "range") is None:
        raise ViolationError("ValueError", "a range of values that are not finite")
    return Sequence("tuple", [Unknown(), Unknown(), Unknown()])


def pie(call: Call) -> Value:
    """A pie.

    Raises
    ------
    ViolationError
        If shares are negative, not finite or text, or there are other numbers of names.
    """
    check_words(call)
    value = call.arg(0, "x")
    grid = grid_of(value)
    for name in ("labels", "explode"):
        other = call.arg({"labels": 2, "explode": 1}[name], name)
        count = size_of(other)
        if grid is not None and count is not None and grid.size is not None and count != grid.size:
            raise ViolationError("ValueError", f"{count} {name} are given for {grid.size} shares")
    if grid is None:
        return Unknown()
    low = facts.lowest(grid)
    if low is not None and low < 0:
        raise ViolationError("ValueError", "shares are not negative")
    if facts.has_nan(grid) or facts.has_inf(grid):
        raise ViolationError("ValueError", "shares are finite")
    if grid.dtype == "str":
        raise ViolationError("ValueError", "shares are numbers")
    if grid.rank is not None and grid.rank > 1 and not (grid.shape and 1 in grid.shape):
        raise ViolationError("ValueError", "shares are a vector")
    return Unknown()


def boxes(call: Call) -> Value:
    """Boxes and violins.

    Raises
    ------
    ViolationError
        If there are other numbers of names or positions than of boxes.
    """
    check_words(call)
    value = call.arg(0, "x", "dataset")
    grid = grid_of(value) if not isinstance(value, Sequence) else None
    count = None
    if grid is not None and grid.shape is not None and len(grid.shape) in (1, 2):
        count = 1 if len(grid.shape) == 1 else grid.shape[1]
        if isinstance(value, Array) and value.member is not None:
            count = None
    elif isinstance(value, Sequence) and value.items is not None:
        is_flat = all(isinstance(e, Known) for e in value.items)
        count = 1 if is_flat else len(value.items)
    for name in ("labels", "tick_labels", "positions"):
        other = call.kwargs.get(name)
        size = size_of(other)
        if size is not None and count is not None and size != count:
            raise ViolationError("ValueError", f"{size} {name} are given for {count} boxes")
    return Unknown()
