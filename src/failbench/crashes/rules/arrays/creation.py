"""Functions of numpy that make arrays."""

from __future__ import annotations

import io
import warnings
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays.casting import converted, of_frame
from failbench.crashes.rules.evaluation import computed, iteration, operands
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import derived, product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Estimator,
    Frame,
    Known,
    Mapping,
    Sequence,
    Shape,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def shape_of(value: Value | None) -> Shape | None:
    """The shape that an argument stands for: a number, or a sequence of numbers.

    Raises
    ------
    ViolationError
        If it has a fraction or a negative size.
    """
    if value is None:
        return ()
    items = [value]
    if isinstance(value, Sequence):
        if value.items is None:
            return None
        items = value.items
    elif not isinstance(value, Known) and not (isinstance(value, Array) and value.rank == 0):
        return None
    sizes: list[int | None] = []
    for item in items:
        if isinstance(item, Array) and facts.kind(item) == "f" and item.shape == ():
            raise ViolationError("TypeError", "a size is a whole number")
        try:
            size = concrete(item)
        except NotConcreteError:
            sizes.append(None)
            continue
        if isinstance(size, (float, str, np.floating)) or size is None:
            raise ViolationError("TypeError", f"a size is a whole number, not {size!r}")
        if not isinstance(size, (int, np.integer)):
            return None
        sizes.append(int(size))
    return tuple(sizes)


def filled(call: Call) -> Value:
    """Zeros, ones, or another value, in a shape."""
    shape = shape_of(call.arg(0, "shape"))
    place = 2 if call.name == "full" else 1
    dtype = named(call.arg(place, "dtype")) or (
        "float64" if call.arg(place, "dtype") is None else None
    )
    value: Any = {"zeros": 0, "ones": 1}.get(call.name)
    if call.name == "full":
        try:
            value = call.known(1, "fill_value")
        except NotConcreteError:
            value = None
        if call.arg(2, "dtype") is None:
            dtype = None if value is None else str(np.asarray(value).dtype)
    if shape is None:
        return Array("numpy", None, dtype)
    if any(size is not None and size < 0 for size in shape):
        raise ViolationError("ValueError", "negative dimensions are not allowed")
    size = product(shape)
    memory.check(size, dtype)
    if size is not None and size <= FOLDED and value is not None and dtype is not None:
        try:
            return of_data(np.full([each or 0 for each in shape], value, dtype))
        except (TypeError, ValueError):
            return Array("numpy", shape, dtype)
    made = Array("numpy", shape, dtype)
    if isinstance(value, (int, float)):
        made.low = made.high = float(value)
        made.nan = value != value
    return made


def like(call: Call) -> Value:
    """Zeros, ones or another value in the shape of another array."""
    array = operands.as_array(call.first())
    if array is None:
        return Unknown()
    made = derived(array, array.shape, named(call.kwargs.get("dtype")))
    made.home = "numpy"
    return made


