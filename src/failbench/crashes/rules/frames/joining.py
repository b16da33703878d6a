"""Tables of pandas that are joined."""

from __future__ import annotations

from collections.abc import Hashable

from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.frames.labels import check_columns, names_of
from failbench.crashes.rules.frames.tables import table
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def merge(call: Call) -> Value:
    """Joined with another table.

    Raises
    ------
    ViolationError
        If a key is in one of them not, or has another type in each.
    """
    values = [call.receiver, *call.args] if isinstance(call.receiver, Frame) else call.args
    left = values[0] if values else call.kwargs.get("left")
    right = values[1] if len(values) > 1 else call.kwargs.get("right")
    how = call.text(None if "how" in call.kwargs else 1, "how", default="inner")
    if not isinstance(left, Frame) or not isinstance(right, Frame):
        return Frame(None, False, None)
    on = call.arg(2 if isinstance(call.receiver, Frame) else 3, "on")
    left_on, right_on = (
        names_of(call.arg(None, "left_on") or on),
        names_of(call.arg(None, "right_on") or on),
    )
    uses_index = (
        call.arg(None, "left_index") is not None or call.arg(None, "right_index") is not None
    )
    check_columns(left, _without_index(left, left_on))
    check_columns(right, _without_index(right, right_on))
    if (
        left.columns is None
        or right.columns is None
        or not left.is_complete
        or not right.is_complete
    ):
        return Frame(None, False, None)
    if not left_on and not right_on and not uses_index and how != "cross":
        shared: list[Hashable] = [name for name in left.columns if name in right.columns]
        if not shared and on is None and call.is_complete and call.arg(None, "left_on") is None:
            raise ViolationError("MergeError", "tables have no column in common")
        left_on = right_on = shared
    for one, other in zip(left_on, right_on, strict=False):
        if one in left.columns and other in right.columns:
            _check_keys(left.columns[one], right.columns[other])
    if how == "cross":
        total = None if left.rows is None or right.rows is None else left.rows * right.rows
        memory.check(
            None if total is None else total * (len(left.columns) + len(right.columns)), "int64"
        )
    return _joined(call, left, right, left_on, right_on, how)


def _without_index(frame: Frame, names: list[Hashable]) -> list[Hashable]:
    if frame.labels is None:
        return []
    name = frame.labels.name
    known = name.data if isinstance(name, Known) else None
    return [each for each in names if each != known]


def _check_keys(left: Array, right: Array) -> None:
    kinds = {facts.kind(left), facts.kind(right)}
    if None in kinds or len(kinds) == 1:
        return
    is_text = [each.dtype == "str" or each.element_types == ("str",) for each in (left, right)]
    if (
        any(is_text)
        and not all(is_text)
        and (kinds - {"U", "O"}) <= set("iuf")
        and len(kinds - {"U", "O"}) == 1
    ):
        raise ViolationError("ValueError", f"keys are of {left.dtype} and {right.dtype}")
    if "M" in kinds and kinds & set("iuf"):
        raise ViolationError("ValueError", f"keys are of {left.dtype} and {right.dtype}")


def _joined(
    call: Call,
    left: Frame,
    right: Frame,
    left_on: list[Hashable],
    right_on: list[Hashable],
    how: str | None,
) -> Frame:
    suffixes = ("_x", "_y")
    try:
        suffixes = tuple(call.known(None, "suffixes", default=suffixes))
    except NotConcreteError:
        return Frame(None, False, None)
    assert left.columns is not None
    assert right.columns is not None
    shared = [name for name in left_on if name in right_on]
    columns: dict[Hashable, Array] = {}
    for name, column in left.columns.items():
        is_twice = name in right.columns and name not in shared
        columns[f"{name}{suffixes[0]}" if is_twice else name] = derived(
            column, (None,), keep=how == "left"
        )
    one_key = len(left_on) == len(right_on) == 1
    keys = (
        (left.columns.get(left_on[0]), right.columns.get(right_on[0])) if one_key else (None, None)
    )
    missing, rows = _gaps(keys[0], keys[1]) if how == "left" else (None, None)
    for name, column in right.columns.items():
        if name in shared:
            continue
        is_twice = name in left.columns
        made = derived(column, (rows,), keep=True)
        if how in ("left", "outer"):
            made.nan = True if missing or facts.has_nan(column) else None
            if made.nan and facts.kind(column) in ("i", "b"):
                made.dtype = "float64" if facts.kind(column) == "i" else "object"
            elif made.nan is None:
                made.dtype = None if facts.kind(column) in ("i", "b") else column.dtype
        columns[f"{name}{suffixes[1]}" if is_twice else name] = made
    for column in columns.values():
        column.shape = (rows,)
    return Frame(columns, True, rows, rows_index(rows))


def _gaps(left: Array | None, right: Array | None) -> tuple[bool | None, int | None]:
    """Whether a key of the left has no partner, and how many rows a left join has."""
    if left is None or right is None:
        return None, None
    ours, theirs = facts.values_of(left), facts.values_of(right)
    if ours is None or theirs is None:
        return None, None
    missing = not set(ours) <= set(theirs)
    unique = facts.repeats(right) is False
    return missing, left.length if unique else None


def join(call: Call) -> Value:
    """Joined by the index."""
    frame, other = table(call), call.first()
    if not isinstance(other, Frame) or frame.columns is None or other.columns is None:
        return Frame(None, False, None)
    shared = set(frame.columns) & set(other.columns)
    named_apart = call.arg(None, "lsuffix") is not None or call.arg(None, "rsuffix") is not None
    if shared and not named_apart and call.is_complete:
        raise ViolationError("ValueError", f"columns overlap: {sorted(map(str, shared))}")
    check_columns(frame, names_of(call.arg(1, "on")))
    columns = {k: derived(c, (None,)) for k, c in {**frame.columns, **other.columns}.items()}
    return Frame(columns, not shared and frame.is_complete and other.is_complete, None)
