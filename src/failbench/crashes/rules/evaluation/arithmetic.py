"""Arithmetic, and other operators that make values of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.evaluation.computed import BINARY, folded, is_small, kind_of
from failbench.crashes.rules.evaluation.operands import (
    aligned,
    as_array,
    check_same_dtype,
    check_types,
    main_of,
    without_labels,
)
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.devices import check_same_device
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, is_plain
from failbench.crashes.rules.knowledge.shapes import broadcast, derived, matmul, of_graph, product
from failbench.crashes.rules.knowledge.state import State, joined
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def binary(name: str, left: Value, right: Value, _state: State) -> Value:
    """The value of ``left <operator> right``.

    Raises
    ------
    ViolationError
        If types, shapes or devices do not go together.
    """
    if isinstance(left, Frame) or isinstance(right, Frame):
        return _of_frames(name, left, right)
    if isinstance(left, Array) and isinstance(right, Array):
        return _of_arrays(name, left, right)
    if isinstance(left, Array) or isinstance(right, Array):
        return _of_array_and_other(name, left, right)
    if name == "Mod" and isinstance(left, Known) and isinstance(left.data, str):
        return Array("python", (), "str")
    try:
        a, b = concrete(left), concrete(right)
    except NotConcreteError:
        return _of_containers(name, left, right)
    if not is_plain(a) or not is_plain(b):
        return _of_containers(name, left, right)
    if name == "Pow" and isinstance(b, (int, float)) and abs(b) > 512:
        return Unknown()
    if name == "LShift" and isinstance(b, int) and b > 512:
        return Unknown()
    is_repeat = isinstance(a, (str, bytes)) or isinstance(b, (str, bytes))
    if name == "Mult" and is_repeat and any(isinstance(e, int) and e > 1000 for e in (a, b)):
        return Unknown()
    return folded(BINARY[name], a, b) if is_small(a, b) else Unknown()


def _of_containers(name: str, left: Value, right: Value) -> Value:
    a, b = kind_of(left), kind_of(right)
    if a is None or b is None:
        return Unknown()
    if isinstance(left, Sequence) and isinstance(right, Sequence) and a == b:
        if name == "Add" and a in ("list", "tuple"):
            if left.items is not None and right.items is not None:
                return Sequence(a, [*left.items, *right.items])
            sizes = left.size, right.size
            total = None if None in sizes else sum(each or 0 for each in sizes)
            return Sequence(a, None, total, joined(left.element, right.element))
        if a == "set" and name in ("Sub", "BitAnd", "BitOr", "BitXor"):
            try:
                return folded(BINARY[name], concrete(left), concrete(right))
            except NotConcreteError:
                return Sequence("set")
    if name == "Mult" and {a, b} & {"int", "bool"}:
        sequence, number = (left, right) if isinstance(left, Sequence) else (right, left)
        if isinstance(sequence, Sequence) and isinstance(number, Known):
            if sequence.items is not None and len(sequence.items) * number.data <= 2_000:
                return Sequence(sequence.kind, sequence.items * number.data)
            size = sequence.size
            return Sequence(sequence.kind, None, None if size is None else size * number.data)
    if name == "BitOr" and a == b == "dict":
        assert isinstance(left, Mapping)
        assert isinstance(right, Mapping)
        complete = left.is_complete and right.is_complete
        return Mapping(left.items | right.items, complete)
    simple = {
        "list",
        "tuple",
        "dict",
        "function",
        "NoneType",
        "int",
        "float",
        "str",
        "range",
        "set",
    }
    if a in simple and b in simple:
        raise ViolationError("TypeError", f"{name} is not there between {a} and {b}")
    return Unknown()


def _of_array_and_other(name: str, left: Value, right: Value) -> Value:
    array, other = (left, right) if isinstance(left, Array) else (right, left)
    assert isinstance(array, Array)
    if isinstance(other, Known) and other.data is None:
        if array.home == "numpy" and array.dtype == "object":
            return Unknown()
        raise ViolationError("TypeError", f"{name} is not there between an array and None")
    if isinstance(other, (Mapping, Function)) and array.home != "python":
        raise ViolationError(
            "TypeError", f"{name} is not there between an array and a {kind_of(other)}"
        )
    if array.home == "torch" and not isinstance(other, (Unknown, Thing, Known)):
        return Unknown()
    if array.home == "torch" and isinstance(other, Known) and isinstance(other.data, str):
        raise ViolationError("TypeError", f"{name} is not there between a tensor and text")
    taken = as_array(other)
    if taken is None:
        return Unknown() if array.home == "python" else _result(name, array, None)
    taken.home = "python" if isinstance(other, Known) else "numpy"
    pair = (array, taken) if array is left else (taken, array)
    return _of_arrays(name, *pair)


def _result(_name: str, array: Array, shape: Any) -> Array:
    made = derived(array, shape)
    made.dtype = None
    return made


def _of_arrays(name: str, left: Array, right: Array) -> Value:
    main = main_of(left, right)
    check_same_device(left, right)
    check_types(name, left, right, main)
    try:
        a, b = concrete(without_labels(left)), concrete(without_labels(right))
    except NotConcreteError:
        a = b = None
    if name == "MatMult":
        exception = "RuntimeError" if main.home == "torch" else "ValueError"
        if main.home == "torch":
            check_same_dtype(left, right)
            if (
                left.rank == right.rank == 1
                and left.shape != right.shape
                and left.size
                and right.size
            ):
                raise ViolationError("RuntimeError", "vectors of a product differ in length")
        shape = matmul(left.shape, right.shape, exception)
    elif "series" in (left.home, right.home):
        shape = aligned(left, right)
    else:
        shape = broadcast(left, right)
    if shape is not None:
        # a result is at least as wide as each operand
        dtype = promoted(left.dtype, right.dtype) or left.dtype or right.dtype
        memory.check(product(shape), dtype, main.home == "torch")
    size = None if shape is None else product(shape)
    can_fold = a is not None and b is not None and size is not None and size <= FOLDED
    if can_fold and is_small(a, b) and main.home in ("numpy", "python") and _can_compute(name, b):
        return folded(BINARY[name], a, b)
    made = derived(main, shape)
    made.dtype = _dtype(name, left, right)
    if (
        can_fold
        and main.home in ("torch", "series", "index")
        and left.dtype
        and right.dtype
        and _can_compute(name, b)
    ):
        value = folded(BINARY[name], a, b)
        if isinstance(value, Array) and value.shape == shape:
            made.data = value.data
            if (
                made.home == "torch"
                and made.data is not None
                and made.dtype in ("float32", "int64")
            ):
                made.data = made.data.astype(made.dtype)
    else:
        made.nan = _gaps(name, left, right)
        _bound(name, left, right, made)
    if main.home == "torch":
        of_graph(made, left, right)
    if main.home == "series":
        made.labels = main.labels
    return made


def _can_compute(name: str, b: Any) -> bool:
    return (
        name not in ("Pow", "LShift") or np.max(np.abs(np.asarray(b, dtype=float)), initial=0) < 64
    )


def _gaps(name: str, left: Array, right: Array) -> bool | None:
    if True in (left.nan, right.nan) and left.shape == right.shape and name != "Pow":
        return True
    known = facts.has_nan(left), facts.has_nan(right)
    infinite = facts.has_inf(left), facts.has_inf(right)
    is_safe = name in ("Add", "Sub", "Mult") and known == infinite == (False, False)
    return False if is_safe else None


def _bound(name: str, left: Array, right: Array, made: Array) -> None:
    """Bounds of a result where an operand is one number."""
    low, high, is_attained = facts.bounds(left)
    other_low, other_high, _ = facts.bounds(right)
    if low is None or high is None or other_low is None or other_low != other_high:
        return
    with np.errstate(all="ignore"):
        if name in ("Add", "Sub"):
            ends = [BINARY[name](end, other_low) for end in (low, high)]
        elif name == "Mult" or (name == "Div" and other_low):
            ends = sorted(BINARY[name](end, other_low) for end in (low, high))
        else:
            return
    made.low, made.high = float(ends[0]), float(ends[1])
    made.is_attained = is_attained
    made.inf = False if facts.has_inf(left) is False else None


def _dtype(name: str, left: Array, right: Array) -> str | None:
    if name == "Div" and (facts.kind(left) or "?") in "iub" and (facts.kind(right) or "?") in "iub":
        return "float32" if "torch" in (left.home, right.home) else "float64"
    if "torch" in (left.home, right.home):
        tensor, other = (left, right) if left.home == "torch" else (right, left)
        if other.home == "python" or other.shape == ():
            return (
                tensor.dtype if facts.kind(tensor) == "f" or facts.kind(other) != "f" else "float32"
            )
        if tensor.shape == ():
            return other.dtype
    return promoted(left.dtype, right.dtype)


def _of_frames(name: str, left: Value, right: Value) -> Value:
    frame, other = (left, right) if isinstance(left, Frame) else (right, left)
    assert isinstance(frame, Frame)
    if isinstance(other, Known) and other.data is None:
        raise ViolationError("TypeError", f"{name} is not there between a table and None")
    if frame.columns is None:
        return Frame(None, False, frame.rows, frame.labels)
    taken = as_array(other) if not isinstance(other, Frame) else None
    columns = {}
    for label, column in frame.columns.items():
        if taken is not None and taken.rank == 0:
            value = _of_arrays(name, *((column, taken) if frame is left else (taken, column)))
            columns[label] = value if isinstance(value, Array) else derived(column, column.shape)
        else:
            made = derived(column, column.shape)
            made.dtype = "float64" if name == "Div" else None
            columns[label] = made
    if isinstance(other, Frame) and (
        other.columns is None or set(other.columns) != set(frame.columns)
    ):
        return Frame(None, False, None)
    return Frame(columns, frame.is_complete, frame.rows, frame.labels)


def in_place(name: str, left: Value, right: Value, state: State) -> Value:
    """The value after ``left <operator>= right``.

    Raises
    ------
    ViolationError
        As :func:`binary`, and if the result does not fit into what is changed.
    """
    if isinstance(left, Sequence) and left.kind == "list" and name == "Add":
        if isinstance(right, Known) and not isinstance(right.data, str):
            raise ViolationError("TypeError", "a list is extended by what is no sequence")
        if isinstance(right, Sequence) and left.items is not None and right.items is not None:
            left.items.extend(right.items)
        else:
            left.items, left.length, left.element = None, None, Unknown()
        return left
    if not isinstance(left, Array) or left.home not in ("numpy", "torch") or left.rank == 0:
        return binary(name, left, right, state)
    is_leaf = left.needs_grad and left.is_leaf
    if left.home == "torch" and is_leaf and not state.without_grad:
        raise ViolationError("RuntimeError", "a leaf that requires a gradient is changed in place")
    result = binary(name, left, right, state)
    if not isinstance(result, Array):
        return result
    before, after = facts.kind(left), facts.kind(result)
    order = "biufc"
    if before and after and before in order and after in order:
        is_loss = (order.index(after) > order.index(before) and after in "fc") or (
            before == "b" and after != "b"
        )
        if is_loss:
            words = f"{result.dtype} cannot be stored in {left.dtype} in place"
            raise ViolationError(
                "RuntimeError" if left.home == "torch" else "UFuncTypeError", words
            )
    if left.shape is not None and result.shape is not None and left.rank != result.rank:
        exception = "RuntimeError" if left.home == "torch" else "ValueError"
        raise ViolationError(exception, "the result in place has another shape")
    if left.dtype and result.dtype != left.dtype:
        result.dtype = left.dtype
        result.data = None
    return result
