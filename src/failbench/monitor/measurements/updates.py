"""Measurements of an optimizer's step: what it did to a sample of each parameter."""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from failbench.monitor.measurements.reductions import numbers
from failbench.monitor.measurements.sample import Sample
from failbench.monitor.measurements.update_formulas import FORMULAS

_MOMENTS: Final = ("exp_avg_sq", "square_avg", "momentum_buffer")
"""Names, in optimizers' state, of second moments and of what SGD has in their place."""

_PRECISE: Final = (torch.float32, torch.float64)  # where a step is large beside rounding
_ROUNDINGS: Final = 2  # units in the last place by which a parameter may differ from its formula


@dataclass(frozen=True)
class Part:
    """Parameters of one group and type, with the same state."""

    group: Mapping[str, Any]
    dtype: torch.dtype
    state: tuple[str, ...]
    span: slice
    steps: Tensor


class UpdateMeasurement:
    """Measures one optimizer's steps, holding parameters between begin and end alone."""

    def __init__(self, optimizer: Any) -> None:
        self._sizes = _sizes(optimizer)
        self._sample = Sample(self._sizes)
        formula = FORMULAS.get(type(optimizer))
        self._update = None if formula is None else formula.update
        self._names = _MOMENTS if formula is None else formula.state
        for kind in ("before", "gradient", "after", "now", *self._names):
            self._sample.kind(kind)
        self._parts: list[Part] = []
        self._parameters: list[Tensor] = []
        self._left: list[weakref.ref[Tensor]] = []

    def fits(self, optimizer: Any) -> bool:
        """Whether the optimizer still holds parameters of the same sizes."""
        return self._sizes == _sizes(optimizer)

    def begin(self, optimizer: Any, scale: float) -> None:
        """Copy what the step will change."""
        self._parts, self._parameters = [], []
        members: defaultdict[tuple[int, torch.dtype, tuple[str, ...]], list[Tensor]]
        members = defaultdict(list)
        for number, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                if _is_sampled(parameter):
                    names = self._names_of(optimizer.state.get(parameter, {}), parameter)
                    members[number, parameter.dtype, names].append(parameter)
        start = 0
        for (number, dtype, names), parameters in members.items():
            stop = start + sum(self._sample.count(each.numel()) for each in parameters)
            for name in names:
                self._sample.take(name, [optimizer.state[each][name] for each in parameters], start)
            known = optimizer.param_groups[number]
            group = {name: known[name] for name in known if name != "params"}
            steps = self._steps(optimizer, parameters)
            self._parts.append(Part(group, dtype, names, slice(start, stop), steps))
            self._parameters += parameters
            start = stop
        if not self._parameters:
            return
        self._sample.take("before", self._parameters)
        gradients = self._sample.take("gradient", [each.grad for each in self._parameters])
        gradients /= scale

    def end(self) -> dict[str, float]:
        """Compare with what was copied, and let go of the parameters."""
        parameters, self._parameters = self._parameters, []
        if not parameters:
            return {}
        after = self._sample.take("after", parameters)
        before = self._sample.kind("before")[: len(after)]
        gradient = self._sample.kind("gradient")[: len(after)]
        self._left = [weakref.ref(parameter) for parameter in parameters]
        each = _PerParameter([self._sample.count(parameter.numel()) for parameter in parameters])
        steps, weights = each.norms(after - before), each.norms(before)
        values: dict[str, float] = {}
        if weights.any():
            values["update_ratio"] = float(np.median(steps[weights != 0] / weights[weights != 0]))
        moment, slope = self._moment(), float(torch.linalg.vector_norm(gradient))
        if moment is not None and slope:
            values["state_scale"] = moment / (slope / math.sqrt(len(gradient)))
        return values | self._compared(before, gradient, after, each)

    @property
    def waits(self) -> bool:
        """Whether :meth:`moved_since` has something to compare with."""
        return bool(self._left)

    def moved_since(self) -> float | None:
        """Parameters that differ from what the last measured step left; None where not known."""
        parameters = [reference() for reference in self._left]
        self._left = []
        known = [parameter for parameter in parameters if parameter is not None]
        if not known or len(known) < len(parameters):
            return None
        now = self._sample.take("now", known)
        after = self._sample.kind("after")[: len(now)]
        differs = (now != after) & ~(now.isnan() & after.isnan())
        each = _PerParameter([self._sample.count(parameter.numel()) for parameter in known])
        return float(np.count_nonzero(each.any(differs)))

    def _names_of(self, state: Mapping[str, Any], parameter: Tensor) -> tuple[str, ...]:
        tensors = ((name, state.get(name)) for name in self._names)
        return tuple(
            name
            for name, tensor in tensors
            if isinstance(tensor, Tensor) and tensor.shape == parameter.shape
        )

    def _steps(self, optimizer: Any, parameters: list[Tensor]) -> Tensor:
        steps = counters_of(optimizer, parameters)
        counts = torch.tensor([step + 1 for step in steps], dtype=torch.double)
        if len(set(steps)) == 1:
            return counts[0]
        sizes = [self._sample.count(parameter.numel()) for parameter in parameters]
        return counts.repeat_interleave(torch.tensor(sizes))

    def _moment(self) -> float | None:
        """Root mean square of the state that follows the gradient; None where some has none."""
        square, elements = 0.0, 0
        for part in self._parts:
            names = [name for name in _MOMENTS if name in part.state]
            if not names:
                return None
            state = self._sample.kind(names[0])[part.span]
            squares = state**2 if names[0] == "momentum_buffer" else state
            square, elements = square + float(squares.sum()), elements + len(state)
        return math.sqrt(square / elements) if square >= 0 else math.nan

    def _compared(
        self, before: Tensor, gradient: Tensor, after: Tensor, each: _PerParameter
    ) -> dict[str, float]:
        moves = torch.zeros(len(after), dtype=torch.bool)
        error, length = 0.0, 0.0
        for part in self._parts:
            span = part.span
            if self._update is None:
                moves[span] = (gradient[span] != 0) & bool(part.group.get("lr", 1.0))
                continue
            state = {name: self._sample.kind(name)[span] for name in part.state}
            new = self._update(before[span], gradient[span], state, part.steps, part.group)
            rounding = _ROUNDINGS * torch.finfo(part.dtype).eps * new.abs()
            # Seen even if the formula is as wrong as rounding may make it.
            moves[span] = (gradient[span] != 0) & ((new - before[span]).abs() > 2 * rounding)
            if part.dtype in _PRECISE:
                excess = ((after[span] - new).abs() - rounding).clamp_(min=0)
                error = math.hypot(error, float(torch.linalg.vector_norm(excess)))
                step = torch.linalg.vector_norm(new - before[span])
                length = math.hypot(length, float(step))
        kept = each.any(moves) & ~each.any(after != before)
        values = {"weights_kept": float(np.count_nonzero(kept))}
        if self._update is not None and any(part.dtype in _PRECISE for part in self._parts):
            if length:
                values["update_error"] = error / length
            else:
                values["update_error"] = math.inf if error else 0.0
        return values


def counters_of(optimizer: Any, parameters: list[Tensor]) -> list[float]:
    """The optimizer's own counts of steps, 0 where there is none."""
    counts = [optimizer.state.get(each, {}).get("step", 0) for each in parameters]
    places = [place for place, count in enumerate(counts) if isinstance(count, Tensor)]
    for place, value in zip(places, numbers([counts[place] for place in places]), strict=True):
        counts[place] = value
    return [float(count) for count in counts]


class _PerParameter:
    """Sums over the elements of each parameter."""

    def __init__(self, counts: list[int]) -> None:
        self._starts = np.cumsum([0, *counts[:-1]])

    def norms(self, values: Tensor) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(np.square(values.numpy()), self._starts)
        return np.sqrt(sums)

    def any(self, values: Tensor) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.logical_or.reduceat(values.numpy(), self._starts)
        return result


def _sizes(optimizer: Any) -> list[int]:
    return [each.numel() for group in optimizer.param_groups for each in group["params"]]


def _is_sampled(parameter: Tensor) -> bool:
    gradient = parameter.grad
    return (
        gradient is not None
        and gradient.layout == torch.strided
        and parameter.layout == torch.strided
        and parameter.is_floating_point()
        and parameter.numel() > 0
    )
