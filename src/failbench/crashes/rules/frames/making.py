"""Functions of pandas that make tables and series, and that put them together."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays.creation import cast
from failbench.crashes.rules.evaluation import iteration, operators
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.items import as_column, names_of, rows_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def rows_index(rows: int | None) -> Array:
    """The index of a table that was given none."""
    if rows is not None and rows <= 20_000:
        return of_data(np.arange(rows), "index")
    made = Array("index", (rows,), "int64", low=0, high=None if rows is None else rows - 1)
    made.is_unique = True
    return made


def index_of(value: Value | None) -> Array | None:
    """The index that an argument becomes."""
    if value is None or (isinstance(value, Known) and value.data is None):
        return None
    taken = operators.as_array(value)
    is_nested = isinstance(value, Sequence) and any(
        isinstance(e, Sequence) for e in value.items or []
    )
    if is_nested or (taken is not None and taken.rank != 1):
        return Array("index", (None,))
    if taken is None:
        return Array("index", (iteration.length(value),))
    made = as_column(taken, None)
    made.home = "index"
    return made


def frame(call: Call) -> Value:
    """A table of what is given.

    Raises
    ------
    ViolationError
        If columns have other lengths, or names are other than there are columns.
    """
    value = call.arg(0, "data")
    labels = index_of(call.arg(1, "index"))
    given = call.arg(2, "columns")
    names = _labels(given)
    if value is None or (isinstance(value, Known) and value.data is None):
        rows = 0 if labels is None else labels.length
        columns = (
            None if names is None else {name: Array("series", (rows,), "object") for name in names}
        )
        return Frame(columns if given is not None else {}, True, rows, labels or rows_index(rows))
    if isinstance(value, Mapping):
        return _of_columns(value, labels, names if given is not None else None, given is not None)
    if isinstance(value, Frame):
        made = rows_of(value, value.rows, slice(None))
        return made if given is None and labels is None else Frame(None, False, value.rows)
    if (
        isinstance(value, Sequence)
        and value.items
        and all(isinstance(e, Mapping) for e in value.items)
    ):
        return _of_records(value, labels)
    if isinstance(value, Sequence) and value.items is not None:
        return _of_rows(value.items, labels, names, given is not None)
    array = operators.as_array(value)
    if array is None:
        return Frame(None, False, None, labels)
    return _of_grid(array, labels, names, given is not None)


def _labels(value: Value | None) -> list[Hashable] | None:
    if value is None:
        return None
    taken = index_of(value)
    return None if taken is None or taken.data is None else list(taken.data.tolist())


def _of_columns(
    value: Mapping, labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    sizes: dict[Hashable, int] = {}
    rows = None
    for key, each in value.items.items():
        is_one = isinstance(each, Known) or (isinstance(each, Array) and each.rank == 0)
        size = None if is_one or isinstance(each, Mapping) else iteration.length(each)
        if isinstance(each, Array) and each.rank is not None and each.rank > 1:
            raise ViolationError("ValueError", "a column has one axis")
        if size is not None and not (isinstance(each, Array) and each.home == "series"):
            sizes[key] = size
        elif size is not None:
            rows = rows if rows is not None else size
            if rows != size:
                rows = -1
    if len(set(sizes.values())) > 1:
        raise ViolationError(
            "ValueError", f"columns have the lengths {sorted(set(sizes.values()))}"
        )
    all_plain = all(isinstance(e, Known) for e in value.items.values())
    if all_plain and value.items and labels is None and value.is_complete:
        raise ViolationError("ValueError", "columns that are all scalars need an index")
    if sizes:
        rows = next(iter(sizes.values()))
        if labels is not None and labels.length is not None and labels.length != rows:
            raise ViolationError(
                "ValueError", f"an index of {labels.length} is given for {rows} rows"
            )
    elif labels is not None:
        rows = labels.length
    is_unaligned = rows == -1
    rows = None if is_unaligned else rows
    series = [e for e in value.items.values() if isinstance(e, Array) and e.home == "series"]
    if labels is None:
        labels = series[0].labels if series and not is_unaligned else rows_index(rows)
    columns = {}
    for key, each in value.items.items():
        column = as_column(each, rows)
        column.labels, column.name = labels, lift(key)
        if column.dtype == "object" and column.element_types == ("str",):
            column.dtype = "str"
        columns[key] = column
    if is_given:
        if names is None:
            return Frame(None, False, rows, labels)
        columns = {name: columns.get(name, Array("series", (rows,))) for name in names}
    return Frame(columns, value.is_complete, rows, labels)


def _of_records(value: Sequence, labels: Array | None) -> Frame:
    records = [item for item in value.items or [] if isinstance(item, Mapping)]
    keys: dict[Hashable, None] = {}
    for record in records:
        keys |= dict.fromkeys(record.items)
    columns = {}
    for key in keys:
        cells = [record.items.get(key, Known(None)) for record in records]
        columns[key] = as_column(Sequence("list", cells), len(records))
        columns[key].shape = (len(records),)
    return Frame(
        columns,
        all(r.is_complete for r in records),
        len(records),
        labels or rows_index(len(records)),
    )


def _of_rows(
    items: list[Value], labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    lengths = {iteration.length(each) for each in items}
    if names is not None and is_given and len(lengths) == 1 and None not in lengths:
        width = next(iter(lengths))
        if width != len(names) and all(isinstance(each, Sequence) for each in items):
            raise ViolationError("ValueError", f"{len(names)} names are given for {width} columns")
    if names is not None and is_given:
        columns = {}
        for place, name in enumerate(names):
            cells = [
                e.items[place]
                if isinstance(e, Sequence) and e.items and place < len(e.items)
                else Unknown()
                for e in items
            ]
            columns[name] = as_column(Sequence("list", cells), len(items))
            columns[name].shape = (len(items),)
        return Frame(columns, True, len(items), labels or rows_index(len(items)))
    array = operators.as_array(Sequence("list", items))
    if array is not None and array.rank == 2:
        return _of_grid(array, labels, None, False)
    return Frame(None, False, len(items), labels)


def _of_grid(
    array: Array, labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    if array.shape is None:
        return Frame(
            None if names is None else {n: Array("series", (None,)) for n in names},
            names is not None,
        )
    if len(array.shape) > 2:
        raise ViolationError("ValueError", f"a table has two axes, not {len(array.shape)}")
    rows = array.shape[0] if array.shape else None
    if array.fields is not None or array.dtype in (None, "void"):
        return Frame(None, False, rows)
    width = array.shape[1] if len(array.shape) == 2 else 1
    if names is not None and width is not None and len(names) != width:
        raise ViolationError("ValueError", f"{len(names)} names are given for {width} columns")
    if array.home == "series" and labels is not None:
        return Frame(None, False, labels.length, labels)
    if labels is not None and None not in (labels.length, rows) and labels.length != rows:
        raise ViolationError("ValueError", f"an index of {labels.length} is given for {rows} rows")
    known = names if is_given else None if width is None else list(range(width))
    if known is None:
        return Frame(None, False, rows, labels or rows_index(rows))
    columns: dict[Hashable, Array] = {}
    for place, name in enumerate(known):
        column = derived(array, (rows,), keep=True)
        column.home, column.nan = "series", facts.has_nan(array) if width == 1 else None
        if facts.has_nan(array) is False:
            column.nan = False
        if array.data is not None:
            column.data = array.data if array.data.ndim == 1 else array.data[:, place]
        columns[name] = column
    return Frame(columns, True, rows, labels or rows_index(rows))


def series(call: Call) -> Value:
    """A series of what is given."""
    value = call.arg(0, "data")
    labels = index_of(call.arg(1, "index"))
    if value is None:
        return Array("series", (0 if labels is None else labels.length,))
    if isinstance(value, Mapping):
        if labels is not None:
            return Array("series", (labels.length,), labels=labels)
        keys = (
            of_data(np.array(list(value.items), dtype=object), "index")
            if value.is_complete
            else None
        )
        column = as_column(Sequence("list", list(value.items.values())), len(value.items))
        if keys is not None and keys.data is not None:
            types = {type(key) for key in value.items}
            if types == {int}:
                keys = of_data(np.array(list(value.items)), "index")
            elif types == {str}:
                keys.dtype = "str"
        column.labels = keys
        if not value.is_complete:
            column.shape, column.data = (None,), None
        return column
    taken = operators.as_array(value)
    is_array = isinstance(value, Array)
    if is_array and taken is not None and taken.rank is not None and taken.rank > 1:
        raise ViolationError("ValueError", f"a series has one axis, not {taken.rank}")
    size = iteration.length(value)
    is_one = isinstance(value, Known)
    if (
        (
            labels is not None
            and not is_one
            and not (isinstance(value, Array) and value.home == "series")
        )
        and None not in (size, labels.length)
        and size != labels.length
    ):
        raise ViolationError(
            "ValueError", f"{size} values are given for an index of {labels.length}"
        )
    if taken is not None and taken.rank is not None and taken.rank > 1:
        return Array("series", (size,), "object", labels=labels)
    column = as_column(value, labels.length if labels is not None else 1)
    column.labels = labels or rows_index(column.length)
    column.name = call.arg(3, "name")
    dtype = call.arg(2, "dtype")
    if dtype is not None:
        kept = column.labels
        column = to_type(column, named(dtype), value)
        column.labels = kept
    return column


def to_type(column: Array, dtype: str | None, _original: Value | None = None) -> Array:
    """A series in another type.

    Raises
    ------
    ViolationError
        If gaps or text are made whole numbers.
    """
    target = facts.kind(Array("series", (), dtype)) if dtype is not None else None
    if (
        target in ("i", "u")
        and dtype is not None
        and dtype[0].islower()
        and facts.kind(column) in ("f", None, "O")
    ) and (facts.has_nan(column) or facts.has_inf(column)):
        is_number = facts.kind(column) == "f"
        raise ViolationError(
            "IntCastingNaNError" if is_number else "TypeError", "gaps are no whole numbers"
        )
    if target == "f" and facts.kind(column) == "M":
        raise ViolationError("TypeError", "dates are no numbers")
    if dtype == "category":
        made = derived(column, column.shape, "category", keep=True)
        made.categories = facts.values_of(column)
        made.nan, made.data, made.labels, made.distinct = (
            facts.has_nan(column),
            column.data,
            column.labels,
            column.distinct,
        )
        return made
    if dtype in ("Int64", "Float64", "boolean") or dtype is None or target in ("M", "O"):
        made = derived(column, column.shape, dtype, keep=True)
        made.dtype = dtype
        made.nan, made.labels, made.uniques = column.nan, column.labels, column.uniques
        if dtype == "object":
            made.element_types = ("str",) if column.dtype == "str" else column.element_types
            made.data = column.data
        return made
    if target == "U":
        made = derived(column, column.shape, "str")
        made.labels = column.labels
        made.data = column.data if column.dtype == "str" else None
        return made
    stored = column.data
    if stored is not None and stored.dtype.kind == "O" and facts.has_nan(column):
        column = derived(column, column.shape)
    return cast(column, dtype)


def date_range(call: Call) -> Value:
    """A run of dates."""
    count = call.integer(2, "periods")
    start = call.text(0, "start")
    step = call.text(3, "freq", default="D")
    end = call.text(1, "end")
    check_frequency(step)
    made = Array("index", (count,), "datetime64", is_unique=True, nan=False)
    units: dict[str | None, Any] = {"D": "D", "h": "h", "min": "m", "s": "s", "W": None, "MS": "M"}
    try:
        if start is not None and step in units and units[step]:
            unit = units[step]
            first: Any = np.datetime64(start)
            if count is not None and count <= 20_000:
                made.data = np.datetime64(first, unit) + np.arange(count)
            elif end is not None:
                last: Any = np.datetime64(end)
                data = np.arange(np.datetime64(first, unit), np.datetime64(last, unit) + 1)
                if data.size <= 20_000:
                    made.data, made.shape = data, data.shape
    except (ValueError, OverflowError):
        return made
    return made


OLD_FREQUENCIES: Final = frozenset(
    {"M", "Q", "Y", "A", "H", "T", "S", "L", "U", "N", "BM", "BQ", "BY", "BA", "CBM"}
)
"""Names of frequencies that version 3.0 took away."""


def check_frequency(text: str | None) -> None:
    """Refuse a frequency that was renamed.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    if text is not None and text.lstrip("-0123456789").partition("-")[0] in OLD_FREQUENCIES:
        raise ViolationError("ValueError", f"{text!r} is no frequency since version 3.0")


