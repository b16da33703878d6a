"""Text, dates and categories of series of pandas, and other properties."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.evaluation.registry import Property
from failbench.crashes.rules.frames.columns import column, values
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import Array, Frame, Sequence, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def _values(value: Value, _name: str, state: State) -> Value:
    return values(Call(state, "pandas.Series.to_numpy", [], {}, True, value))


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
