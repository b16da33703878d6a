"""What is drawn, as arrays, and its sizes."""

from __future__ import annotations

from failbench.crashes.rules.arrays.casting import of_frame
from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Sequence, Value


def grid_of(value: Value | None) -> Array | None:
    """Data as an array."""
    if value is None:
        return None
    if isinstance(value, Frame):
        return of_frame(value)
    return operands.as_array(value)


def size_of(value: Value | None) -> int | None:
    """How many elements data have."""
    grid = grid_of(value)
    if grid is not None:
        return grid.size
    return iteration.length(value) if isinstance(value, Sequence) else None


def drawn_size(value: Value | None) -> int | None:
    """How many values are drawn, if it is known."""
    if isinstance(value, Frame):
        return value.rows
    if isinstance(value, Known):
        return None if isinstance(value.data, str) or value.data is None else 1
    taken = operands.as_array(value) if value is not None else None
    if taken is None:
        return iteration.length(value) if isinstance(value, Sequence) else None
    return 1 if taken.shape == () else taken.length