def concat(call: Call) -> Value:
    """Tables one after another, or beside one another."""
    value = call.arg(0, "objs")
    if isinstance(value, (Frame, Array)) and value is not None:
        raise ViolationError("TypeError", "a list of tables is put together, not a table")
    items = iteration.elements(value or Unknown())
    if items is None:
        return Unknown()
    kept = [e for e in items if not (isinstance(e, Known) and e.data is None)]
    if not kept:
        raise ViolationError("ValueError", "there is nothing to put together")
    for each in kept:
        if isinstance(each, (Sequence, Mapping, Known)) or (
            isinstance(each, Array) and each.home not in ("series", "python")
        ):
            raise ViolationError("TypeError", "only tables and series are put together")
    axis = call.known(1, "axis", default=0)
    frames = [each for each in kept if isinstance(each, Frame)]
    if len(frames) < len(kept):
        arrays = [each for each in kept if isinstance(each, Array)]
        if len(arrays) == len(kept) and axis in (0, "index"):
            sizes = [each.length for each in arrays]
            total = None if None in sizes else sum(each or 0 for each in sizes)
            return Array("series", (total,), arrays[0].dtype)
        return Unknown()
    if any(each.columns is None or not each.is_complete for each in frames):
        return Frame(None, False, None)
    columns: dict[Hashable, Array] = {}
    sizes = [each.rows for each in frames]
    if axis in (1, "columns"):
        for each in frames:
            columns |= {k: derived(c, c.shape) for k, c in (each.columns or {}).items()}
        rows = sizes[0] if len(set(sizes)) == 1 else None
        return Frame(columns, True, rows, frames[0].labels if rows is not None else None)
    rows = None if None in sizes else sum(each or 0 for each in sizes)
    names: dict[Hashable, None] = {}
    for each in frames:
        names |= dict.fromkeys(each.columns or {})
    for name in names:
        parts = [(each.columns or {}).get(name) for each in frames]
        made = Array("series", (rows,))
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            made.dtype = known[0].dtype if len({part.dtype for part in known}) == 1 else None
            gaps = [facts.has_nan(part) for part in known]
            made.nan = True if True in gaps else False if set(gaps) == {False} else None
        elif any(e.rows for e, part in zip(frames, parts, strict=False) if part is None):
            made.nan = True
            made.dtype = "float64" if facts.kind(known[0]) in ("i", "f") else known[0].dtype
        columns[name] = made
    labels = rows_index(rows) if call.flag(None, "ignore_index") else None
    return Frame(columns, True, rows, labels)


