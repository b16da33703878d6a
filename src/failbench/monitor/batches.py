"""Batches: the tensors in what a loader yields or a model is called with."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MethodType
from typing import Any, Final

import torch

PREFERRED: Final = ("input_ids", "inputs", "source", "ids", "tokens")
"""Names under which token ids are looked for first."""

NO_TOKENS: Final = ("label", "target", "mask", "position", "type", "length")
"""Parts of names of integers that are no token ids."""

DEEPEST: Final = 4  # containers within containers that are looked into
Tensors = dict[str, Any]  # tensors by name


def tensors_of(batch: Any, name: str = "batch", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """All tensors of a batch with names, in tuples, lists, mappings and dataclasses, in order."""
    if isinstance(batch, torch.Tensor):
        yield name, batch
    elif depth < DEEPEST:
        for key, part in _parts(batch):
            part_name = key if isinstance(key, str) else f"{name}[{key}]"
            yield from tensors_of(part, part_name, depth + 1)


def arguments_of(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensors:
    """The tensors that a model is called with, by names of arguments and of their parts."""
    try:
        bound = _signature(model.forward).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"argument {place}": argument for place, argument in enumerate(args)} | dict(
            kwargs
        )
    tensors: Tensors = {}
    for key, argument in bound.items():
        for name, tensor in tensors_of(argument, str(key)):
            tensors.setdefault(name, tensor)
    return tensors


def _signature(forward: Any) -> inspect.Signature:
    function = getattr(forward, "__func__", None)
    return inspect.signature(forward) if function is None else _signature_of_method(function)


@lru_cache(maxsize=16)
def _signature_of_method(function: Callable[..., Any]) -> inspect.Signature:
    """Worked out once, and of no object: it would be kept alive."""
    return inspect.signature(MethodType(function, object()))


def token_ids(tensors: Tensors, shape: Any = None) -> tuple[str, Any] | None:
    """The token ids among some tensors, with their name."""
    ids = {
        name: tensor
        for name, tensor in tensors.items()
        if _integers(tensor) and not any(part in name for part in NO_TOKENS)
    }
    if not ids:
        return None

    def order(name: str) -> tuple[bool, int]:
        other = shape is not None and ids[name].shape != shape
        decoder = shape is not None and name.startswith("decoder")
        place = PREFERRED.index(name) if name in PREFERRED else len(PREFERRED)
        return other, -1 if decoder else place

    name = min(ids, key=order)
    return name, ids[name]


def floats(tensors: Tensors) -> list[Any]:
    """The tensors of floating-point numbers."""
    return [tensor for tensor in tensors.values() if tensor.is_floating_point()]


def _integers(tensor: Any) -> bool:
    return (
        tensor.dim() >= 2
        and not tensor.is_floating_point()
        and not tensor.is_complex()
        and tensor.dtype != torch.bool
    )


def _parts(batch: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(batch, Mapping):
        yield from batch.items()
    elif isinstance(batch, tuple) and hasattr(batch, "_fields"):
        yield from zip(batch._fields, batch, strict=True)
    elif isinstance(batch, list | tuple):
        yield from enumerate(batch)
    elif dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        for entry in dataclasses.fields(batch):
            yield entry.name, getattr(batch, entry.name)
