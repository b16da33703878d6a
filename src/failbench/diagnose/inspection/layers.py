"""Layers: the parts of a model that a table has rows of, each parameter in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Role = Literal["embedding", "head", "body"]

EMBEDDINGS: Final = "torch.nn.modules.sparse"
LINEAR: Final = "torch.nn.modules.linear"
CONTAINERS: Final = "torch.nn.modules.container"
"""Modules of PyTorch whose classes, and what is derived from them, make a part one of a kind."""

MODEL: Final = "(model)"
"""The name of the row with parameters that the model itself holds."""


@dataclass(frozen=True)
class Layer:
    """A part of a model."""

    name: str
    kind: str
    role: Role
    parameters: Mapping[str, Any]
    tied: Mapping[str, str]


def layers_of(model: Any, depth: int = 2) -> tuple[Layer, ...]:
    """The layers of a model, in its own order."""
    if depth < 1:
        raise ValueError(f"Layers cannot lie {depth} levels down: give 1 or more.")
    modules = dict(model.named_modules())
    head = _head(model, modules)
    parameters: dict[str, dict[str, Any]] = {}
    tied: dict[str, dict[str, str]] = {}
    roles: dict[str, Role] = {}
    seen: dict[object, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        owner = name.rpartition(".")[0]
        role: Role = "body"
        if _is_a(modules[owner], EMBEDDINGS):
            role = "embedding"
        elif owner and modules[owner] is head:
            role = "head"
        layer = owner if role != "body" else _at_depth(owner, modules, depth)
        parameters.setdefault(layer, {})
        tied.setdefault(layer, {})
        roles[layer] = role
        first = seen.setdefault(_storage(name, parameter), name)
        if first == name:
            parameters[layer][name] = parameter
        else:
            tied[layer][name] = first
    return tuple(
        Layer(layer or MODEL, type(modules[layer]).__name__, roles[layer], held, tied[layer])
        for layer, held in parameters.items()
    )


def _head(model: Any, modules: Mapping[str, Any]) -> Any:
    """The layer that makes logits: the model's own word, else the last that has a row per token."""
    if callable(getattr(model, "get_output_embeddings", None)):
        return model.get_output_embeddings()
    rows = [each.weight.shape[0] for each in modules.values() if _is_a(each, EMBEDDINGS)]
    heads = [
        each
        for each in modules.values()
        if rows and _is_a(each, LINEAR) and getattr(each, "out_features", None) == max(rows)
    ]
    return heads[-1] if heads else None


def _at_depth(owner: str, modules: Mapping[str, Any], depth: int) -> str:
    levels, path = 0, ""
    for path in _paths(owner):
        levels += not _is_a(modules[path], CONTAINERS)
        if levels == depth:
            break
    return path


def _paths(name: str) -> Iterator[str]:
    """A path and those above it, from the top."""
    parts = name.split(".") if name else []
    for place in range(len(parts)):
        yield ".".join(parts[: place + 1])


def _is_a(module: Any, origin: str) -> bool:
    return any(kind.__module__ == origin for kind in type(module).__mro__)


def _storage(name: str, parameter: Any) -> object:
    """What is equal for parameters that are one."""
    if type(parameter).__name__ == "UninitializedParameter":
        raise ValueError(f"{name} has no shape yet: call the model once before it is inspected.")
    if parameter.device.type == "meta" or not parameter.numel():
        return id(parameter)
    return parameter.data_ptr(), parameter.numel(), str(parameter.device)
