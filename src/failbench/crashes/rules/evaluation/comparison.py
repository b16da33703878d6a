"""Comparisons."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.evaluation.computed import COMPARE, ORDERING, folded, kind_of
from failbench.crashes.rules.evaluation.operands import aligned, as_array, check_order, main_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.devices import check_same_device
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import broadcast, derived, product
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Frame,
    Known,
    Mapping,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def compare(name: str, left: Value, right: Value, _state: State) -> Value:
    """The value of a comparison.

    Raises
    ------
    ViolationError
        If shapes or types do not go together, or labels of series differ.
    """
    if name in ("Is", "IsNot"):
        return _identity(name, left, right)
    if name in ("In", "NotIn"):
        return _membership(name, left, right)
    if isinstance(left, Frame) or isinstance(right, Frame):
        return _compared_frame(name, left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        a, b = as_array(left), as_array(right)
        array = left if isinstance(left, Array) else right
        assert isinstance(array, Array)
        if a is None or b is None:
            if (
                name in ORDERING
                and isinstance((right if array is left else left), Known)
                and array.home != "python"
            ):
                raise ViolationError("TypeError", "an array is compared by order with None")
            return derived(array, array.shape, "bool") if array.home != "python" else Unknown()
        if not isinstance(left, Array):
            a.home = "python" if isinstance(left, Known) else "numpy"
        if not isinstance(right, Array):
            b.home = "python" if isinstance(right, Known) else "numpy"
        return _compared(name, a, b)
    try:
        a_data, b_data = concrete(left), concrete(right)
    except NotConcreteError:
        kinds = kind_of(left), kind_of(right)
        if (
            name in ORDERING
            and None not in kinds
            and kinds[0] != kinds[1]
            and not set(kinds) <= {"int", "float", "bool"}
        ):
            raise ViolationError("TypeError", f"{kinds[0]} and {kinds[1]} have no order") from None
        return Unknown()
    if isinstance(a_data, np.generic | np.ndarray) or isinstance(b_data, np.generic | np.ndarray):
        return Unknown()
    try:
        return folded(COMPARE[name], a_data, b_data)
    except ValueError:
        return Unknown()


def _compared(name: str, left: Array, right: Array) -> Value:
    main = main_of(left, right)
    check_same_device(left, right)
    if name in ORDERING:
        check_order(name, left, right, main)
    if left.home == right.home == "series":
        if left.length is not None and right.length is not None and left.length != right.length:
            raise ViolationError("ValueError", "series with other labels are compared")
        shape = left.shape
    elif "series" in (left.home, right.home):
        shape = aligned(left, right)
    else:
        shape = broadcast(left, right)
    size = None if shape is None else product(shape)
    memory.check(size, "bool", main.home == "torch")
    made = derived(main, shape, "bool")
    made.needs_grad, made.is_leaf, made.graph = False, True, ()
    made.categories = None
    if main.home == "series":
        made.labels = main.labels
    if left.data is not None and right.data is not None and size is not None and size <= FOLDED:
        value = folded(COMPARE[name], left.data, right.data)
        if isinstance(value, Known):
            value = of_data(np.asarray(value.data))
        if isinstance(value, Array) and value.data is not None and value.shape == shape:
            made.data = value.data
            return Known(bool(made.data)) if main.home == "python" else made
    _decided(name, left, right, made)
    if main.home == "python" and made.uniques is not None and len(made.uniques) == 1:
        return Known(made.uniques[0])
    return made


def _decided(name: str, left: Array, right: Array, made: Array) -> None:
    """What bounds say of the outcome of a comparison with one number."""
    low, high, _is_attained = facts.bounds(left)
    other, other_high, _ = facts.bounds(right)
    if low is None or high is None or other is None or other != other_high or not left.size:
        return
    outcomes = {
        "Lt": (high < other, low >= other), "LtE": (high <= other, low > other),
        "Gt": (low > other, high <= other), "GtE": (low >= other, high < other),
        "Eq": (low == high == other, other < low or other > high),
        "NotEq": (other < low or other > high, low == high == other),
    }  # fmt: skip
    always, never = outcomes[name]
    values = facts.values_of(left)
    if name == "Eq" and values is not None and other not in values:
        never = True
    if facts.has_nan(left) is not False:
        always = always and name == "NotEq"
    if always or never:
        made.uniques = (bool(always),)
        made.low = made.high = float(always)
        made.is_attained = True


def _compared_frame(name: str, left: Value, right: Value) -> Value:
    frame = left if isinstance(left, Frame) else right
    assert isinstance(frame, Frame)
    other = right if frame is left else left
    if isinstance(other, Frame) and frame.columns is not None and other.columns is not None:
        differ = list(frame.columns) != list(other.columns) or (
            frame.rows is not None and other.rows is not None and frame.rows != other.rows
        )
        if differ and frame.is_complete and other.is_complete:
            raise ViolationError("ValueError", "tables with other labels are compared")
    columns = None
    if frame.columns is not None:
        taken = as_array(other)
        for column in frame.columns.values() if taken is not None and taken.rank == 0 else ():
            if name in ORDERING and taken is not None:
                check_order(name, column, taken, column)
        columns = {key: derived(each, each.shape, "bool") for key, each in frame.columns.items()}
    return Frame(columns, frame.is_complete, frame.rows, frame.labels)


def _identity(name: str, left: Value, right: Value) -> Value:
    if isinstance(left, Known) and isinstance(right, Known):
        constants = (None, True, False)
        if any(left.data is each for each in constants) or any(
            right.data is each for each in constants
        ):
            return Known((left.data is right.data) is (name == "Is"))
    none = [each for each in (left, right) if isinstance(each, Known) and each.data is None]
    other = right if none and none[0] is left else left
    if none and not isinstance(other, (Unknown, Known)):
        return Known(name == "IsNot")
    return Unknown()


def _membership(name: str, left: Value, right: Value) -> Value:
    if isinstance(right, Known) and not isinstance(right.data, (str, bytes)):
        raise ViolationError("TypeError", f"a {type(right.data).__name__} holds nothing")
    if isinstance(right, Known) and isinstance(right.data, str) and isinstance(left, Known):
        if not isinstance(left.data, str):
            raise ViolationError("TypeError", "what is looked for in a text must be text")
        return Known((left.data in right.data) is (name == "In"))
    try:
        key = concrete(left)
    except NotConcreteError:
        return Unknown()
    if isinstance(right, Mapping):
        try:
            is_in = key in right.items
        except TypeError:
            return Unknown()
        return Known(is_in is (name == "In")) if is_in or right.is_complete else Unknown()
    if isinstance(right, Frame) and right.columns is not None:
        try:
            is_in = key in right.columns
        except TypeError:
            return Unknown()
        return Known(is_in is (name == "In")) if is_in or right.is_complete else Unknown()
    try:
        held = concrete(right)
        if isinstance(held, (list, tuple, set, str)):
            return Known((key in held) is (name == "In"))
    except (NotConcreteError, TypeError, ValueError):
        return Unknown()
    return Unknown()
