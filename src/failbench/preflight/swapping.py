"""Swapping: a model with fake parameters and buffers in place of its own, for a while.

Modules work with copies of their attributes, so that what a forward pass stores in one is gone
afterwards; what it stores elsewhere, in a list of a hook say, stays.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def swapped(
    roots: Iterable[nn.Module], fake_of: Callable[[Tensor], Tensor]
) -> Iterator[Mapping[int, Tensor]]:
    """Modules whose tensors are fake."""
    modules = list({id(module): module for root in roots for module in root.modules()}.values())
    kept = [(module, dict(module.__dict__)) for module in modules]
    fakes: dict[int, Tensor] = {}

    def fake(tensor: Tensor) -> Tensor:
        if id(tensor) not in fakes:
            fakes[id(tensor)] = fake_of(tensor)
        return fakes[id(tensor)]

    try:
        for module, attributes in kept:
            for name in ("_parameters", "_buffers"):
                module.__dict__[name] = {
                    key: None if value is None else fake(value)
                    for key, value in attributes[name].items()
                }
        for module, attributes in kept:
            for name, value in attributes.items():
                if name not in ("_parameters", "_buffers"):
                    module.__dict__[name] = _copied(value, fakes)
        yield fakes
    finally:
        for module, attributes in kept:
            module.__dict__.clear()
            module.__dict__.update(attributes)


def _copied(value: Any, fakes: Mapping[int, Tensor]) -> Any:
    """A container of its own, in which swapped tensors are the fake ones."""
    if isinstance(value, Tensor):
        return fakes.get(id(value), value)
    if type(value) in (list, tuple, deque):
        return type(value)(fakes.get(id(each), each) for each in value)
    if type(value) in (dict, OrderedDict):
        return type(value)((key, fakes.get(id(each), each)) for key, each in value.items())
    if type(value) is set:
        return set(value)
    return value
