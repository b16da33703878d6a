"""Parameters: where the parameters of a model are, and how many of them are embeddings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tabulate import tabulate

from failbench.diagnose.inspection.layers import Layer, Role, layers_of
from failbench.preflight.memory import readable

SKILL_EMBEDDING_SHARE: Final = 0.7
"""The share of parameters in embeddings above which the skill ml-training-debugger calls a model
imbalanced (rules of thumb of its agent's prompt). It is not ours: small models with large
vocabularies train well above it."""


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
        How many levels down a layer lies; see :func:`~.inspection.layers.layers_of`.

    Raises
    ------
    ValueError
        If the depth is not positive, or a parameter has no shape before the model is called.
    """
    layers = layers_of(model, depth)
    total = sum(_elements(layer) for layer in layers)
    return tuple(_share(layer, total) for layer in layers)


def summary(shares: Iterable[ParameterShare]) -> ParameterSummary:
    """What the layers of a model have together."""
    shares = tuple(shares)
    of_role = {
        role: sum((each.share for each in shares if each.role == role), 0.0)
        for role in ("embedding", "head")
    }
    return ParameterSummary(
        sum(each.parameters for each in shares),
        sum(each.trainable for each in shares),
        sum(each.bytes for each in shares),
        of_role["embedding"],
        of_role["head"],
        tuple(name for each in shares for name in each.tied),
    )


def parameter_text(shares: Iterable[ParameterShare]) -> str:
    """A table of layers, and a line of what they have together."""
    shares = tuple(shares)
    rows = [
        (
            each.layer,
            each.kind,
            each.role if not each.tied else f"{each.role}, tied",
            f"{each.parameters:,}",
            f"{each.trainable:,}",
            readable(each.bytes),
            "/".join(each.dtypes),
            f"{100 * each.share:.1f} %",
        )
        for each in shares
    ]
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
    table = tabulate(
        rows, columns, "plain", colglobalalign="right", colalign=["left"], disable_numparse=True
    )
    return f"{table}\n{line}"


def _elements(layer: Layer) -> int:
    return sum(each.numel() for each in layer.parameters.values())


def _share(layer: Layer, total: int) -> ParameterShare:
    held = layer.parameters.values()
    elements = _elements(layer)
    return ParameterShare(
        layer.name,
        layer.kind,
        layer.role,
        elements,
        sum(each.numel() for each in held if each.requires_grad),
        sum(each.numel() * each.element_size() for each in held),
        tuple(sorted({str(each.dtype).removeprefix("torch.") for each in held})),
        elements / total if total else 0.0,
        tuple(layer.tied),
    )
