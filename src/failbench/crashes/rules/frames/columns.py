"""Series of pandas that methods are called of, and those that they make."""

from __future__ import annotations

from failbench.crashes.rules.arrays.casting import cast
from failbench.crashes.rules.frames.conversion import to_type
from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.frames.rows import part_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def column(call: Call) -> Array:
    """The series that a method is called of."""
    assert isinstance(call.receiver, Array)
    return call.receiver


def given(call: Call, made: Array) -> Value:
    """The result, or None where the series itself is changed."""
    if call.flag(None, "inplace"):
        owner = column(call)
        owner.data, owner.nan, owner.shape, owner.dtype = (
            made.data,
            made.nan,
            made.shape,
            made.dtype,
        )
        return Known(None)
    return made


def astype(call: Call) -> Value:
    """In another type."""
    target = call.arg(0, "dtype")
    made = to_type(column(call), named(target))
    if isinstance(target, Thing) and target.path == "pandas.CategoricalDtype":
        made.categories = None
    made.labels = column(call).labels
    return made


def values(call: Call) -> Value:
    """The values as an array."""
    array = column(call)
    made = cast(array, None)
    made.home, made.dtype = "numpy", "object" if array.dtype in ("str", "category") else array.dtype
    made.data, made.uniques, made.distinct, made.labels = (
        array.data,
        array.uniques,
        array.distinct,
        None,
    )
    made.low, made.high, made.is_attained = array.low, array.high, array.is_attained
    made.nan, made.inf, made.categories = facts.has_nan(array), array.inf, None
    dtype = named(call.arg(0, "dtype"))
    return made if dtype is None else cast(made, dtype)


def rows(call: Call) -> Value:
    """Some of the values."""
    array = column(call)
    count = call.integer(0, "n", default=5)
    if call.name in ("head", "tail", "nlargest", "nsmallest"):
        if call.name in ("nlargest", "nsmallest") and array.dtype in ("str", "category"):
            raise ViolationError("TypeError", f"{array.dtype} has no largest")
        size = None if count is None or array.length is None else min(count, array.length)
        place = {"head": slice(None, size)}.get(call.name) if size is not None else None
        return part_of(array, size, place)
    if call.name == "sample":
        n = call.integer(0, "n", default=1)
        if (
            n is not None
            and array.length is not None
            and n > array.length
            and not call.flag(None, "replace")
        ):
            raise ViolationError("ValueError", "more are sampled than there are")
        return part_of(array, n)
    made = part_of(array, None)
    if call.name == "dropna":
        made.nan = False
        if facts.has_nan(array) is False:
            return given(call, array)
    if call.name == "drop_duplicates":
        made.is_unique = True
    return given(call, made)


def unchanged(call: Call) -> Value:
    """The same values in the same or another order."""
    array = column(call)
    made = part_of(array, array.length, slice(None) if call.name != "sort_values" else None)
    made.nan, made.inf, made.uniques, made.distinct = (
        array.nan,
        array.inf,
        array.uniques,
        array.distinct,
    )
    made.is_attained = array.is_attained
    made.labels = array.labels if call.name != "sort_values" else made.labels
    return given(call, made)


def to_frame(call: Call) -> Value:
    """As a table of one column."""
    array = column(call)
    name = call.arg(0, "name") or array.name
    label = name.data if isinstance(name, Known) else None
    is_known = isinstance(name, Known)
    labels = array.labels or rows_index(array.length)
    if call.name == "reset_index":
        return _with_index(call, array, labels)
    return Frame({label if label is not None else 0: array}, is_known, array.length, labels)


def _with_index(call: Call, array: Array, labels: Array) -> Value:
    if call.flag(None, "drop"):
        made = part_of(array, array.length, slice(None))
        made.labels = rows_index(array.length)
        return made
    name = call.arg(None, "name") or array.name
    index_name = labels.name
    is_known = isinstance(name, Known) and (index_name is None or isinstance(index_name, Known))
    if not is_known:
        return Frame(None, False, array.length)
    keys = part_of(labels, labels.length, slice(None))
    keys.home = "series"
    first = (
        index_name.data
        if isinstance(index_name, Known) and index_name.data is not None
        else "index"
    )
    last = name.data if isinstance(name, Known) and name.data is not None else 0
    if isinstance(first, tuple):
        return Frame(
            {**{n: Array("series", (array.length,)) for n in first}, last: array},
            True,
            array.length,
        )
    return Frame({first: keys, last: array}, True, array.length, rows_index(array.length))


def rename(call: Call) -> Value:
    """With another name."""
    array = column(call)
    made = part_of(array, array.length, slice(None))
    made.uniques, made.distinct, made.nan, made.is_attained = (
        array.uniques,
        array.distinct,
        array.nan,
        array.is_attained,
    )
    made.labels = array.labels
    if isinstance(call.first(), Known) or not call.args:
        made.name = call.arg(0, "index")
    return made


def unstack(call: Call) -> Value:
    """One level of the index as columns: a cell for each combination."""
    array = column(call)
    labels = array.labels
    if labels is not None and isinstance(labels.name, Known) and labels.element_types is not None:
        counts = [int(each) for each in labels.element_types if each.isdigit()]
        if len(counts) == 2:
            memory.check(counts[0] * counts[1], array.dtype or "float64")
    if labels is not None and facts.repeats(labels):
        raise ViolationError("ValueError", "an index with repeated labels cannot be unstacked")
    return Frame(None, False, None)


def drop(call: Call) -> Value:
    """Without labels."""
    array = column(call)
    if call.text(None, "errors", default="raise") == "raise" and array.labels is not None:
        known = array.labels.data
        try:
            label = concrete(call.arg(0, "labels", "index"))
            for each in label if isinstance(label, list) else [label]:
                if known is not None and each not in known.tolist():
                    raise ViolationError("KeyError", f"{each!r} is none of the labels")
        except NotConcreteError:
            pass
    return part_of(array, None)