def read_csv(call: Call) -> Value:
    """A table of a text that the code has.

    Raises
    ------
    ViolationError
        If a column that an argument names is not in the header.
    """
    source = call.first()
    text = source.facts.get("text") if isinstance(source, Thing) else None
    if not isinstance(text, str):
        return Frame(None, False, None)
    allowed = {
        "parse_dates",
        "sep",
        "delimiter",
        "index_col",
        "dtype",
        "skipinitialspace",
        "names",
        "header",
        "usecols",
    }
    if not set(call.kwargs) <= allowed or len(call.args) > 1:
        return Frame(None, False, None)
    separator = call.text(None, "sep", "delimiter", default=",")
    if separator is None or len(separator) != 1 or call.arg(None, "header") is not None:
        return Frame(None, False, None)
    skips = call.flag(None, "skipinitialspace")
    lines = [
        row
        for row in csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=bool(skips))
        if row
    ]
    if call.arg(None, "names") is not None:
        header: list[Any] = names_of(call.arg(None, "names"))
    else:
        header, lines = (lines[0], lines[1:]) if lines else ([], [])
    if not header or any(len(row) != len(header) for row in lines):
        return Frame(None, False, None)
    for argument in ("usecols", "parse_dates", "index_col"):
        for name in names_of(call.arg(None, argument)):
            if isinstance(name, str) and name not in header:
                raise ViolationError(
                    "ValueError", f"{argument} names {name!r}, which is none of {header}"
                )
    labels = rows_index(len(lines))
    columns: dict[Hashable, Array] = {}
    dates = names_of(call.arg(None, "parse_dates"))
    for place, name in enumerate(header):
        column = _cells([row[place] for row in lines])
        if name in dates:
            column = Array("series", (len(lines),), "datetime64")
        column.labels = labels
        columns[name] = column
    used = names_of(call.arg(None, "usecols"))
    if used:
        columns = {name: column for name, column in columns.items() if name in used}
    made = Frame(columns, True, len(lines), labels)
    label = call.arg(None, "index_col")
    if label is not None:
        key = names_of(label)
        if len(key) != 1:
            return Frame(None, False, len(lines))
        name = header[key[0]] if isinstance(key[0], int) else key[0]
        index = columns.pop(name)
        index.home = "index"
        made.labels = index
    types = call.kwargs.get("dtype")
    if isinstance(types, Mapping):
        for key_, each in types.items.items():
            if key_ in columns:
                columns[key_] = to_type(columns[key_], named(each))
    return made


