"""Tables of pandas that methods are called of, and their copies."""

from __future__ import annotations

from failbench.crashes.rules.frames.rows import rows_of
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Frame, Known, Value


def table(call: Call) -> Frame:
    """The table that a method is called of."""
    assert isinstance(call.receiver, Frame)
    return call.receiver


def given(call: Call, made: Value) -> Value:
    """The result, or None where the table itself is changed."""
    if call.flag(None, "inplace"):
        owner = table(call)
        if isinstance(made, Frame):
            owner.columns, owner.is_complete = made.columns, made.is_complete
            owner.rows, owner.labels = made.rows, made.labels
        return Known(None)
    return made


def copied(frame: Frame) -> Frame:
    """A table with the same content."""
    made = rows_of(frame, frame.rows, slice(None))
    for name, column in (made.columns or {}).items():
        old = (frame.columns or {})[name]
        column.nan, column.inf, column.uniques, column.distinct = (
            old.nan,
            old.inf,
            old.uniques,
            old.distinct,
        )
        column.is_attained, column.is_unique = old.is_attained, old.is_unique
    made.labels = frame.labels
    return made


def unchanged(call: Call) -> Value:
    """The same rows and columns."""
    return copied(table(call))
