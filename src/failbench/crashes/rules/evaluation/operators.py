"""Operators between values, and whether a value is true."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.devices import check_same_device
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import (
    NotConcreteError,
    concrete,
    is_plain,
    lift,
    of_data,
)
from failbench.crashes.rules.knowledge.shapes import broadcast, derived, matmul, of_graph, product
from failbench.crashes.rules.knowledge.state import State, joined, truth
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

BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "MatMult": operator.matmul,
}

UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
}

COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}

BITWISE: Final = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")
ORDERING: Final = ("Lt", "LtE", "Gt", "GtE")


def folded(function: Callable[..., Any], *args: Any, home: str = "numpy") -> Value:
    """The result of a function of constants, or the exception that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*args)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise ViolationError(type(error).__name__, reason) from error
    return lift(result, home)


def is_small(*args: Any) -> bool:
    """Whether constants are small enough to compute with."""
    for each in args:
        if isinstance(each, int) and abs(each) > 10**18:
            return False
        if isinstance(each, (str, bytes, list, tuple)) and len(each) > 10_000:
            return False
    return True


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


def _kind(value: Value) -> str | None:
    if isinstance(value, Sequence) and value.kind in ("list", "tuple", "set", "range"):
        return value.kind
    if isinstance(value, Mapping):
        return "dict" if value.kind == "dict" else None
    if isinstance(value, Known):
        return type(value.data).__name__
    return "function" if isinstance(value, Function) else None


def _of_containers(name: str, left: Value, right: Value) -> Value:
    a, b = _kind(left), _kind(right)
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


