"""Batches of a loader of torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.evaluation import subscripts
from failbench.crashes.rules.knowledge.shapes import stacked
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def batch(loader: Thing, state: State) -> Value:
    """The first batch of a loader.

    Raises
    ------
    ViolationError
        If rows have other shapes, or are of a class of which no batch can be made.
    """
    collate = loader.facts.get("collate_fn")
    size = loader.facts.get("batch_size")
    if collate is not None and not (isinstance(collate, Known) and collate.data is None):
        rows = _rows(loader, state)
        if isinstance(collate, Function):
            return state.call(collate, [Sequence("list", rows or None, None)])
        return Unknown()
    if loader.facts.get("told"):
        known: Value = loader.facts["told"]
        return known
    rows = _rows(loader, state)
    if not rows:
        return Unknown()
    if size is None:
        return rows[0]
    is_shuffled = loader.facts.get("shuffle") is not False
    return collated(rows, size, is_shuffled)


def _rows(loader: Thing, state: State) -> list[Value]:
    """The rows of the first batch, as far as they are known; one row stands for all."""
    dataset = loader.facts.get("dataset", Unknown())
    size = loader.facts.get("batch_size")
    count = size if isinstance(size, int) and size <= 32 else 1
    total = length(dataset, state)
    if total == 0:
        return []
    if isinstance(dataset, Frame):
        raise ViolationError("KeyError", "a table is asked for its rows as if they were columns")
    rows: list[Value] = []
    for place in range(min(count, total) if total is not None else 1):
        rows.append(subscripts.item(dataset, Known(place), state))
    return rows


def length(dataset: Value, state: State) -> int | None:
    """How many rows a data set has, or None."""
    if isinstance(dataset, Sequence):
        return dataset.size
    if isinstance(dataset, Array):
        return dataset.length
    if isinstance(dataset, Thing) and dataset.path == "torch.utils.data.TensorDataset":
        arrays = dataset.facts.get("arguments", [])
        return arrays[0].length if arrays and isinstance(arrays[0], Array) else None
    if isinstance(dataset, Instance):
        method = dataset.cls.members.get("__len__")
        if isinstance(method, Function):
            value = state.call(method, [dataset])
            return value.data if isinstance(value, Known) and type(value.data) is int else None
    return None


def collated(rows: list[Value], size: int, is_shuffled: bool) -> Value:
    """One batch of rows, as ``default_collate`` makes it.

    Raises
    ------
    ViolationError
        As :func:`batch`.
    """
    first = rows[0]
    many = len(rows) if len(rows) > 1 else None
    if isinstance(first, Array) and first.home in ("torch", "numpy"):
        arrays = [row for row in rows if isinstance(row, Array)]
        shape = stacked(arrays, 0, "RuntimeError")
        if any(a.dtype in ("str", "object") for a in arrays if a.home == "numpy"):
            raise ViolationError("TypeError", "a batch holds no arrays of text or objects")
        if shape is not None:
            shape = (many, *shape[1:])
        elif first.shape is not None:
            shape = (many, *first.shape)
        made = Array("torch", shape, first.dtype)
        made.needs_grad, made.low, made.high, made.nan = (
            first.needs_grad,
            first.low,
            first.high,
            first.nan,
        )
        known = [each.data for each in arrays]
        if not is_shuffled and many and all(each is not None for each in known):
            made.data = np.stack([np.asarray(each) for each in known])
        return made
    if isinstance(first, Mapping):
        made_items: dict[Any, Value] = {}
        for key in first.items:
            column = [row.items.get(key, Unknown()) for row in rows if isinstance(row, Mapping)]
            made_items[key] = collated(column, size, is_shuffled)
        return Mapping(made_items, first.is_complete)
    if isinstance(first, Sequence) and first.items is not None:
        lengths = {row.size for row in rows if isinstance(row, Sequence)}
        if len(lengths) > 1 and None not in lengths:
            raise ViolationError(
                "RuntimeError", "each element in list of batch should be of equal size"
            )
        columns = []
        for place in range(len(first.items)):
            column = [
                row.items[place] if isinstance(row, Sequence) and row.items else Unknown()
                for row in rows
            ]
            columns.append(collated(column, size, is_shuffled))
        return Sequence("list", columns)
    if isinstance(first, Known):
        if first.data is None:
            raise ViolationError("TypeError", "a batch holds no None")
        if isinstance(first.data, str):
            return Sequence("list", list(rows) if many else None)
        dtype = (
            "bool"
            if isinstance(first.data, bool)
            else "int64"
            if isinstance(first.data, int)
            else "float64"
        )
        return Array("torch", (many,), dtype)
    if isinstance(first, (Frame, Instance)) or (
        isinstance(first, Array) and first.home in ("series", "index")
    ):
        raise ViolationError(
            "TypeError", "a batch holds tensors, arrays, numbers, mappings or lists"
        )
    if isinstance(first, Array) and first.home == "python":
        return Array("torch", (many,), first.dtype)
    return Unknown()
