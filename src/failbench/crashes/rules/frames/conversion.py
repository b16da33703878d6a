"""Columns of pandas in another type."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays.casting import cast
from failbench.crashes.rules.evaluation import operands
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


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


def to_numbers(call: Call) -> Value:
    """Text as numbers."""
    column = operands.as_array(call.first())
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
    column = operands.as_array(value)
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
    column = operands.as_array(call.first()) if call.args else None
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
