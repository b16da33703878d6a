"""Parameters: where the parameters of a model are, and how many of them are embeddings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from failbench.preflight.memory import readable

Role = Literal["embedding", "head", "body"]
# modules of PyTorch whose classes, and what is derived from them, make a part one of a kind
EMBEDDINGS: Final = "torch.nn.modules.sparse"
LINEAR: Final = "torch.nn.modules.linear"
CONTAINERS: Final = "torch.nn.modules.container"
MODEL: Final = "(model)"  # the name of the row with parameters that the model itself holds
# The share of parameters in embeddings above which the skill ml-training-debugger calls a model
# imbalanced (rules of thumb of its agent's prompt). It is not ours: small models with large
# vocabularies train well above it.
SKILL_EMBEDDING_SHARE: Final = 0.7


@dataclass(frozen=True)
class Layer:
    """A part of a model, with its parameters; a tied one names the first that it is."""

    name: str
    kind: str
    role: Role
    parameters: dict[str, Any]
    tied: dict[str, str]


@dataclass(frozen=True)
class ParameterShare:
    """The parameters of one layer."""

    layer: str
    kind: str
    role: Role
    parameters: int
    trainable: int
    bytes: int
    dtypes: tuple[str, ...]
    share: float
    tied: tuple[str, ...]


@dataclass(frozen=True)
class ParameterSummary:
    """The parameters of a model."""

    parameters: int
    trainable: int
    bytes: int
    embedding_share: float
    head_share: float
    tied: tuple[str, ...]

    @property
    def skill_calls_it_imbalanced(self) -> bool:
        """Whether the share of embeddings passes :data:`SKILL_EMBEDDING_SHARE`."""
        return self.embedding_share > SKILL_EMBEDDING_SHARE


def parameter_table(model: Any, depth: int = 2) -> tuple[ParameterShare, ...]:
    """The parameters of a model, layer by layer.

    Parameters
    ----------
    model
        A ``torch.nn.Module``.
    depth
        How many levels down a layer lies; lists of modules are no level of their own.

    Raises
    ------
    ValueError
        If the depth is not positive, or a parameter has no shape before the model is called.
    """
    layers = layers_of(model, depth)
    of_all = sum(each.numel() for layer in layers for each in layer.parameters.values())
    return tuple(_share(layer, of_all) for layer in layers)


def _share(layer: Layer, of_all: int) -> ParameterShare:
    own = layer.parameters.values()
    count = sum(each.numel() for each in own)
    trainable = sum(each.numel() for each in own if each.requires_grad)
    size = sum(each.numel() * each.element_size() for each in own)
    types = tuple(sorted({str(each.dtype)[6:] for each in own}))
    share = count / of_all if count else 0.0
    return ParameterShare(
        layer.name, layer.kind, layer.role, count, trainable, size, types, share, tuple(layer.tied)
    )


def summary(shares: Iterable[ParameterShare]) -> ParameterSummary:
    """What the layers of a model have together."""
    shares = tuple(shares)
    return ParameterSummary(
        sum(each.parameters for each in shares),
        sum(each.trainable for each in shares),
        sum(each.bytes for each in shares),
        sum((each.share for each in shares if each.role == "embedding"), 0.0),
        sum((each.share for each in shares if each.role == "head"), 0.0),
        tuple(name for each in shares for name in each.tied),
    )


def parameter_text(shares: Iterable[ParameterShare]) -> str:
    """A table of layers, and a line of what they have together."""
    shares = tuple(shares)
    columns = ("layer", "kind", "role", "parameters", "trainable", "size", "type", "share")
    whole = summary(shares)
    line = (
        f"{whole.parameters:,} parameters ({whole.trainable:,} trainable), "
        f"{readable(whole.bytes)}; {100 * whole.embedding_share:.1f} % in embeddings"
    )
    if whole.skill_calls_it_imbalanced:
        line += (
            f", above the {100 * SKILL_EMBEDDING_SHARE:.0f} % that ml-training-debugger calls an "
            "imbalance (a rule of thumb)"
        )
    return f"{table_text(columns, map(_cells, shares))}\n{line}"


def _cells(one: ParameterShare) -> tuple[str, ...]:
    counts = f"{one.parameters:,}", f"{one.trainable:,}", readable(one.bytes)
    role = f"{one.role}, tied" if one.tied else one.role
    return (one.layer, one.kind, role, *counts, "/".join(one.dtypes), f"{100 * one.share:.1f} %")


def layers_of(model: Any, depth: int = 2) -> list[Layer]:
    """The layers of a model, in its own order, each parameter in one of them."""
    if depth < 1:
        raise ValueError(f"Layers cannot lie {depth} levels down: give 1 or more.")
    modules = dict(model.named_modules())
    head = _head(model, modules)
    layers: dict[str, Layer] = {}
    seen: dict[object, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        owner = name.rpartition(".")[0]
        role: Role = "body"
        if _is_a(modules[owner], EMBEDDINGS):
            role = "embedding"
        elif owner and modules[owner] is head:
            role = "head"
        path = owner if role != "body" else _at_depth(owner, modules, depth)
        kind = type(modules[path]).__name__
        layer = layers.setdefault(path, Layer(path or MODEL, kind, role, {}, {}))
        first = seen.setdefault(_storage(name, parameter), name)
        if first == name:
            layer.parameters[name] = parameter
        else:
            layer.tied[name] = first
    return list(layers.values())


def _head(model: Any, modules: Mapping[str, Any]) -> Any:
    """The layer that makes logits: the model's own word, else the last that has a row per token."""
    if callable(getattr(model, "get_output_embeddings", None)):
        return model.get_output_embeddings()
    rows = [each.weight.shape[0] for each in modules.values() if _is_a(each, EMBEDDINGS)]
    tokens = max(rows, default=None)
    linear = [each for each in modules.values() if rows and _is_a(each, LINEAR)]
    heads = [each for each in linear if getattr(each, "out_features", None) == tokens]
    return heads[-1] if heads else None


def _at_depth(owner: str, modules: Mapping[str, Any], depth: int) -> str:
    """The module above or at an owner that lies so many levels down, or the owner."""
    levels, path = 0, ""
    for part in owner.split(".") if owner else ():
        path = f"{path}.{part}" if path else part
        levels += not _is_a(modules[path], CONTAINERS)
        if levels == depth:
            break
    return path


def _is_a(module: Any, origin: str) -> bool:
    return any(kind.__module__ == origin for kind in type(module).__mro__)


def _storage(name: str, parameter: Any) -> object:
    """What is equal for parameters that are one."""
    if type(parameter).__name__ == "UninitializedParameter":
        raise ValueError(f"{name} has no shape yet: call the model once before it is inspected.")
    if parameter.device.type == "meta" or not parameter.numel():
        return id(parameter)
    return parameter.data_ptr(), parameter.numel(), str(parameter.device)


def table_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows below their headings, the first column on the left and the others on the right.

    >>> print(table_text(("layer", "size"), [("wte", "2.0 MiB"), ("head", "")]))
    layer       size
    wte      2.0 MiB
    head
    """
    lines = [columns, *rows]
    widths = [max(len(column[0]) + 2, *map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in aligned)