def _cells(cells: list[str]) -> Array:
    missing = {"", "NA", "NaN", "nan", "null", "N/A", "None", "n/a", "NULL", "<NA>"}
    filled = [cell for cell in cells if cell not in missing]
    for kind in (int, float):
        try:
            values = [kind(cell) if cell not in missing else float("nan") for cell in cells]
            for cell in filled:
                kind(cell)
            return of_data(np.array(values), "series")
        except ValueError:
            continue
    if {cell.lower() for cell in filled} <= {"true", "false"} and filled == cells:
        return of_data(np.array([cell.lower() == "true" for cell in cells]), "series")
    return of_data(
        np.array([None if c in missing else c for c in cells], dtype=object), "series", "str"
    )


def to_numbers(call: Call) -> Value:
    """Text as numbers."""
    column = operators.as_array(call.first())
    errors = call.text(1, "errors", default="raise")
    if column is None:
        return Unknown()
    made = derived(column, column.shape)
    made.labels = column.labels
    if facts.kind(column) in ("i", "f", "u", "b"):
        return column
    made.dtype = None
    for each in facts.seen(column) if errors == "raise" else ():
        if isinstance(each, str) and not each.endswith("…"):
            try:
                float(each)
            except ValueError as error:
                raise ViolationError("ValueError", f"{each!r} is no number") from error
    return made


