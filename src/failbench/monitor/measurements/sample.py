"""Sample: evenly spaced elements of many tensors, copied into memory that is allocated once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from failbench.monitor.measurements.reductions import spaced

MOST_ELEMENTS: Final = 1024  # elements of one tensor. Smaller ones are copied whole.
MOST_IN_ALL: Final = 1 << 19  # elements of all tensors together: with many tensors, fewer of each


class Sample:
    """Copies of tensors, in double precision and in the memory of the process."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._most: Final = min(MOST_ELEMENTS, max(1, MOST_IN_ALL // max(1, len(sizes))))
        self._capacity: Final = sum(self.count(size) for size in sizes)
        self._kinds: dict[str, Tensor] = {}
        self._staged: dict[torch.device, Tensor] = {}

    def count(self, size: int) -> int:
        """Elements that are copied of a tensor of this many."""
        return -(-size // self._step(size))

    def kind(self, name: str) -> Tensor:
        """The memory of one kind of copies, of shape (elements,)."""
        if name not in self._kinds:
            self._kinds[name] = torch.zeros(self._capacity, dtype=torch.double)
        return self._kinds[name]

    def take(self, name: str, tensors: Sequence[Tensor], start: int = 0) -> Tensor:
        """Copy elements of tensors, one after the other."""
        parts = [self._elements(tensor) for tensor in tensors]
        total = sum(len(part) for part in parts)
        target = self.kind(name)[start : start + total]
        device = parts[0].device
        with torch.no_grad():
            if any(part.device != device for part in parts) or device.type == "mps":
                device, parts = target.device, [part.cpu() for part in parts]
            if device == target.device:
                torch.cat(parts, out=target)
            else:
                target.copy_(torch.cat(parts, out=self._stage(device)[:total]))
        return target

    def _stage(self, device: torch.device) -> Tensor:
        if device not in self._staged:
            self._staged[device] = torch.empty(self._capacity, dtype=torch.double, device=device)
        return self._staged[device]

    def _step(self, size: int) -> int:
        return max(1, -(-size // self._most))

    def _elements(self, tensor: Tensor) -> Tensor:
        return spaced(tensor.detach(), self._step(tensor.numel()))