def array(call: Call) -> Value:
    """An array of what is given.

    Raises
    ------
    ViolationError
        If rows have other lengths, or text is no number.
    """
    value = call.first()
    asked = call.arg(1, "dtype")
    dtype = named(asked)
    if isinstance(value, Array):
        return converted(value, dtype, asked is not None)
    if isinstance(value, Frame):
        return of_frame(value)
    if isinstance(value, (Mapping, Thing, Estimator)) or (
        isinstance(value, Sequence) and value.kind in ("set", "iterator", "view")
    ):
        return Array("numpy", (), "object")
    try:
        data = concrete(value)
    except NotConcreteError:
        return _of_unknown_rows(value, dtype)
    if (
        asked is not None
        and dtype is None
        and not (isinstance(asked, Known) and asked.data is None)
    ):
        return Array("numpy", None, None)
    if isinstance(data, (list, tuple)) and sum(1 for _ in data) > 10_000:
        return Array("numpy", (len(data),), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = np.array(data, dtype=None if dtype in (None, "category") else dtype)
        except (ValueError, TypeError, OverflowError) as error:
            raise ViolationError(type(error).__name__, " ".join(str(error).split())) from error
    return of_data(made)


def _of_unknown_rows(value: Value, dtype: str | None) -> Value:
    if isinstance(value, Sequence):
        iteration.check_iterable(value)
        taken = operands.as_array(value)
        if taken is not None:
            taken.dtype = dtype or taken.dtype
            return taken
        items = value.items or []
        arrays = [item for item in items if isinstance(item, Array)]
        shapes = {item.shape for item in arrays}
        is_ragged = len(arrays) == len(items) > 1 and None not in shapes and len(shapes) > 1
        is_certain = is_ragged and not any(None in (shape or ()) for shape in shapes)
        if is_certain and dtype != "object":
            raise ViolationError("ValueError", "rows of other shapes are no array")
        return Array(
            "numpy",
            None
            if not arrays or is_ragged
            else (len(items), *(arrays[0].shape or ()))
            if arrays[0].shape is not None
            else None,
            dtype,
        )
    return Array("numpy", None, dtype)


def _range(call: Call) -> Value:
    try:
        ends = [concrete(each) for each in call.args]
        dtype = named(call.kwargs.get("dtype"))
    except NotConcreteError:
        return Array("numpy", (None,), named(call.kwargs.get("dtype")))
    for end in ends if "dtype" not in call.kwargs else ():
        if isinstance(end, (str, list)) or end is None:
            raise ViolationError("TypeError", "ends of a range are numbers")
    if ends and all(isinstance(each, (int, float, np.number)) for each in ends):
        start, stop, step = 0, ends[0], 1
        if len(ends) > 1:
            start, stop = ends[:2]
        if len(ends) > 2:
            step = ends[2]
        if step == 0:
            raise ViolationError("ZeroDivisionError", "a range has a step of zero")
        count = max(0, int(np.ceil((stop - start) / step)))
        memory.check(count, "int64")
        if count <= FOLDED:
            return of_data(np.arange(*ends, dtype=dtype))
        return Array("numpy", (count,), dtype or "int64", low=start, high=stop)
    return Array("numpy", (None,), dtype)


def _space(call: Call) -> Value:
    count = call.integer(2, "num", default=50)
    if count is not None and count < 0:
        raise ViolationError("ValueError", "a number of samples is not negative")
    memory.check(count, "float64")
    try:
        ends = [call.known(0, "start"), call.known(1, "stop")]
        if (
            count is not None
            and count <= FOLDED
            and call.name in ("linspace", "logspace", "geomspace")
        ):
            function: Any = getattr(np, call.name)
            if call.name == "linspace" and not call.flag(None, "retstep"):
                return computed.folded(lambda: function(*ends, count))
            if call.name != "linspace":
                return computed.folded(lambda: function(*ends, count))
    except NotConcreteError:
        pass
    return Array("numpy", (count,), "float64")


def _eye(call: Call) -> Value:
    rows = call.integer(0, "N", "n")
    columns = call.integer(1, "M", default=rows) if call.name == "eye" else rows
    memory.check(None if rows is None or columns is None else rows * columns, "float64")
    if rows is not None and columns is not None and 0 <= rows * columns <= FOLDED and rows >= 0:
        return of_data(np.eye(rows, columns, dtype=named(call.kwargs.get("dtype")) or "float64"))
    return Array("numpy", (rows, columns), "float64")


def _from_text(call: Call) -> Value:
    source = call.first()
    text = source.facts.get("text") if isinstance(source, Thing) else None
    if not isinstance(text, str):
        return Array("numpy", None, None)
    try:
        kwargs = {key: concrete(value) for key, value in call.kwargs.items()}
    except NotConcreteError:
        return Unknown()
    allowed = {
        "delimiter",
        "names",
        "skip_header",
        "skiprows",
        "case_sensitive",
        "dtype",
        "usecols",
    }
    if not set(kwargs) <= allowed or len(call.args) > 1:
        return Unknown()
    function: Any = getattr(np, call.name)
    return computed.folded(lambda: function(io.StringIO(text), **kwargs))


FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"numpy.{name}": filled for name in ("zeros", "ones", "empty", "full")},
    **{f"numpy.{name}": like for name in ("zeros_like", "ones_like", "empty_like", "full_like")},
    **{f"numpy.{name}": array for name in ("array", "asarray", "ascontiguousarray", "asanyarray")},
    "numpy.arange": _range,
    "numpy.linspace": _space,
    "numpy.logspace": _space,
    "numpy.geomspace": _space,
    "numpy.eye": _eye,
    "numpy.identity": _eye,
    "numpy.genfromtxt": _from_text,
    "numpy.loadtxt": _from_text,
}
