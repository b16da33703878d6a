"""Methods of tables of pandas that order and choose rows."""

from __future__ import annotations

from failbench.crashes.rules.frames.labels import check_columns, names_of
from failbench.crashes.rules.frames.rows import rows_of
from failbench.crashes.rules.frames.tables import copied, given, table
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Frame, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def by_column(call: Call) -> Value:
    """Sorted by columns, or by the largest: the rows are others."""
    frame = table(call)
    place = 1 if call.name in ("nlargest", "nsmallest") else 0
    names = names_of(call.arg(place, "by", "columns", "subset", "column"))
    index_name = frame.labels.name if frame.labels is not None else None
    if not (isinstance(index_name, Known) and names and names[0] == index_name.data) and isinstance(
        index_name, (Known, type(None))
    ):
        check_columns(frame, names)
    if call.name in ("nlargest", "nsmallest"):
        for name in names:
            column = (frame.columns or {}).get(name)
            if column is not None and column.dtype in ("str", "object"):
                raise ViolationError("TypeError", f"{name!r} is of text, which has no largest")
        count = call.integer(0, "n")
        known = None if count is None or frame.rows is None else min(count, frame.rows)
        return rows_of(frame, known)
    if call.name == "explode":
        return rows_of(frame, None)
    made = rows_of(frame, frame.rows)
    return given(call, made)


def part(call: Call) -> Value:
    """Some rows: the first, the last, a sample, or those without gaps or copies."""
    frame = table(call)
    if call.name in ("head", "tail"):
        count = call.integer(0, "n", default=5)
        if count is None or frame.rows is None:
            return rows_of(frame, None)
        size = min(count, frame.rows) if count >= 0 else max(frame.rows + count, 0)
        places = slice(None, size) if call.name == "head" else slice(frame.rows - size, None)
        return rows_of(frame, size, places)
    if call.name == "sample":
        return _sample(call, frame)
    names = names_of(call.arg(0 if call.name == "drop_duplicates" else None, "subset"))
    check_columns(frame, names)
    made = rows_of(frame, None)
    if call.name == "dropna" and made.columns is not None:
        gaps = [
            facts.has_nan(c) for k, c in (frame.columns or {}).items() if not names or k in names
        ]
        if call.arg(0, "axis") is None:
            for name, column in made.columns.items():
                if not names or name in names:
                    column.nan = False
            if gaps and set(gaps) == {False}:
                made = copied(frame)
        else:
            return Frame(None, False, frame.rows)
    return given(call, made)


def _sample(call: Call, frame: Frame) -> Value:
    count = call.integer(0, "n")
    replaced = call.flag(2, "replace")
    share = call.number(1, "frac")
    if (
        call.arg(0, "n") is not None
        and call.arg(1, "frac") is not None
        and share is not None
        and count is not None
    ):
        raise ViolationError("ValueError", "either a number or a share is sampled")
    is_larger = count is not None and frame.rows is not None and count > frame.rows
    if replaced is False and (is_larger or (share is not None and share > 1)):
        raise ViolationError("ValueError", "more rows are sampled than there are")
    if call.arg(0, "n") is None and call.arg(1, "frac") is None:
        count = 1
    return rows_of(frame, count)
