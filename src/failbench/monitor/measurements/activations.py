"""Measurements of activations: what the modules of a model put out in one forward pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import torch
from torch import Tensor, nn

from failbench.monitor.measurements.members import Members
from failbench.monitor.measurements.reductions import numbers

MOST_POSITIONS: Final = 256
MOST_ELEMENTS: Final = 1 << 20  # of them evenly spaced; what is not finite is sought in all

_LEFT_OUT: Final = (
    nn.Embedding,
    nn.EmbeddingBag,
    nn.Identity,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.AlphaDropout,
    nn.FeatureAlphaDropout,
    nn.ModuleList,
    nn.ModuleDict,
    nn.Sequential,
    nn.ParameterList,
    nn.ParameterDict,
)

_UNITS_SECOND: Final = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
    nn.GroupNorm,
)


@dataclass(frozen=True)
class Output:
    """What is kept of a module's output: numbers on its device."""

    low: Tensor
    high: Tensor
    size: Tensor
    spread: Tensor | None


class ActivationMeasurement:
    """Measures the outputs' numbers of modules without children, of each its first call."""

    # Embeddings, dropout, identities and containers are left out.

    def __init__(self, model: nn.Module) -> None:
        self._members = Members(model)
        self._handles: list[Any] = []
        self._outputs: dict[int, Output] = {}

    def arm(self) -> None:
        """Attach to the modules, for one forward pass."""
        self.disarm()
        self._outputs = {}
        for module in self._members.modules:
            if not (isinstance(module, _LEFT_OUT) or any(True for _ in module.children())):
                self._handles.append(module.register_forward_hook(self._see))

    @property
    def is_armed(self) -> bool:
        """Whether it is attached to any module."""
        return bool(self._handles)

    def disarm(self) -> None:
        """Detach from the modules."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def measure(self) -> dict[str, float]:
        """Measure what was seen since :meth:`arm`, and forget it."""
        outputs, self._outputs = list(self._outputs.values()), {}
        if not outputs:
            return {}
        lows = numbers([output.low for output in outputs])
        highs = numbers([output.high for output in outputs])
        sizes = numbers([output.size for output in outputs])
        spreads = iter(numbers([each.spread for each in outputs if each.spread is not None]))
        finite, ratios = [], []
        for output, low, high, size in zip(outputs, lows, highs, sizes, strict=True):
            spread = None if output.spread is None else next(spreads)
            if not (math.isfinite(low) and math.isfinite(high)):
                continue
            finite.append(size)
            if spread is not None and math.isfinite(size):
                ratios.append(spread / size if size else 0.0)
        values = {"activations_nonfinite": float(len(outputs) - len(finite))}
        if finite:
            values["activation_rms"] = median(finite)
        if ratios:
            values["activation_spread"] = min(ratios)
        return values

    def _see(self, module: nn.Module, _: Any, result: Any) -> None:
        if id(module) in self._outputs:
            return
        output = _first(result)
        if output is not None:
            with torch.no_grad():
                second = isinstance(module, _UNITS_SECOND)
                self._outputs[id(module)] = _measure(output.detach(), second)


def _first(result: Any) -> Tensor | None:
    """The tensor of floating-point numbers in a module's result, or the first of several."""
    parts = result if isinstance(result, tuple | list) else [result]
    for part in parts:
        if isinstance(part, Tensor) and part.is_floating_point() and part.numel():
            return part
    return None


def _measure(output: Tensor, units_second: bool) -> Output:
    low, high = torch.aminmax(output)
    if units_second and output.dim() > 2:
        output = output.movedim(1, -1)
    sample = _sample(output)
    sample = sample.to(torch.promote_types(sample.dtype, torch.float32))
    size = torch.linalg.vector_norm(sample) / math.sqrt(sample.numel())
    if len(sample) < 2:
        return Output(low, high, size, None)
    centred = sample - sample.mean(0)
    spread = centred.square_().mean(0).sqrt_().mean()
    return Output(low, high, size, spread)


def _sample(output: Tensor) -> Tensor:
    units = output.shape[-1] if output.dim() else 1
    if output.dim() < 2:
        return output.reshape(1, units)
    shape = output.shape[:-1]
    count = math.prod(shape)
    most = max(2, min(MOST_POSITIONS, MOST_ELEMENTS // max(1, units)))
    step = -(-count // most)
    if output.is_contiguous():
        return output.view(-1, units)[::step]
    places = torch.arange(0, count, step, device=output.device)
    return output[torch.unravel_index(places, shape)]
