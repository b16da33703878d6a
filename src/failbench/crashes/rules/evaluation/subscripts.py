"""Items: what is looked up by a key, position, slice or mask, and what is stored there."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.arrays import grids
from failbench.crashes.rules.frames import items as tables_of_pandas
from failbench.crashes.rules.frames import locations, storage
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, key_of, lift
from failbench.crashes.rules.knowledge.shapes import check_index
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Class,
    Estimator,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


class UncertainSlice(Unknown):
    """A slice whose ends are not all known."""


def item(owner: Value, index: Value, state: State) -> Value:
    """The value of ``owner[index]``.

    Raises
    ------
    ViolationError
        If there is no such key or position, or the owner has no items.
    """
    if isinstance(owner, Known):
        return _of_text(owner, index)
    if isinstance(owner, Sequence):
        return _of_sequence(owner, index)
    if isinstance(owner, Mapping):
        return _of_mapping(owner, index)
    if isinstance(owner, Array):
        if owner.home == "series":
            return tables_of_pandas.item_of_series(owner, index)
        if owner.home == "python":
            if owner.dtype == "str":
                return Array("python", (), "str")
            if owner.dtype is not None:
                raise ViolationError("TypeError", "a number has no items")
            return Unknown()
        return grids.item(owner, index)
    if isinstance(owner, Frame):
        return tables_of_pandas.item_of_frame(owner, index)
    if isinstance(owner, Thing):
        return _of_thing(owner, index, state)
    if isinstance(owner, Network):
        return _of_network(owner, index)
    if isinstance(owner, Instance):
        method = owner.cls.members.get("__getitem__")
        return state.call(method, [owner, index]) if isinstance(method, Function) else Unknown()
    if isinstance(owner, Estimator):
        return _of_estimator(owner, index)
    if isinstance(owner, (Function,)):
        raise ViolationError("TypeError", f"the function {owner.name} has no items")
    if isinstance(owner, Class | Symbol):
        return Unknown()
    return Unknown()


def _of_text(owner: Known, index: Value) -> Value:
    if not isinstance(owner.data, (str, bytes)):
        raise ViolationError("TypeError", f"a {type(owner.data).__name__} has no items")
    try:
        place = concrete(index)
    except NotConcreteError:
        return Unknown()
    if isinstance(place, np.integer):
        place = int(place)
    if not isinstance(place, (int, slice)):
        raise ViolationError("TypeError", "a text is indexed by whole numbers")
    try:
        return lift(owner.data[place])
    except IndexError as error:
        raise ViolationError("IndexError", str(error)) from error
    except (TypeError, ValueError):
        return Unknown()


def _of_sequence(owner: Sequence, index: Value) -> Value:
    if owner.kind in ("set", "frozenset", "iterator"):
        raise ViolationError("TypeError", f"a {owner.kind} has no items by position")
    try:
        place = concrete(index)
    except NotConcreteError:
        if isinstance(index, Array) and index.home in ("numpy", "python", "torch"):
            if index.shape == () and facts.kind(index) == "f" and index.dtype is not None:
                raise ViolationError("TypeError", "a list is indexed by whole numbers") from None
            _check_bounds(owner, index)
        if isinstance(index, (Sequence, Frame)) or (
            isinstance(index, Array) and index.rank and index.home != "torch"
        ):
            raise ViolationError(
                "TypeError", f"a {owner.kind} is indexed by whole numbers"
            ) from None
        return Sequence(owner.kind) if isinstance(index, UncertainSlice) else owner.element
    if isinstance(place, np.ndarray) and place.ndim == 0:
        place = place[()]
    if isinstance(place, (np.integer, np.bool_)):
        place = int(place)
    if isinstance(place, slice):
        if owner.items is not None:
            try:
                return Sequence(owner.kind, owner.items[place])
            except (TypeError, ValueError):
                return Unknown()
        return Sequence(owner.kind, None, None, owner.element)
    if not isinstance(place, (int, bool)):
        kind = type(place).__name__
        raise ViolationError("TypeError", f"a {owner.kind} is indexed by whole numbers, not {kind}")
    size = owner.size
    if size is not None and not -size <= place < size:
        raise ViolationError("IndexError", f"there is no place {place} in a {owner.kind} of {size}")
    return owner.element if owner.items is None else owner.items[place]


def _check_bounds(owner: Sequence, index: Array) -> None:
    size = owner.size
    low, high, is_attained = facts.bounds(index)
    if size is None or low is None or high is None or index.shape != ():
        return
    if low >= size or high < -size or (is_attained and low == high and low >= size):
        raise ViolationError(
            "IndexError", f"a place from {low} on is beyond a {owner.kind} of {size}"
        )


def _of_mapping(owner: Mapping, index: Value) -> Value:
    if isinstance(index, (Mapping,)) or (
        isinstance(index, Sequence) and index.kind in ("list", "set")
    ):
        raise ViolationError("TypeError", f"a {index.kind} is no key")
    try:
        key = key_of(index)
    except NotConcreteError:
        return Unknown()
    if key in owner.items:
        return owner.items[key]
    if isinstance(key, slice):
        raise ViolationError("KeyError", "a dict has no slices")
    if owner.kind in ("defaultdict", "Counter"):
        return Unknown()
    if owner.is_complete:
        raise ViolationError("KeyError", f"{key!r} is none of the keys {list(owner.items)[:8]}")
    return Unknown()


def _of_thing(owner: Thing, index: Value, state: State) -> Value:
    if owner.path == "matplotlib.axes.Axes":
        raise ViolationError("TypeError", "a single panel is no array of panels")
    if owner.path in ("pandas.loc", "pandas.iloc", "pandas.at", "pandas.iat"):
        return locations.located(owner, index, state)
    if owner.path == "torch.utils.data.DataLoader":
        raise ViolationError("TypeError", "a loader has no items by position")
    if owner.path.endswith("GroupBy"):
        return tables_of_pandas.item_of_group(owner, index)
    if owner.path == "torch.utils.data.TensorDataset":
        arrays = owner.facts.get("arguments", [])
        return Sequence("tuple", [item(each, index, state) for each in arrays])
    if owner.path == "torch.utils.data.Subset":
        return item(owner.facts["dataset"], Unknown(), state)
    if owner.path in ("lightgbm.Dataset", "lightgbm.Booster", "matplotlib.figure.Figure"):
        raise ViolationError("TypeError", f"a {owner.path} has no items")
    return Unknown()


def _of_network(owner: Network, index: Value) -> Value:
    try:
        place: Any = concrete(index)
    except NotConcreteError:
        return Unknown()
    children = list(owner.children.values())
    if owner.name in ("Sequential", "ModuleList") and isinstance(place, int):
        check_index(place, len(children))
        return children[place]
    if owner.name == "ModuleDict" and isinstance(place, str):
        if place not in owner.children:
            raise ViolationError("KeyError", f"{place!r} is no layer")
        return owner.children[place]
    if owner.name not in (
        "Sequential",
        "ModuleList",
        "ModuleDict",
        "ParameterList",
        "ParameterDict",
    ):
        raise ViolationError("TypeError", f"a {owner.name} has no items")
    if isinstance(place, slice):
        kept = {str(number): child for number, child in enumerate(children[place])}
        return Network(owner.path, {}, kept, {})
    return Unknown()


def _of_estimator(owner: Estimator, index: Value) -> Value:
    if owner.steps is None:
        if owner.name.startswith(("Random", "Extra", "Bagging", "Isolation")):
            return Unknown()
        raise ViolationError("TypeError", f"a {owner.name} has no items")
    if owner.name != "Pipeline":
        return Unknown()
    try:
        place = concrete(index)
    except NotConcreteError:
        return Unknown()
    if isinstance(place, str):
        if place not in owner.steps:
            raise ViolationError("KeyError", f"{place!r} is none of the steps {list(owner.steps)}")
        return owner.steps[place]
    steps = list(owner.steps.values())
    if isinstance(place, int):
        check_index(place, len(steps))
        return steps[place]
    if isinstance(place, slice):
        kept = dict(list(owner.steps.items())[place])
        return Estimator(owner.path, {}, owner.fitted, owner.features, owner.names, steps=kept)
    return Unknown()


def set_item(owner: Value, index: Value, value: Value, state: State) -> None:
    """Store ``owner[index] = value``.

    Raises
    ------
    ViolationError
        If there is no such place, or what is stored does not fit.
    """
    if isinstance(owner, Mapping):
        try:
            owner.items[key_of(index)] = value
        except NotConcreteError:
            owner.is_complete = False
    elif isinstance(owner, Sequence):
        if owner.kind in ("tuple", "range", "set", "frozenset"):
            raise ViolationError("TypeError", f"nothing can be stored in a {owner.kind}")
        _store(owner, index, value)
    elif isinstance(owner, Frame):
        storage.store_column(owner, index, value)
    elif isinstance(owner, Array):
        if owner.home == "series" or (owner.home == "index" and owner.dtype == "category"):
            storage.store_in_series(owner, index, value)
        elif owner.home == "index":
            raise ViolationError("TypeError", "an index cannot be changed")
        elif owner.home != "python":
            grids.store(owner, index, value, state)
    elif isinstance(owner, Thing) and owner.path in (
        "pandas.loc",
        "pandas.iloc",
        "pandas.at",
        "pandas.iat",
    ):
        storage.store_located(owner, index, value)
    elif isinstance(owner, Thing) and owner.path == "matplotlib.RcParams":
        registry_key(index)
    elif isinstance(owner, Known):
        raise ViolationError("TypeError", f"nothing can be stored in a {type(owner.data).__name__}")
    elif isinstance(owner, Network):
        owner.children.clear()
        owner.parameters = None


def registry_key(index: Value) -> None:
    """Refuse a setting of matplotlib that is not there."""
    grids.check_setting(index)


def _store(owner: Sequence, index: Value, value: Value) -> None:
    try:
        place = concrete(index)
    except NotConcreteError:
        owner.items = None
        return
    if isinstance(place, int) and owner.items is not None:
        check_index(place, len(owner.items), "list assignment index out of range")
        owner.items[place] = value
    else:
        owner.items, owner.length = None, None


def delete_item(owner: Value, index: Value, state: State) -> None:
    """Delete ``owner[index]``.

    Raises
    ------
    ViolationError
        If it is not there.
    """
    if isinstance(owner, (Mapping, Frame)):
        item(owner, index, state)
    try:
        key = concrete(index)
    except NotConcreteError:
        if isinstance(owner, Mapping):
            owner.is_complete = False
        if isinstance(owner, Sequence):
            owner.items = None
        return
    if isinstance(owner, Mapping):
        owner.items.pop(key, None)
    elif isinstance(owner, Frame) and owner.columns is not None:
        owner.columns.pop(key, None)
    elif isinstance(owner, Sequence) and owner.items is not None:
        try:
            del owner.items[key]
        except (IndexError, TypeError) as error:
            raise ViolationError(type(error).__name__, str(error)) from error