def to_dates(call: Call) -> Value:
    """Text as dates."""
    value = call.first()
    column = operators.as_array(value)
    if column is None:
        return Unknown()
    errors = call.text(None, "errors", default="raise")
    for each in facts.seen(column) if errors == "raise" else ():
        if (
            isinstance(each, str)
            and not any(letter.isdigit() for letter in each)
            and each.strip()
            and each.lower()[:3] not in (*MONTHS, "now", "tod", "nat", "nan", "non", "n/a")
        ):
            raise ViolationError("DateParseError", f"{each!r} is no date")
    home = "series" if column.home == "series" else "index"
    if column.rank == 0:
        return Unknown()
    made = Array(home, column.shape, "datetime64")
    made.labels, made.nan = column.labels, facts.has_nan(column)
    return made


def categories(call: Call) -> Value:
    """A categorical."""
    column = operators.as_array(call.first()) if call.args else None
    allowed = call.arg(1, "categories")
    made = Array("index", None if column is None else column.shape, "category")
    try:
        made.categories = (
            facts.values_of(column)
            if allowed is None and column is not None
            else tuple(concrete(allowed))
        )
    except (NotConcreteError, TypeError):
        made.categories = None
    return made


def cut(call: Call) -> Value:
    """Values in bins.

    Raises
    ------
    ViolationError
        If bins do not rise, or there are other numbers of names than of bins.
    """
    column = operators.as_array(call.first()) if call.args else None
    try:
        bins = call.known(1, "bins", "q")
    except NotConcreteError:
        bins = None
    labels = call.arg(None, "labels") or (
        call.args[3] if call.name == "cut" and len(call.args) > 3 else None
    )
    edges = None
    if (
        isinstance(bins, (list, tuple, np.ndarray))
        and len(bins)
        and all(isinstance(e, (int, float, np.number)) for e in bins)
    ):
        edges = np.asarray(bins, dtype=float)
        if call.name == "cut" and bool((np.diff(edges) < 0).any()):
            raise ViolationError("ValueError", "bins must increase")
        if (
            call.name == "cut"
            and bool((np.diff(edges) == 0).any())
            and call.text(None, "duplicates") != "drop"
        ):
            raise ViolationError("ValueError", "edges of bins must be unique")
        if call.name == "qcut" and (edges.min() < 0 or edges.max() > 1):
            raise ViolationError("ValueError", "quantiles are between 0 and 1")
    count = len(edges) - 1 if edges is not None else bins if isinstance(bins, int) else None
    size = iteration.length(labels) if labels is not None else None
    if (
        count is not None
        and size is not None
        and size != count
        and call.text(None, "duplicates") != "drop"
    ):
        raise ViolationError("ValueError", f"{size} names are given for {count} bins")
    if column is not None and column.dtype == "str":
        raise ViolationError("TypeError", "text has no bins")
    is_code = isinstance(labels, Known) and labels.data is False
    home = "series" if column is not None and column.home == "series" else "numpy"
    made = Array(home, None if column is None else column.shape, None if is_code else "category")
    made.labels = None if column is None else column.labels
    if column is not None and edges is not None and call.name == "cut":
        low, high, is_attained = facts.bounds(column)
        closed = call.flag(None, "right", default=True)
        lowest = call.flag(None, "include_lowest")
        if low is not None and high is not None and closed is not None:
            outside = (
                (low <= edges[0] and closed and not lowest) or high > edges[-1] or low < edges[0]
            )
            if is_attained and outside:
                made.nan = True
            elif not outside and facts.has_nan(column) is False:
                made.nan = False
    if is_code:
        made.dtype = (
            {True: "float64", False: "int64"}.get(made.nan) if made.nan is not None else None
        )
    return made


