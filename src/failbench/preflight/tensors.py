"""Tensors of a batch: their names, and a copy of a batch with other tensors in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor


def named_tensors(batch: Any, name: str = "batch") -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a batch with its name: keys, positions and fields, separated by dots."""
    if isinstance(batch, Tensor):
        yield name, batch
        return
    for key, value in _parts(batch):
        inner = str(key) if name == "batch" and isinstance(key, str) else f"{name}[{key}]"
        if isinstance(key, str) and name != "batch":
            inner = f"{name}.{key}"
        yield from named_tensors(value, inner)


def _parts(batch: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(batch, Mapping):
        yield from ((str(key), value) for key, value in batch.items())
    elif isinstance(batch, list | tuple):
        yield from enumerate(batch)
    elif is_dataclass(batch) and not isinstance(batch, type):
        yield from ((field.name, getattr(batch, field.name)) for field in fields(batch))


def with_tensors(batch: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A copy of a batch in which every tensor is replaced; other values are kept."""
    if isinstance(batch, Tensor):
        return change(batch)
    if isinstance(batch, Mapping):
        changed = {key: with_tensors(value, change) for key, value in batch.items()}
        if type(batch) is dict:
            return changed
        return _mapping_like(batch, changed)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(with_tensors(value, change) for value in batch))
    if isinstance(batch, list | tuple):
        return type(batch)(with_tensors(value, change) for value in batch)
    if is_dataclass(batch) and not isinstance(batch, type):
        copy = object.__new__(type(batch))  # no __init__ of a user's is called
        copy.__dict__.update(vars(batch))
        for field in fields(batch):
            value = with_tensors(getattr(batch, field.name), change)
            object.__setattr__(copy, field.name, value)
        return copy
    return batch


def _mapping_like(batch: Mapping[Any, Any], changed: dict[Any, Any]) -> Any:
    """A mapping of the same class, as the ``BatchEncoding`` of tokenizers, or a plain one."""
    try:
        return type(batch)(changed)  # type: ignore[call-arg]
    except TypeError:
        return changed


def size_of(tensors: Iterator[Tensor] | list[Tensor]) -> int:
    """Bytes of the storages of tensors, each counted once."""
    seen = {}
    for tensor in tensors:
        if tensor.layout is torch.strided:
            storage = tensor.untyped_storage()
            seen[storage._cdata] = storage.nbytes()
    return sum(seen.values())
