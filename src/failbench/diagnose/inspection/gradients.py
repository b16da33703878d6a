"""Gradients: how large they are in each layer after a backward pass, and where they stop."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Final, Literal

import numpy as np

from failbench.diagnose.inspection.parameters import Layer, layers_of, table_text

# ``far below`` and ``far above`` speak of the root mean square against the median of all layers
# whose gradients are finite and not all zero
Flag = Literal["frozen", "no gradient", "not finite", "all zero", "far below", "far above"]
# orders of magnitude from the median at which a layer is flagged, unless the caller says: a way
# to point at layers, and no statement of what is healthy
ORDERS: Final = 2.0
# Mean and largest absolute value below and above which the skill ml-training-debugger calls the
# gradients of a layer vanishing and exploding (its ``gradient-debugger.py``). They are absolute,
# so that the scale of the loss decides them, and not ours.
SKILL_VANISHING: Final = 1e-6
SKILL_EXPLODING: Final = 100.0


@dataclass(frozen=True)
class GradientFlow:
    """The gradients of one layer."""

    layer: str
    kind: str
    elements: int
    missing: float | None
    norm: float | None = None
    rms: float | None = None
    mean: float | None = None
    largest: float | None = None
    zero: float | None = None
    not_finite: int = 0
    ratio: float | None = None
    orders: float | None = None
    flags: tuple[Flag, ...] = ()

    @property
    def skill_says(self) -> Literal["vanishing", "exploding"] | None:
        """What :data:`SKILL_VANISHING` and :data:`SKILL_EXPLODING` make of it."""
        if self.mean is not None and self.mean < SKILL_VANISHING:
            return "vanishing"
        if self.largest is not None and self.largest > SKILL_EXPLODING:
            return "exploding"
        return None


def gradient_table(model: Any, depth: int = 2, orders: float = ORDERS) -> tuple[GradientFlow, ...]:
    """The gradients that a model has, layer by layer: call it after a backward pass.

    Nothing of the model is changed. Where a ``GradScaler`` scales gradients, unscale them first, or
    read what compares layers alone.

    Parameters
    ----------
    model
        A ``torch.nn.Module``.
    depth
        How many levels down a layer lies; lists of modules are no level of their own.
    orders
        Orders of magnitude from the median at which a layer is flagged.

    Raises
    ------
    ValueError
        If the depth is not positive, or a parameter has no shape before the model is called.
    """
    flows = [_flow(layer) for layer in layers_of(model, depth)]
    sizes = [flow.rms for flow in flows if flow.rms and math.isfinite(flow.rms)]
    middle = median(sizes) if sizes else math.nan
    return tuple(_compared(flow, middle, orders) for flow in flows)


def gradient_text(flows: Iterable[GradientFlow]) -> str:
    """A table of layers."""
    columns = ("layer", "kind", "norm", "rms", "largest", "zero", "to weight", "stands out")
    return table_text(columns, map(_cells, flows))


def _cells(flow: GradientFlow) -> tuple[str, ...]:
    numbers = (flow.norm, flow.rms, flow.largest, flow.ratio)
    *sizes, ratio = ("" if number is None else f"{number:.3g}" for number in numbers)
    zero = "" if flow.zero is None else f"{100 * flow.zero:.1f} %"
    return (flow.layer, flow.kind, *sizes, zero, ratio, ", ".join(flow.flags))


def _flow(layer: Layer) -> GradientFlow:
    trainable = [each for each in layer.parameters.values() if each.requires_grad]
    elements = sum(each.numel() for each in trainable)
    there = [each for each in trainable if each.grad is not None and each.numel()]
    if not elements:
        # A layer whose parameters are all tied has its gradients where they are counted.
        flags: tuple[Flag, ...] = ("frozen",) if layer.parameters else ()
        return GradientFlow(layer.name, layer.kind, 0, None, flags=flags)
    count = sum(each.numel() for each in there)
    missing = 1 - count / elements
    if not count:
        return GradientFlow(layer.name, layer.kind, elements, missing, flags=("no gradient",))
    stored = [each.grad.detach() for each in there]
    # of a sparse one those that are not zero
    stored = [each.coalesce().values() if each.is_sparse else each for each in stored]
    norms = [_norm(each) for each in stored]
    weight = math.hypot(*(_norm(each.detach()) for each in there))
    not_finite = sum(int((~each.isfinite()).sum()) for each in stored)
    # math.hypot calls infinity what is no number elsewhere
    norm = sum(norms) if not_finite else math.hypot(*norms)
    absent = count - sum(each.numel() for each in stored)
    zeros = absent + sum(int((each == 0).sum()) for each in stored)
    mean = sum(_norm(each, 1) for each in stored) / count
    # no number if one of them is none
    largest = float(np.max([0.0, *(float(each.abs().max()) for each in stored if each.numel())]))
    return GradientFlow(
        layer.name, layer.kind, elements, missing, norm, norm / math.sqrt(count), mean, largest,
        zeros / count, not_finite, norm / weight if weight else None,
    )  # fmt: skip


def _compared(flow: GradientFlow, middle: float, most: float) -> GradientFlow:
    if flow.flags or flow.rms is None:
        return flow
    if flow.not_finite:
        return replace(flow, flags=("not finite",))
    if flow.rms == 0:
        return replace(flow, flags=("all zero",))
    orders = math.log10(flow.rms / middle)
    flags: tuple[Flag, ...] = ()
    if abs(orders) >= most:
        flags = ("far above",) if orders > 0 else ("far below",)
    return replace(flow, orders=orders, flags=flags)


def _norm(tensor: Any, order: int = 2) -> float:
    """The norm of a tensor's absolute values, in double precision where the device has it."""
    import torch

    if not tensor.numel():
        return 0.0
    exact = torch.float32 if tensor.device.type == "mps" else torch.float64
    sizes = tensor.abs() if tensor.is_complex() else tensor
    return float(torch.linalg.vector_norm(sizes, order, dtype=exact))
