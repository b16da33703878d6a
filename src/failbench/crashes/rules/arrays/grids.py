"""Items of arrays of numpy, tensors and indices of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.arrays.item_shapes import check_kind, shape_of_item
from failbench.crashes.rules.evaluation.operands import as_array
from failbench.crashes.rules.knowledge import facts, interfaces
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived, error_of, of_graph, shown
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Sequence,
    Shape,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def check_setting(index: Value) -> None:
    """Refuse a name that is no setting of matplotlib.

    Raises
    ------
    ViolationError
        ``KeyError``.
    """
    if (
        isinstance(index, Known)
        and isinstance(index.data, str)
        and index.data not in interfaces.words("rcparams")
    ):
        raise ViolationError("KeyError", f"{index.data} is no setting of matplotlib")


def item(owner: Array, index: Value) -> Value:
    """The value of ``owner[index]``.

    Raises
    ------
    ViolationError
        If there are more indices than axes, a position is beyond the end, a mask has another shape
        than what it masks, or an index is of a kind that is none.
    """
    parts = _parts(index)
    if parts is None:
        return Unknown()
    if owner.fields is not None and len(parts) == 1:
        return _field(owner, parts[0])
    folded = _folded(owner, parts)
    if folded is not None:
        return folded
    shape = shape_of_item(owner, parts)
    if shape is None:
        made = derived(owner, None, keep=True)
        return made if owner.member is None else Unknown()
    if shape == () and owner.member is not None:
        return owner.member
    made = derived(owner, shape, keep=True)
    if owner.home == "index" and shape == ():
        return Unknown()
    if owner.home == "torch":
        of_graph(made, owner)
    return made


def _parts(index: Value) -> list[Value] | None:
    if isinstance(index, Sequence) and index.kind == "tuple":
        return index.items
    if type(index) is Unknown:
        return None
    return [index]


def _field(owner: Array, part: Value) -> Value:
    assert owner.fields is not None
    if isinstance(part, Known) and isinstance(part.data, str):
        if part.data not in owner.fields:
            raise ViolationError(
                "ValueError", f"{part.data!r} is none of the fields {owner.fields}"
            )
        made = Array("numpy", owner.shape)
        if owner.data is not None and owner.data.dtype.fields:
            return of_data(owner.data[part.data])
        return made
    if isinstance(part, Sequence) and part.items is not None:
        for each in part.items:
            if (
                isinstance(each, Known)
                and isinstance(each.data, str)
                and each.data not in owner.fields
            ):
                raise ViolationError(
                    "KeyError", f"{each.data!r} is none of the fields {owner.fields}"
                )
    return Unknown()


def _folded(owner: Array, parts: list[Value]) -> Value | None:
    if owner.data is None:
        return None
    for part in parts:
        check_kind(owner, part)
    try:
        known = tuple(_plain(part) for part in parts)
    except NotConcreteError:
        return None
    if owner.home == "torch" and any(isinstance(e, slice) and (e.step or 1) < 1 for e in known):
        raise ViolationError("ValueError", "a step of a tensor is greater than zero")
    try:
        data = np.asarray(owner.data[known])
    except IndexError as error:
        raise ViolationError("IndexError", str(error)) from error
    except (TypeError, ValueError, OverflowError):
        return None
    if data.ndim == 0 and owner.member is not None:
        return owner.member
    if data.ndim == 0 and owner.home == "index":
        return lift(data[()].item()) if data.dtype.kind in "iufbUO" else Unknown()
    made = derived(owner, data.shape)
    made.data = data
    if owner.home == "torch":
        of_graph(made, owner)
    return made


def _plain(part: Value) -> Any:
    if isinstance(part, Array) and part.data is not None:
        return part.data
    return concrete(part)


def store(owner: Array, index: Value, value: Value, state: State) -> None:
    """Store ``owner[index] = value``.

    Raises
    ------
    ViolationError
        If there is no such place, or the value has a shape or type that does not fit.
    """
    parts = _parts(index)
    before = Array(owner.home, owner.shape, owner.dtype, owner.data)
    owner.data, owner.uniques, owner.distinct, owner.is_attained = None, None, None, False
    low, high = owner.low, owner.high
    owner.low = owner.high = None
    nan = owner.nan
    owner.nan, owner.inf = None, None
    if parts is None:
        return
    if owner.fields is not None:
        _field(owner, parts[0])
        return
    if owner.home == "torch" and owner.needs_grad and owner.is_leaf and not state.without_grad:
        raise ViolationError("RuntimeError", "a leaf that requires a gradient is changed in place")
    shape = shape_of_item(owner, parts)
    if isinstance(value, (Mapping,)) and (facts.kind(owner) or "O") in "iuf":
        raise ViolationError("TypeError", "a mapping is no number")
    taken = as_array(value)
    if isinstance(value, Known) and value.data is None and facts.kind(owner) in ("i", "f", "u"):
        if facts.kind(owner) != "f" or owner.home == "torch":
            raise ViolationError("TypeError", "None is no number")
        return
    if taken is None:
        return
    _check_stored(owner, taken)
    if shape is not None and taken.shape is not None:
        fitted = taken.shape
        while len(fitted) > len(shape) and fitted[0] == 1:
            fitted = fitted[1:]
        if not _fits(fitted, shape):
            reason = f"a value of {shown(taken.shape)} is stored in a place of {shown(shape)}"
            raise ViolationError(error_of(owner), reason)
    _fold_store(owner, before, parts, taken)
    if owner.data is None:
        value_low, value_high, _attained = facts.bounds(taken)
        if taken.shape == () and value_low is not None and low is not None and high is not None:
            owner.low, owner.high = min(low, value_low), max(high, value_high or value_low)
        if facts.has_nan(taken) and taken.shape == ():
            owner.nan = True if _kept_any(shape) else None
        elif nan is False and facts.has_nan(taken) is False:
            owner.nan = False


def _kept_any(shape: Shape | None) -> bool:
    return shape is not None and all(size is not None and size > 0 for size in shape)


def _fits(shape: Shape, place: Shape) -> bool:
    if len(shape) > len(place):
        return False
    for size, room in zip(shape[::-1], place[::-1], strict=False):
        if size is not None and room is not None and size not in (1, room):
            return False
    return True


def _check_stored(owner: Array, taken: Array) -> None:
    kinds = facts.kind(owner), facts.kind(taken)
    if (
        kinds[0] in ("i", "u", "f")
        and owner.home == "numpy"
        and taken.data is not None
        and kinds[1] == "U"
    ):
        try:
            taken.data.astype(float)
        except ValueError as error:
            raise ViolationError("ValueError", str(error)) from error
    if (
        kinds[0] in ("i", "u")
        and owner.home == "numpy"
        and taken.shape == ()
        and facts.has_nan(taken)
    ):
        raise ViolationError("ValueError", "NaN is no whole number")
    if owner.home == "torch" and kinds[1] == "U":
        raise ViolationError("TypeError", "a tensor holds no text")


def _fold_store(owner: Array, before: Array, parts: list[Value], taken: Array) -> None:
    if before.data is None or taken.data is None:
        return
    try:
        known = tuple(_plain(part) for part in parts)
        data = before.data.copy()
        data[known] = taken.data
        owner.data = data
    except (NotConcreteError, IndexError, ValueError, TypeError, OverflowError):
        return
