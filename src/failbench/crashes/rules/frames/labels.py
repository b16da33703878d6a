"""Labels of tables and series of pandas, and whether they are there."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

MISSING_SHOWN = 8


def labels_known(array: Array | None) -> tuple[Any, ...] | None:
    """All labels of an index, or None."""
    if array is None or array.data is None:
        return None
    return tuple(array.data.tolist())


def is_date_index(labels: Array | None) -> bool:
    """Whether an index has dates."""
    return labels is not None and (labels.dtype or "").startswith("datetime64")


def check_columns(frame: Frame, names: list[Hashable], exception: str = "KeyError") -> None:
    """Refuse columns that a table does not have.

    Raises
    ------
    ViolationError
        If one is certain not to be there.
    """
    if frame.columns is None or not frame.is_complete:
        return
    for name in names:
        if name not in frame.columns:
            known = list(frame.columns)[:MISSING_SHOWN]
            raise ViolationError(exception, f"{name!r} is none of the columns {known}")


def names_of(value: Value | None) -> list[Hashable]:
    """The columns that an argument names; those that are not known are left out."""
    if value is None:
        return []
    items: list[Value] = [value]
    if isinstance(value, Sequence) and value.kind in ("list", "set", "view", "iterator"):
        items = value.items or []
    names: list[Hashable] = []
    for item in items:
        if (
            isinstance(item, Known)
            and isinstance(item.data, (str, int))
            and not isinstance(item.data, bool)
        ):
            names.append(item.data)
    return names


def check_label(
    labels: Array | None, _rows: int | None, key: Any, exception: str = "KeyError"
) -> None:
    """Refuse a label that an index does not have.

    Raises
    ------
    ViolationError
        If it is certain not to be there.
    """
    if labels is None:
        return
    known = labels_known(labels)
    kind = facts.kind(labels)
    if isinstance(key, (list, dict)):
        return
    if is_date_index(labels):
        _check_date(labels, key, exception)
        return
    if known is not None and labels.rank == 1:
        try:
            if key not in known:
                raise ViolationError(
                    exception, f"{key!r} is none of the labels {known[:MISSING_SHOWN]}"
                )
        except (TypeError, ValueError):
            return
        return
    if kind in ("i", "u") and isinstance(key, str):
        raise ViolationError(exception, f"{key!r} is no label where labels are whole numbers")
    if kind in ("i", "u") and isinstance(key, (int, np.integer)):
        low, high, _is_attained = facts.bounds(labels)
        if low is not None and high is not None and not low <= key <= high:
            raise ViolationError(
                exception, f"{key!r} is beyond the labels from {low:g} to {high:g}"
            )
    if labels.dtype == "str" and isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        raise ViolationError(exception, f"{key!r} is no label where labels are text")


def _check_date(labels: Array, key: Any, exception: str) -> None:
    if not isinstance(key, str) or labels.data is None or not labels.size:
        return
    try:
        day = np.datetime64(key)
        unit = np.datetime_data(day.dtype)[0]
        rounded = labels.data.astype(f"datetime64[{unit}]")
    except (ValueError, TypeError):
        return
    if not bool((rounded == day).any()):
        raise ViolationError(exception, f"{key!r} is none of the dates")


def labels_are_flat(table: Frame | Array) -> bool:
    """Whether the index of a table is known to have one level."""
    labels = table.labels
    return labels is not None and (labels.dtype is not None or labels.data is not None)
