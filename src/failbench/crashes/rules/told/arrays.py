"""Arrays, series, indexes and tensors that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.values import Array, Known, Value
from failbench.crashes.rules.told.entries import ALL_SHOWN, WORDS, Entry, dtype_told, facts_of

HOMES: Final = {"array": "numpy", "series": "series", "index": "index", "tensor": "torch"}


def array_told(known: Value, entry: Entry) -> Value:
    """An array, series, index or tensor."""
    kind = facts_of(entry, "type").get("kind")
    home = HOMES.get(kind or "") or (known.home if isinstance(known, Array) else "numpy")
    base = known if isinstance(known, Array) and known.home == home else Array(home)
    made = Array(home, base.shape, base.dtype, base.data, base.low, base.high, base.is_attained)
    made.nan, made.inf, made.uniques, made.distinct = (
        base.nan,
        base.inf,
        base.uniques,
        base.distinct,
    )
    made.labels, made.name, made.categories, made.fields = (
        base.labels,
        base.name,
        base.categories,
        base.fields,
    )
    made.device, made.needs_grad, made.is_leaf = base.device, base.needs_grad, base.is_leaf
    made.is_contiguous, made.graph, made.is_unique = base.is_contiguous, base.graph, base.is_unique
    made.element_types, made.member = base.element_types, base.member
    if base is not known and home == "torch":
        made.device, made.needs_grad, made.is_leaf = None, None, None
    _structure(made, entry)
    _type(made, entry)
    _values(made, facts_of(entry, "value"))
    return made


def _structure(made: Array, entry: Entry) -> None:
    structural = facts_of(entry, "structural")
    shape = structural.get("shape")
    if shape is None and "length" in structural:
        shape = [structural["length"]]
    if shape is not None:
        if made.data is not None and made.data.shape != tuple(shape):
            made.data = None
        made.shape = tuple(shape)
    if "fields" in structural:
        made.fields = tuple(structural["fields"])
    if "name" in structural:
        made.name = lift(structural["name"]) if structural["name"] is not None else None
    if made.home == "index":
        if "index_unique" in structural:
            made.is_unique = structural["index_unique"]
        _labels_of_index(made, structural)
    elif (
        "index_labels" in structural
        or "index_unique" in structural
        or "index" in facts_of(entry, "type")
    ):
        made.labels = index_told(made.labels, entry, made.length)


def index_told(known: Array | None, entry: Entry, rows: int | None) -> Array:
    """The index of a series or a table."""
    structural = facts_of(entry, "structural")
    made = Array("index", (rows,), None)
    if known is not None:
        made.dtype, made.data, made.name = known.dtype, known.data, known.name
        made.low, made.high, made.is_attained = known.low, known.high, known.is_attained
        if made.data is not None and made.data.shape != (rows,):
            made.data, made.low, made.high = None, None, None
    dtype = facts_of(entry, "type").get("index")
    if dtype is not None:
        made.dtype = dtype_told(dtype)
    if "index_unique" in structural:
        made.is_unique = structural["index_unique"]
    names = structural.get("index_names")
    if names and names != [None]:
        made.name = lift(names[0]) if len(names) == 1 else Known(tuple(names))
    _labels_of_index(made, structural)
    return made


def _labels_of_index(made: Array, structural: dict[str, Any]) -> None:
    labels = structural.get("index_labels")
    rows = made.length
    if not isinstance(labels, list) or rows is None or made.data is not None:
        return
    first = labels[: min(rows, ALL_SHOWN)]
    complete = [*first, *labels[len(first) :]][: rows if rows <= ALL_SHOWN else None]
    is_complete = rows <= ALL_SHOWN or (rows == ALL_SHOWN + 1 and len(labels) == rows)
    plain = all(
        isinstance(each, (int, float, str)) and not isinstance(each, bool) for each in labels
    )
    if (
        not labels
        or not plain
        or any(isinstance(each, str) and each.endswith("…") for each in labels)
    ):
        return
    if (made.dtype or "").startswith("datetime64"):
        _dates(made, first if is_complete and rows <= ALL_SHOWN else labels, rows, is_complete)
        return
    if is_complete:
        whole = complete if rows <= ALL_SHOWN else labels
        kinds = {type(each) for each in whole}
        if len(whole) == rows and len(kinds) == 1:
            made.data = np.array(whole, dtype=object if kinds == {str} else None)
            if kinds == {str} and made.dtype is None:
                made.dtype = "str"
        return
    is_range = first == list(range(len(first))) and labels[-1] == rows - 1 and made.is_unique
    if is_range and made.dtype in ("int64", None):
        index = rows_index(rows)
        made.data, made.low, made.high, made.dtype = index.data, index.low, index.high, "int64"


def _dates(made: Array, labels: list[Any], rows: int, is_complete: bool) -> None:
    try:
        known = np.array([np.datetime64(each) for each in labels])
    except ValueError:
        return
    days = known.astype("datetime64[D]")
    if is_complete and len(known) == rows:
        made.data = known
    elif (
        len(known) > ALL_SHOWN
        and (np.diff(days[:ALL_SHOWN]).astype(int) == 1).all()
        and int((days[-1] - days[0]).astype(int)) == rows - 1
        and (known == days).all()
    ):
        # a run of days without a gap from the first to the last, one for each row
        made.data = days[0] + np.arange(rows)


def _type(made: Array, entry: Entry) -> None:
    told = facts_of(entry, "type")
    if told.get("dtype") is not None:
        dtype = dtype_told(told["dtype"])
        if dtype != made.dtype:
            made.data = None
        made.dtype = dtype
    if "device" in told:
        made.device = told["device"]
    if "requires_grad" in told:
        made.needs_grad = told["requires_grad"]
        made.is_leaf = not told.get("has_graph") if made.needs_grad else True
        if not told.get("has_graph"):
            made.graph = ()
    if "is_contiguous" in told:
        made.is_contiguous = told["is_contiguous"]


def _values(made: Array, told: dict[str, Any]) -> None:
    if not told:
        return
    single = told.get("value")
    single = WORDS.get(single, single) if isinstance(single, str) else single
    if isinstance(single, (int, float)):
        made.data = np.asarray(single)
        made.shape = ()
        return
    keeps = made.data is not None and _agrees(made, told)
    if not keeps:
        made.data = None
    if "nan_share" in told:
        made.nan = told["nan_share"] not in (0, 0.0)
    made.inf = bool(told.get("inf_share"))
    ends = told.get("range")
    if ends:
        low, high = (WORDS.get(each, each) if isinstance(each, str) else each for each in ends)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            made.low, made.high, made.is_attained = float(low), float(high), True
            made.inf = (
                made.inf or abs(float(low)) == float("inf") or abs(float(high)) == float("inf")
            )
    elif "range" not in told and made.low is not None and not keeps:
        made.low, made.high, made.is_attained = None, None, False
    if "distinct" in told:
        made.distinct = told["distinct"]
    uniques = told.get("uniques")
    made.uniques = None
    if isinstance(uniques, list):
        plain = [
            WORDS.get(each, each) if isinstance(each, str) and facts.kind(made) == "f" else each
            for each in uniques
        ]
        is_whole = told.get("distinct") == len(plain) and not any(
            isinstance(e, str) and e.endswith("…") for e in plain
        )
        if is_whole and len(plain) <= ALL_SHOWN:
            made.uniques = tuple(plain)
        made.member = made.member
    if "element_types" in told:
        made.element_types = tuple(each for each in told["element_types"] if each != "NoneType")


def _agrees(made: Array, told: dict[str, Any]) -> bool:
    """Whether values that the code gives are those of which the summary tells."""
    low, high, _ = facts.bounds(made)
    ends = told.get("range")
    if (
        ends
        and low is not None
        and high is not None
        and all(isinstance(e, (int, float)) for e in ends)
    ):
        near = all(
            abs(a - b) <= 1e-4 * max(abs(b), 1e-9) for a, b in zip((low, high), ends, strict=False)
        )
        if not near:
            return False
    count = facts.distinct(made)
    return count is None or told.get("distinct") is None or count == told["distinct"]


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    **dict.fromkeys(HOMES, array_told),
}
