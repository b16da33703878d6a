"""Value checks: numbers that are not finite, in the batch and in the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from failbench.preflight.findings import Finding, finding
from failbench.preflight.tensors import named_tensors


def batch_values(batch: Any) -> Iterator[Finding]:
    """Values of a batch that are not finite."""
    for key, tensor in named_tensors(batch):
        nan, high, low = _not_finite(tensor)
        values = {"key": key, "total": tensor.numel(), "nan": nan, "inf": high + low}
        if nan or high:
            yield finding("batch_not_finite", where=key, count=nan + high + low, **values)
        elif low:
            yield finding("infinite_in_batch", where=key, count=low, **values)


def parameter_values(model: nn.Module) -> Iterator[Finding]:
    """Weights and floating-point buffers of a model that are not finite."""
    named: Iterable[tuple[str, Tensor]] = [*model.named_parameters(), *model.named_buffers()]
    weights = {id(each) for each in model.parameters()}
    for name, tensor in named:
        nan, high, low = _not_finite(tensor)
        # a buffer may be a mask, whose negative infinities are meant
        count = nan + high + (low if id(tensor) in weights else 0)
        if count:
            yield finding("parameter_not_finite", where=name, count=count, total=tensor.numel())


def _not_finite(tensor: Tensor) -> tuple[int, int, int]:
    """How many values are NaN, infinite, and negative infinite."""
    is_number = tensor.is_floating_point() or tensor.is_complex()
    if not is_number or tensor.is_meta or tensor.layout is not torch.strided:
        return 0, 0, 0
    with torch.no_grad():
        # A sum is finite where all values are, or nearly: the counts are made where it is not.
        if not tensor.numel() or bool(torch.isfinite(tensor.detach().sum())):
            return 0, 0, 0
        values = tensor.detach()
        if values.is_complex():
            values = torch.view_as_real(values)
        return (
            int(values.isnan().sum()),
            int(values.isposinf().sum()),
            int(values.isneginf().sum()),
        )
