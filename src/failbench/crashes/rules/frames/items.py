"""Items of tables, series and groups of pandas."""

from __future__ import annotations

from failbench.crashes.rules.frames.labels import check_columns, check_label, names_of
from failbench.crashes.rules.frames.rows import (
    check_mask,
    element_of,
    masked_part,
    part_of,
    rows_of,
    select,
)
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, key_of, lift
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Sequence,
    Thing,
    Unknown,
    Value,
)


def item_of_frame(frame: Frame, index: Value) -> Value:
    """The value of ``frame[index]``.

    Raises
    ------
    ViolationError
        If a column is not there, or a mask has another length.
    """
    if isinstance(index, Array) and index.home != "python":
        if facts.kind(index) == "b":
            return masked_part(frame, index)
        if index.data is not None and index.rank == 1:
            names = index.data.tolist()
            check_columns(frame, names)
            return select(frame, names)
        return Frame(None, False, frame.rows)
    if isinstance(index, Frame):
        return rows_of(frame, frame.rows)
    if isinstance(index, Sequence) and index.kind in ("list", "view"):
        if index.items and all(
            isinstance(e, Known) and isinstance(e.data, bool) for e in index.items
        ):
            check_mask(frame.rows, len(index.items), "ValueError")
            return rows_of(frame, None)
        try:
            names = list(concrete(index))
        except NotConcreteError:
            return Frame(None, False, frame.rows, frame.labels)
        check_columns(frame, names)
        return select(frame, names)
    try:
        key = key_of(index)
    except NotConcreteError:
        if isinstance(index, Known) and isinstance(index.data, slice):
            return rows_of(frame, None)
        return Unknown()
    if isinstance(key, slice):
        return rows_of(frame, None)
    check_columns(frame, [key])
    if frame.columns is not None and key in frame.columns:
        column = frame.columns[key]
        column.labels, column.name = frame.labels, lift(key)
        return column
    return Unknown()


def item_of_series(series: Array, index: Value) -> Value:
    """The value of ``series[index]``.

    Raises
    ------
    ViolationError
        If a label is not there, or a mask has another length.
    """
    if isinstance(index, Array) and index.home != "python":
        if facts.kind(index) == "b":
            return masked_part(series, index)
        return part_of(series, index.length)
    try:
        key = concrete(index)
    except NotConcreteError:
        return Unknown()
    if isinstance(key, slice):
        return part_of(
            series,
            None,
            key if all(type(e) in (int, type(None)) for e in (key.start, key.stop)) else None,
        )
    keys = key if isinstance(key, list) else [key]
    for each in keys:
        check_label(series.labels, series.length, each)
    if isinstance(key, list):
        return part_of(series, len(key))
    return element_of(series)


def item_of_group(group: Thing, index: Value) -> Value:
    """The value of ``groups[index]``.

    Raises
    ------
    ViolationError
        If a column is not there.
    """
    frame = group.facts.get("frame")
    if not isinstance(frame, Frame):
        return Unknown()
    names = names_of(index)
    check_columns(frame, names)
    facts_of = dict(group.facts)
    if isinstance(index, Known):
        facts_of["column"] = names[0] if names else None
        return Thing("pandas.core.groupby.SeriesGroupBy", facts_of)
    keys = [key for key in group.facts.get("keys") or [] if key not in names]
    facts_of["frame"] = select(frame, [*keys, *names])
    return Thing(group.path, facts_of)
