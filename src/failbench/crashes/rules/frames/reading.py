"""Tables of pandas that are read from text."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable
from typing import Any

import numpy as np

from failbench.crashes.rules.frames.conversion import to_type
from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import of_data
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Mapping, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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
