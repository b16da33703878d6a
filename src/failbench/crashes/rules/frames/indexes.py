"""Indexes of pandas, and frequencies of dates."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.frames.storage import as_column
from failbench.crashes.rules.knowledge.folding import of_data
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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
    taken = operands.as_array(value)
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


def made_index(call: Call) -> Value:
    """``pandas.Index``."""
    made = index_of(call.arg(0, "data"))
    return made if made is not None else Array("index")
