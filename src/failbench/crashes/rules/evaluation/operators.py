"""Operators of one value, truth, and layouts of text."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.evaluation.computed import UNARY, folded, kind_of
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import is_plain
from failbench.crashes.rules.knowledge.shapes import derived, of_graph
from failbench.crashes.rules.knowledge.state import State, truth
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def unary(name: str, value: Value, _state: State) -> Value:
    """The value of ``<operator> value``."""
    if name == "Not":
        is_true = certain_truth(value)
        return Unknown() if is_true is None else Known(not is_true)
    if isinstance(value, Frame):
        return value
    if not isinstance(value, Array):
        if isinstance(value, (Sequence, Mapping)) or (
            isinstance(value, Known) and (value.data is None or isinstance(value.data, str))
        ):
            raise ViolationError("TypeError", f"{name} is not there for a {kind_of(value)}")
        if isinstance(value, Known) and is_plain(value.data):
            return folded(UNARY[name], value.data)
        return Unknown()
    kind = facts.kind(value)
    if name == "Invert" and kind in ("f", "U", "M"):
        raise ViolationError("TypeError", f"~ is not there for {value.dtype}")
    if name == "USub" and (kind == "b" or value.dtype == "str") and value.home != "python":
        exception = "RuntimeError" if value.home == "torch" else "TypeError"
        if value.dtype == "str" and value.home == "numpy":
            exception = "UFuncTypeError"
        raise ViolationError(exception, f"a minus is not there for {value.dtype}")
    made = derived(value, value.shape)
    made.labels = value.labels
    if value.data is not None and value.data.dtype.kind in "biuf":
        made.data = np.asarray(UNARY[name](value.data))
    made.nan, made.inf = value.nan, value.inf
    if name == "USub" and value.low is not None and value.high is not None:
        made.low, made.high, made.is_attained = -value.high, -value.low, value.is_attained
    return of_graph(made, value) if value.home == "torch" else made


def certain_truth(value: Value) -> bool | None:
    """Whether a value is true, or None if that is not known.

    Raises
    ------
    ViolationError
        If it is an array with more than one element, a series or a table.
    """
    if isinstance(value, Frame):
        raise ViolationError("ValueError", "a table has no truth value")
    if isinstance(value, Array):
        if value.home in ("series", "index") and not (value.home == "series" and value.rank == 0):
            raise ViolationError("ValueError", "a series has no truth value")
        if value.home == "torch" and value.device == "meta":
            raise ViolationError("RuntimeError", "a tensor without data has no truth value")
        if value.size is not None and value.size > 1:
            exception = "RuntimeError" if value.home == "torch" else "ValueError"
            raise ViolationError(exception, "more than one element has no truth value")
        if value.uniques is not None and len(value.uniques) == 1 and value.size == 1:
            return bool(value.uniques[0])
    if isinstance(value, Mapping):
        return True if value.items else False if value.is_complete else None
    return truth(value)


def check_format(value: Value, layout: str) -> None:
    """Refuse a layout in a text that a value does not have.

    Raises
    ------
    ViolationError
        If a layout for numbers is asked of an array, a list, None or text.
    """
    if layout in ("", "?"):
        return
    if isinstance(value, (Sequence, Mapping, Frame, Function)) or (
        isinstance(value, Known) and value.data is None
    ):
        raise ViolationError(
            "TypeError", f"the layout {layout!r} is not there for a {kind_of(value)}"
        )
    if (
        isinstance(value, Array)
        and value.home in ("numpy", "series", "index", "torch")
        and value.shape is not None
        and (value.shape != () or value.home == "series")
    ):
        raise ViolationError("TypeError", f"the layout {layout!r} is not there for an array")
