"""Measurements of gradients: what an optimizer finds when its step begins."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from failbench.monitor.measurements.reductions import (
    dense,
    exact_norm,
    is_finite,
    norms,
    zero_shares,
)
from failbench.monitor.measurements.sample import MOST_ELEMENTS


def measure_gradients(parameters: Sequence[Tensor], scale: float = 1.0) -> dict[str, float]:
    """Measure the gradients of a model."""
    gradients = [dense(each.grad) for each in parameters if each.grad is not None]
    with torch.no_grad():
        lengths = norms(gradients)
        nonfinite = 0
        for place, length in enumerate(lengths):
            if not math.isfinite(length):
                if is_finite(gradients[place]):
                    lengths[place] = exact_norm(gradients[place])
                else:
                    nonfinite += 1
        values = {
            "gradient_norm": math.hypot(*lengths) / scale,
            "gradients_nonfinite": float(nonfinite),
        }
        if nonfinite:  # math.hypot calls infinity what is no number elsewhere
            values["gradient_norm"] = sum(lengths)
        trainable = [each for each in parameters if each.requires_grad]
        elements = sum(each.numel() for each in trainable)
        if elements:
            missing = sum(each.numel() for each in trainable if each.grad is None)
            values["gradients_missing"] = missing / elements
        values |= _zeros([each.numel() for each in parameters if each.grad is not None], gradients)
    return values


def count_left(parameters: Sequence[Tensor]) -> float:
    """Parameters with a gradient other than zero."""
    gradients = [dense(each.grad) for each in parameters if each.grad is not None]
    return float(sum(length != 0 for length in norms(gradients)))


def _zeros(sizes: Sequence[int], gradients: Sequence[Tensor]) -> dict[str, float]:
    """The share of zeros; what a sparse gradient does not store is zero too."""
    elements = sum(sizes)
    if not elements:
        return {}
    shares = zero_shares(gradients, MOST_ELEMENTS)
    zeros = 0.0
    for size, gradient, share in zip(sizes, gradients, shares, strict=True):
        stored = gradient.numel()
        zeros += size - stored + share * stored
    return {"gradients_zero": zeros / elements}