def as_array(value: Value) -> Array | None:
    """The array that a number or a sequence is taken for beside an array."""
    if isinstance(value, Array):
        return value
    try:
        data = concrete(value)
    except NotConcreteError:
        if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
            return _of_rows(value)
        return None
    if isinstance(data, (bool, int, float, complex, str)) and is_small(data):
        return of_data(np.asarray(data))
    if isinstance(data, (list, tuple)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return of_data(np.array(data))
        except (ValueError, OverflowError, TypeError):
            return None
    return None


def _of_rows(value: Sequence) -> Array | None:
    items = value.items
    if not items or not all(isinstance(each, (Array, Known)) for each in items):
        return (
            Array("numpy", None if value.size is None else (value.size,), None)
            if items and all(isinstance(e, Known) for e in items)
            else None
        )
    arrays = [as_array(each) for each in items]
    shapes = {None if each is None else each.shape for each in arrays}
    first = arrays[0]
    if len(shapes) != 1 or first is None or first.shape is None:
        return None
    dtypes = [each.dtype for each in arrays if each is not None]
    dtype = dtypes[0]
    for each in dtypes[1:]:
        dtype = promoted(dtype, each)
    return Array("numpy", (len(items), *first.shape), dtype)


def _of_array_and_other(name: str, left: Value, right: Value) -> Value:
    array, other = (left, right) if isinstance(left, Array) else (right, left)
    assert isinstance(array, Array)
    if isinstance(other, Known) and other.data is None:
        if array.home == "numpy" and array.dtype == "object":
            return Unknown()
        raise ViolationError("TypeError", f"{name} is not there between an array and None")
    if isinstance(other, (Mapping, Function)) and array.home != "python":
        raise ViolationError(
            "TypeError", f"{name} is not there between an array and a {_kind(other)}"
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
    main = _main(left, right)
    check_same_device(left, right)
    _check_types(name, left, right, main)
    try:
        a, b = concrete(_plain(left)), concrete(_plain(right))
    except NotConcreteError:
        a = b = None
    if name == "MatMult":
        exception = "RuntimeError" if main.home == "torch" else "ValueError"
        if main.home == "torch":
            _check_same_dtype(left, right)
            if (
                left.rank == right.rank == 1
                and left.shape != right.shape
                and left.size
                and right.size
            ):
                raise ViolationError("RuntimeError", "vectors of a product differ in length")
        shape = matmul(left.shape, right.shape, exception)
    elif "series" in (left.home, right.home):
        shape = _aligned(left, right)
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


def _plain(array: Array) -> Array:
    return (
        array
        if array.home in ("numpy", "python")
        else Array("numpy", array.shape, array.dtype, array.data)
    )


def _main(left: Array, right: Array) -> Array:
    for home in ("torch", "series", "index", "numpy", "python"):
        for each in (left, right):
            if each.home == home:
                return each
    return left


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


def _check_same_dtype(left: Array, right: Array) -> None:
    if left.dtype and right.dtype and left.dtype != right.dtype:
        reason = f"a product of {left.dtype} and {right.dtype}"
        raise ViolationError("RuntimeError", f"tensors must have the same dtype: {reason}")


def _aligned(left: Array, right: Array) -> Any:
    """The shape of an operation on series, which are aligned by their index."""
    if left.home == right.home == "series":
        return left.shape if left.shape == right.shape else None
    series, other = (left, right) if left.home == "series" else (right, left)
    if other.shape in ((), None):
        return series.shape
    if (
        other.rank == 1
        and series.shape is not None
        and other.length not in (series.length, None, 1)
        and series.length is not None
    ):
        reason = f"lengths {series.length} and {other.length} differ"
        raise ViolationError("ValueError", reason)
    return series.shape


def _texts(array: Array) -> bool:
    return array.dtype == "str" or (array.dtype == "object" and array.element_types == ("str",))


def _check_types(name: str, left: Array, right: Array, main: Array) -> None:
    kinds = [facts.kind(left), facts.kind(right)]
    if None in kinds:
        return
    pair = "".join(each or "" for each in kinds)
    words = f"{name} between {left.dtype} and {right.dtype}"
    if name in BITWISE and "f" in pair and set(pair) <= set("biuf"):
        if main.home == "torch" and name in ("BitAnd", "BitOr", "BitXor"):
            raise ViolationError("NotImplementedError", words)
        raise ViolationError("TypeError", words)
    if name in BITWISE and (_texts(left) or _texts(right)) and main.home != "torch":
        raise ViolationError("TypeError", words)
    if name == "Sub" and pair == "bb" and main.home == "torch":
        raise ViolationError("RuntimeError", words)
    if (
        name == "Sub"
        and pair == "bb"
        and main.home == "numpy"
        and "python" not in (left.home, right.home)
    ):
        raise ViolationError("TypeError", words)
    if _texts(left) != _texts(right):
        other = right if _texts(left) else left
        if facts.kind(other) in ("O", "C", None):
            return
        if name == "Mult" and (facts.kind(other) or "") in "iub":
            return
        if main.home == "numpy" and "str" in (left.dtype, right.dtype):
            raise ViolationError("UFuncTypeError", words)
        raise ViolationError("TypeError", words)
    if _texts(left) and _texts(right) and name != "Add":
        if name == "Mod" and left.home == "python":
            return
        is_array = main.home == "numpy" and main.dtype == "str"
        raise ViolationError("UFuncTypeError" if is_array else "TypeError", words)
    if kinds[0] == "M" and kinds[1] == "M" and name != "Sub":
        raise ViolationError("UFuncTypeError" if main.home == "numpy" else "TypeError", words)
    if "M" in pair and set(pair) & set("fiub") and main.home in ("series", "index"):
        raise ViolationError("TypeError", words)
    if "C" in pair and name in BINARY:
        raise ViolationError("TypeError", f"categories have no {name}")


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
            raise ViolationError("TypeError", f"{name} is not there for a {_kind(value)}")
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
        kinds = _kind(left), _kind(right)
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
    main = _main(left, right)
    check_same_device(left, right)
    if name in ORDERING:
        _check_order(name, left, right, main)
    if left.home == right.home == "series":
        if left.length is not None and right.length is not None and left.length != right.length:
            raise ViolationError("ValueError", "series with other labels are compared")
        shape = left.shape
    elif "series" in (left.home, right.home):
        shape = _aligned(left, right)
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


def _check_order(_name: str, left: Array, right: Array, main: Array) -> None:
    kinds = facts.kind(left), facts.kind(right)
    words = f"{left.dtype} and {right.dtype} have no order"
    if main.home == "torch" or None in kinds:
        return
    is_text = _texts(left), _texts(right)
    if is_text[0] != is_text[1]:
        other = facts.kind(right if is_text[0] else left)
        if other in ("M", "m", "C", "O"):
            return
        is_array = main.home == "numpy" and main.dtype == "str"
        raise ViolationError("UFuncTypeError" if is_array else "TypeError", words)
    if "M" in kinds and set(kinds) & set("fiub") and main.home in ("series", "index"):
        raise ViolationError("TypeError", words)


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
                _check_order(name, column, taken, column)
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
            "TypeError", f"the layout {layout!r} is not there for a {_kind(value)}"
        )
    if (
        isinstance(value, Array)
        and value.home in ("numpy", "series", "index", "torch")
        and value.shape is not None
        and (value.shape != () or value.home == "series")
    ):
        raise ViolationError("TypeError", f"the layout {layout!r} is not there for an array")
