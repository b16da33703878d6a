"""Windows and shifts along tables and series of pandas."""

from __future__ import annotations

from failbench.crashes.rules.frames.columns import column
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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