def dummies(call: Call) -> Value:
    """Indicators of categories."""
    value = call.first()
    if isinstance(value, Frame):
        from_columns = call.arg(None, "columns")
        if value.columns is not None and value.is_complete:
            for name in names_of(from_columns):
                if name not in value.columns:
                    raise ViolationError("KeyError", f"{name!r} is none of the columns")
        return Frame(None, False, value.rows, value.labels)
    column = operators.as_array(value)
    if column is None:
        return Frame(None, False, None)
    count = facts.distinct(column)
    dtype = named(call.kwargs.get("dtype")) or "bool"
    if column.length is not None and count is not None:
        memory.check(column.length * count, dtype)
    values = facts.values_of(column)
    if values is None and column.categories is None:
        return Frame(None, False, column.length, column.labels, count)
    names = column.categories or values or ()
    prefix = call.text(None, "prefix", default="")
    made = {
        f"{prefix}_{n}" if prefix else n: Array(
            "series", (column.length,), dtype, nan=False, inf=False
        )
        for n in names
    }
    return Frame(made, prefix is not None, column.length, column.labels)


def _index(call: Call) -> Value:
    made = index_of(call.arg(0, "data"))
    return made if made is not None else Array("index")


FUNCTIONS: Final[dict[str, Handler]] = {
    "pandas.DataFrame": frame,
    "pandas.Series": series,
    "pandas.Index": _index,
    "pandas.date_range": date_range,
    "pandas.concat": concat,
    "pandas.read_csv": read_csv,
    "pandas.to_numeric": to_numbers,
    "pandas.to_datetime": to_dates,
    "pandas.Categorical": categories,
    "pandas.cut": cut,
    "pandas.qcut": cut,
    "pandas.get_dummies": dummies,
}
