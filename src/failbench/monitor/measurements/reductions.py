"""Reductions of many tensors to numbers, in one pass and one transfer per device."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

_NARROW = (torch.float16, torch.bfloat16)


def dense(tensor: Tensor) -> Tensor:
    """What a tensor stores, without a graph: of a sparse one its values."""
    detached = tensor.detach()
    if detached.layout != torch.strided:
        return detached.coalesce().values() if detached.is_sparse else detached.values()
    return detached


def norms(tensors: Sequence[Tensor]) -> list[float]:
    """Euclidean norms; not finite only where a tensor's values are not, or the norm overflows."""
    places: defaultdict[tuple[torch.device, torch.dtype], list[int]] = defaultdict(list)
    for place, tensor in enumerate(tensors):
        places[tensor.device, tensor.dtype].append(place)
    result = [0.0] * len(tensors)
    for (_, dtype), members in places.items():
        # A norm in half precision would be infinite from 65,504 on.
        wide = {"dtype": torch.float32} if dtype in _NARROW else {}
        parts = torch._foreach_norm([tensors[place] for place in members], 2, **wide)
        for place, value in zip(members, numbers(parts), strict=True):
            result[place] = value
    return result


def numbers(scalars: Sequence[Tensor]) -> list[float]:
    """What tensors of one element hold, in one transfer where they are on one device."""
    if len({scalar.device for scalar in scalars}) > 1:
        scalars = [scalar.cpu() for scalar in scalars]
    return [float(value) for value in torch.stack(list(scalars)).tolist()] if scalars else []


def exact_norm(tensor: Tensor) -> float:
    """The Euclidean norm in double precision: what overflows in single precision does not here."""
    wide = torch.promote_types(tensor.dtype, precise(tensor))
    return float(torch.linalg.vector_norm(tensor, dtype=wide))


def precise(tensor: Tensor) -> torch.dtype:
    """Double precision, where the tensor's device has it."""
    return torch.float32 if tensor.device.type == "mps" else torch.double


def spaced(tensor: Tensor, step: int) -> Tensor:
    """Each so many elements of a tensor without a graph, copying no more than these."""
    if tensor.is_contiguous():
        return tensor.view(-1)[::step]
    if step == 1:
        return tensor.reshape(-1)
    places = torch.arange(0, tensor.numel(), step, device=tensor.device)
    return tensor[torch.unravel_index(places, tensor.shape)]


def zero_shares(tensors: Sequence[Tensor], most: int) -> list[float]:
    """Shares of each tensor's elements that are exactly zero, 0 of an empty tensor."""
    shares = [0.0] * len(tensors)
    elsewhere: list[tuple[int, int]] = []
    counts: list[Tensor] = []
    for place, tensor in enumerate(tensors):
        size = tensor.numel()
        step = -(-size // most)
        if not size:
            continue
        if tensor.device.type == "cpu" and tensor.dtype != torch.bfloat16:
            # A fraction of the time of PyTorch's functions, which counts at every step.
            flat = tensor.numpy().reshape(-1) if tensor.is_contiguous() else None
            sample = spaced(tensor, step).numpy() if flat is None else flat[::step]
            shares[place] = np.count_nonzero(sample == 0) / sample.size
        else:
            elements = spaced(tensor, step)
            elsewhere.append((place, elements.numel()))
            counts.append(torch.count_nonzero(elements))
    for (place, size), count in zip(elsewhere, numbers(counts), strict=True):
        shares[place] = 1 - count / size
    return shares


def is_finite(tensor: Tensor) -> bool:
    """Whether all values are finite numbers, without a copy."""
    if not tensor.numel():
        return True
    low, high = torch.aminmax(tensor)  # either is no number where a value is none
    return math.isfinite(float(low)) and math.isfinite(float(high))
