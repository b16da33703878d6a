"""Methods and properties of series and indices of pandas."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.arrays.creation import cast
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler, Property
from failbench.crashes.rules.frames.items import part_of
from failbench.crashes.rules.frames.making import rows_index, to_type
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
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


def _values(value: Value, _name: str, state: State) -> Value:
    return values(Call(state, "pandas.Series.to_numpy", [], {}, True, value))


def reduced(call: Call) -> Value:
    """A number of all values."""
    array = column(call)
    if call.name in ("idxmax", "idxmin"):
        if array.size == 0:
            raise ViolationError("ValueError", f"{call.name} of nothing")
        return Unknown()
    if array.dtype in ("object", None) and array.element_types is None:
        return Unknown()
    return array_methods.reduced_array(call, array, None, call.name)


def counted(call: Call) -> Value:
    """How often each value occurs."""
    array = column(call)
    known = facts.values_of(array)
    made = Array("series", (facts.distinct(array),), "int64", low=1)
    if known is not None:
        made.labels = Array("index", (len(known),), array.dtype, uniques=known)
        if call.name == "value_counts":
            made.labels.is_unique = True
    return made


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


def filled(call: Call) -> Value:
    """Without gaps.

    Raises
    ------
    ViolationError
        If what fills them is none of the categories.
    """
    array = column(call)
    made = derived(array, array.shape, keep=True)
    made.labels, made.categories = array.labels, array.categories
    value = call.arg(0, "value")
    if call.name == "fillna":
        made.nan = False
        if (
            array.categories is not None
            and isinstance(value, Known)
            and value.data not in array.categories
        ):
            raise ViolationError("TypeError", f"{value.data!r} is none of the categories")
        if (
            facts.kind(array) in ("i", "f")
            and isinstance(value, Known)
            and isinstance(value.data, str)
        ):
            raise ViolationError("TypeError", f"{value.data!r} is no value of {array.dtype}")
        made.low = made.high = None
    if facts.has_nan(array) is False:
        made.nan, made.data = False, array.data
    return given(call, made)


def gaps(call: Call) -> Value:
    """Where there are gaps."""
    array = column(call)
    made = Array("series", array.shape, "bool", labels=array.labels)
    nan = facts.has_nan(array)
    if nan is False and array.length:
        made.uniques = (call.name.startswith("not"),)
    return made


def mapped(call: Call) -> Value:
    """A function or mapping of each value."""
    array = column(call)
    function = call.arg(0, "arg", "func")
    made = Array("series", array.shape, labels=array.labels)
    if isinstance(function, Mapping) and function.is_complete:
        known = facts.values_of(array)
        made.nan = facts.has_nan(array) or None
        if known is not None:
            missing = [each for each in known if each not in function.items]
            made.nan = bool(missing) or facts.has_nan(array)
            targets = [function.items[each] for each in known if each in function.items]
            kinds = {type(each.data) for each in targets if isinstance(each, Known)}
            if len(targets) == len(known) and kinds == {int}:
                made.dtype = "int64"
                if array.data is not None and array.data.ndim == 1:
                    made.data = np.array([function.items[e].data for e in array.data.tolist()])  # type: ignore[attr-defined]
            elif kinds <= {int, float} and kinds and missing:
                made.dtype = "float64"
        return made
    is_plain = len(call.args) < 2 and not set(call.kwargs) - {"arg", "func"}
    if isinstance(function, Function) and array.length != 0 and is_plain:
        element = iteration.elements(array) or [iteration.element_of(array)]
        first = element[0]
        if array.dtype in ("str", "object") and array.data is not None and array.length:
            first = (
                Known(array.data.tolist()[0])
                if isinstance(array.data.tolist()[0], (str, int, float))
                else first
            )
        call.state.call(function, [first])
    return made


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


def unique(call: Call) -> Value:
    """The distinct values."""
    array = column(call)
    known = facts.values_of(array)
    if call.name == "nunique":
        count = facts.distinct(array)
        return Array("python", (), "int64") if count is None else Known(count)
    made = derived(
        array, (facts.distinct(array) if facts.has_nan(array) is False else None,), keep=True
    )
    made.home = "numpy"
    if (
        known is not None
        and facts.has_nan(array) is False
        and array.dtype not in ("str", "category")
    ):
        made.uniques = known
    if array.dtype in ("str", "category"):
        made.dtype = "object"
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


def _accessor(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    kind = facts.kind(value)
    wrong = {
        "str": ("b", "i", "u", "f", "M", "m"),
        "dt": ("b", "i", "u", "f", "U"),
        "cat": ("b", "i", "u", "f", "U", "M", "O"),
    }[name]
    is_text_object = name == "dt" and kind == "O" and value.element_types == ("str",)
    if kind in wrong or is_text_object:
        raise ViolationError("AttributeError", f"{value.dtype} has no accessor {name}")
    paths = {
        "str": "pandas.core.strings.accessor.StringMethods",
        "dt": "pandas.core.indexes.accessors.DatetimeProperties",
        "cat": "pandas.cat",
    }
    if name == "dt" and kind != "M":
        return Unknown()
    return Thing(paths[name], {"of": value})


def text(call: Call) -> Value:
    """A method of each text."""
    owner = call.receiver.facts.get("of") if isinstance(call.receiver, Thing) else None
    if not isinstance(owner, Array):
        return Unknown()
    is_test = call.name in (
        "contains",
        "startswith",
        "endswith",
        "isdigit",
        "isalpha",
        "match",
        "fullmatch",
        "isnumeric",
    )
    whole = call.name in ("len", "count", "find")
    made = derived(owner, owner.shape, "bool" if is_test else "int64" if whole else "str")
    made.labels, made.nan = owner.labels, facts.has_nan(owner)
    if made.nan and is_test and call.arg(None, "na") is None:
        # a text type answers False for gaps; objects keep them
        made.dtype, made.nan = ("object", True) if owner.dtype == "object" else ("bool", False)
    if call.name == "split" and call.arg(None, "expand") is not None:
        return Frame(None, False, owner.length, owner.labels)
    if call.name in ("split", "extract", "get_dummies", "findall", "partition"):
        return Unknown()
    if (
        owner.data is not None
        and call.name in ("lower", "upper", "strip", "title", "len")
        and not made.nan
    ):
        cells = [
            getattr(e, call.name)() if call.name != "len" else len(e)
            for e in owner.data.tolist()
            if isinstance(e, str)
        ]
        if len(cells) == owner.data.size:
            data = np.array(cells, dtype=object if call.name != "len" else "int64")
            made.data = data
    if owner.home == "index":
        made.home = "index"
    return made


def windows(call: Call) -> Value:
    """Windows that roll over the values."""
    if call.arg(None, "win_type") is not None:
        return Unknown()
    return _windows(call)


def _windows(call: Call) -> Value:
    """Windows of equal weights.

    Raises
    ------
    ViolationError
        If the size of a window is negative.
    """
    size = call.integer(0, "window")
    if call.name == "rolling" and size is not None and size < 0:
        raise ViolationError("ValueError", "a window is not negative")
    return Thing(
        "pandas.core.window.rolling.Rolling",
        {"of": call.receiver, "window": size, "min": call.integer(1, "min_periods", default=size)},
    )


def rolled(call: Call) -> Value:
    """A number of each window."""
    facts_of = call.receiver.facts if isinstance(call.receiver, Thing) else {}
    owner, size, least = facts_of.get("of"), facts_of.get("window"), facts_of.get("min")
    if isinstance(owner, Array):
        if owner.dtype == "str":
            raise ViolationError("DataError", "windows are of numbers")
        made = Array("series", owner.shape, "float64", labels=owner.labels)
        if (
            isinstance(size, int)
            and size > 1
            and isinstance(least, int)
            and least > 1
            and owner.length
        ):
            made.nan = True
        return made
    if isinstance(owner, Frame):
        for label, each in (owner.columns or {}).items():
            if each.dtype == "str":
                raise ViolationError(
                    "DataError", f"windows are of numbers, not of text in {label!r}"
                )
        columns = (
            None
            if owner.columns is None
            else {k: Array("series", (owner.rows,), "float64") for k in owner.columns}
        )
        return Frame(columns, owner.is_complete, owner.rows, owner.labels)
    return Unknown()


def shifted(call: Call) -> Value:
    """Differences, and values of other rows."""
    array = column(call)
    if call.name in ("diff", "pct_change") and array.dtype == "str":
        raise ViolationError("TypeError", f"{call.name} of text")
    made = Array("series", array.shape, labels=array.labels)
    if call.name != "cumsum" and array.length:
        made.nan = (
            True
            if call.integer(0, "periods", default=1) != 0 and call.arg(None, "fill_value") is None
            else None
        )
        made.dtype = "float64" if facts.kind(array) in ("i", "f") else None
    return made


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


def index_of_texts(call: Call) -> Value:
    """The index itself, or as a list."""
    array = column(call)
    if call.name == "get_loc":
        known = array.data
        try:
            key = concrete(call.first())
        except NotConcreteError:
            return Unknown()
        if known is not None and key not in known.tolist():
            raise ViolationError("KeyError", f"{key!r} is none of the labels")
    return Unknown()


REDUCING: Final = (
    "sum", "mean", "std", "var", "min", "max", "median", "prod", "any", "all", "idxmax", "idxmin",
    "argmax", "argmin",
)  # fmt: skip
SAME: Final = ("copy", "round", "abs", "sort_index", "sort_values", "clip", "infer_objects", "rank")

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"pandas.Series.{name}": reduced for name in REDUCING},
    **{f"pandas.Index.{name}": reduced for name in ("min", "max", "argmax", "argmin")},
    **{f"pandas.Series.{name}": unchanged for name in SAME},
    **{
        f"pandas.Series.{name}": rows
        for name in ("head", "tail", "nlargest", "nsmallest", "sample", "dropna", "drop_duplicates")
    },
    **{f"pandas.Series.{name}": filled for name in ("fillna", "ffill", "bfill", "interpolate")},
    **{f"pandas.Series.{name}": gaps for name in ("isna", "notna", "isnull", "notnull")},
    **{f"pandas.Series.{name}": mapped for name in ("map", "apply")},
    **{f"pandas.Series.{name}": unique for name in ("unique", "nunique")},
    **{f"pandas.Index.{name}": unique for name in ("nunique",)},
    **{f"pandas.Series.{name}": shifted for name in ("diff", "shift", "pct_change")},
    **{f"pandas.Series.{name}": windows for name in ("rolling", "expanding")},
    **{f"pandas.DataFrame.{name}": windows for name in ("rolling", "expanding")},
    **{
        f"pandas.core.window.rolling.Rolling.{name}": rolled
        for name in ("mean", "sum", "std", "var", "min", "max", "median")
    },
    **{
        f"pandas.core.strings.accessor.StringMethods.{name}": text
        for name in (
            "contains",
            "startswith",
            "endswith",
            "isdigit",
            "isalpha",
            "match",
            "fullmatch",
            "len",
            "count",
            "lower",
            "upper",
            "strip",
            "lstrip",
            "rstrip",
            "title",
            "replace",
            "split",
            "extract",
            "zfill",
            "slice",
            "get_dummies",
            "findall",
            "partition",
            "capitalize",
            "find",
            "isnumeric",
        )
    },
    "pandas.Series.astype": astype,
    "pandas.Series.to_numpy": values,
    "pandas.Index.to_numpy": values,
    "pandas.Series.tolist": array_methods.tolist,
    "pandas.Series.to_list": array_methods.tolist,
    "pandas.Index.tolist": array_methods.tolist,
    "pandas.Index.to_list": array_methods.tolist,
    "pandas.Series.item": array_methods.item,
    "pandas.Series.value_counts": counted,
    "pandas.Series.to_frame": to_frame,
    "pandas.Series.reset_index": to_frame,
    "pandas.Series.rename": rename,
    "pandas.Series.unstack": unstack,
    "pandas.Series.drop": drop,
    "pandas.Index.get_loc": index_of_texts,
    "pandas.Series.argsort": array_methods.sort,
}


def _date_part(value: Value, _name: str, _state: State) -> Value:
    owner = value.facts.get("of") if isinstance(value, Thing) else value
    shape = owner.shape if isinstance(owner, Array) else None
    labels = owner.labels if isinstance(owner, Array) else None
    return Array("series", shape, "int64", labels=labels)


def _categories(value: Value, name: str, _state: State) -> Value:
    owner = value.facts.get("of") if isinstance(value, Thing) else None
    if not isinstance(owner, Array):
        return Unknown()
    if name == "codes":
        made = Array("series", owner.shape, "int8", labels=owner.labels)
        if owner.categories is not None:
            made.low, made.high = (
                -1 if facts.has_nan(owner) is not False else 0,
                len(owner.categories) - 1,
            )
        return made
    if owner.categories is None:
        return Array("index", (None,))
    return of_data(np.array(owner.categories), "index")


def _name(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return value.name or (Sequence("list") if name == "names" else Unknown())


PROPERTIES: Final[dict[str, Property]] = {
    **{f"pandas.Series.{name}": _accessor for name in ("str", "dt", "cat")},
    "pandas.Index.str": _accessor,
    "pandas.Series.values": _values,
    "pandas.Index.values": _values,
    "pandas.Series.name": _name,
    **{
        f"pandas.core.indexes.accessors.DatetimeProperties.{name}": _date_part
        for name in (
            "year",
            "month",
            "day",
            "hour",
            "minute",
            "second",
            "dayofweek",
            "weekday",
            "quarter",
        )
    },
    "pandas.cat.codes": _categories,
    "pandas.cat.categories": _categories,
}
