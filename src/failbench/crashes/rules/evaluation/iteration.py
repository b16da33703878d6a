"""What is gone through in a loop, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Class,
    Estimator,
    Frame,
    Function,
    Known,
    Mapping,
    Network,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks import batches

ROUNDS: Final = 120
"""Rounds of a loop that are followed one by one."""


@dataclass
class Run:
    """The rounds of a loop that are followed.

    Parameters
    ----------
    elements
        What is bound in each.
    is_exact
        Whether these are all; else they stand for what is gone through at least.
    """

    elements: list[Value]
    is_exact: bool


def check_iterable(value: Value) -> None:
    """Refuse what cannot be gone through.

    Raises
    ------
    ViolationError
        If it is a number, None, an array without axes, a function or an estimator.
    """
    name = ""
    if isinstance(value, Known) and not isinstance(value.data, (str, bytes)):
        name = type(value.data).__name__
    elif isinstance(value, Array) and value.home == "python" and value.dtype != "str":
        name = "number"
    elif isinstance(value, (Function, Class)):
        name = "function or class"
    elif isinstance(value, Thing) and value.path == "matplotlib.axes.Axes":
        name = "Axes"
    elif isinstance(value, Estimator) and value.path == value.path and value.steps is None:
        name = (
            value.name
            if not value.name.startswith(("Bagging", "Random", "Extra", "Voting", "Isol"))
            else ""
        )
    if name:
        raise ViolationError("TypeError", f"a {name} cannot be gone through")
    if isinstance(value, Array) and value.shape == ():
        raise ViolationError("TypeError", "an array without axes cannot be gone through")


def length(value: Value) -> int | None:
    """How many elements there are, or None."""
    if isinstance(value, Known) and isinstance(value.data, (str, bytes)):
        return len(value.data)
    if isinstance(value, Sequence):
        return value.size
    if isinstance(value, Mapping):
        return len(value.items) if value.is_complete else None
    if isinstance(value, Array) and value.home != "python":
        return value.length
    if isinstance(value, Frame):
        return None if value.columns is None or not value.is_complete else len(value.columns)
    if isinstance(value, Network) and value.children:
        return len(value.children)
    return None


def elements(value: Value) -> list[Value] | None:
    """All elements in order, or None if they are not known one by one."""
    if isinstance(value, Sequence):
        return value.items
    if isinstance(value, Known) and isinstance(value.data, (str, bytes)):
        return [lift(each) for each in value.data] if len(value.data) <= 1000 else None
    if isinstance(value, Mapping):
        return [lift(key) for key in value.items] if value.is_complete else None
    if isinstance(value, Frame):
        if value.columns is None or not value.is_complete:
            return None
        return [lift(column) for column in value.columns]
    if isinstance(value, Array) and value.home != "python" and value.shape:
        size = value.shape[0]
        if size is None or size > ROUNDS:
            return None
        if value.data is not None:
            return [_row(value, value.data[place]) for place in range(size)]
        return [element_of(value) for _ in range(size)]
    if isinstance(value, Network) and value.name in ("Sequential", "ModuleList"):
        return list(value.children.values())
    return None


def _row(array: Array, data: object) -> Value:
    lifted = lift(np.asarray(data)) if array.home != "index" else lift(data)
    if isinstance(lifted, Array):
        row = derived(array, lifted.shape)
        row.home = "torch" if array.home == "torch" else "numpy"
        row.data = lifted.data
        return row
    return lifted


def element_of(array: Array) -> Value:
    """What an element, or a row, of an array is like."""
    if array.member is not None and array.rank == 1:
        return array.member
    if array.shape is None:
        return Unknown()
    row = derived(array, array.shape[1:], keep=True)
    row.home = "torch" if array.home == "torch" else "numpy"
    if array.home in ("series", "index") and array.dtype in ("object", "str", "category"):
        return Unknown()
    return row


def element(value: Value, state: State) -> Value:
    """What each element is like."""
    known = elements(value)
    if known:
        return known[0]
    if isinstance(value, Sequence):
        return value.element
    if isinstance(value, Array) and value.shape:
        return element_of(value)
    if isinstance(value, Thing) and value.path == "torch.utils.data.DataLoader":
        return batches.batch(value, state)
    if isinstance(value, Thing) and value.path.endswith("GroupBy"):
        group = value.facts.get("frame")
        if isinstance(group, Frame):
            columns = {k: derived(c, (None,), keep=True) for k, c in (group.columns or {}).items()}
            part = Frame(columns if group.columns is not None else None, group.is_complete)
            return Sequence("tuple", [Unknown(), part])
    return Unknown()


def _met(array: Array) -> list[Value] | None:
    """Elements that a loop over an array is certain to meet, in whatever order."""
    values = facts.values_of(array)
    low, high, is_attained = facts.bounds(array)
    numbers: tuple[float, ...] | None = None
    if (
        (facts.kind(array) or "?") not in "iu"
        or not array.size
        or array.home not in ("numpy", "torch")
    ):
        return None
    if values is not None and len(values) <= ROUNDS:
        numbers = values
    elif is_attained and low is not None and high is not None:
        numbers = (low, high)
    if numbers is None:
        return None
    scalar = derived(array, ())
    made: list[Value] = []
    for number in numbers:
        each = derived(scalar, ())
        each.data = np.asarray(int(number), dtype=array.dtype)
        made.append(each)
    return made


def rounds(value: Value, state: State) -> Run:
    """The rounds of a loop over a value.

    Of what is not known one by one, a first round is followed: it is taken to hold something.
    """
    known = elements(value)
    if isinstance(value, Array) and value.data is None and value.rank == 1:
        met = _met(value)
        if met is not None and (known is None or len(known) >= len(met)):
            return Run(met, known is not None and len(known) == len(met))
    if known is not None:
        return Run(known[:ROUNDS], len(known) <= ROUNDS)
    if length(value) == 0:
        return Run([], True)
    return Run([element(value, state)], False)
