"""Live memory: bytes of tensors, and the most there were; fake ones live and die as real ones."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.utils._pytree import tree_iter
from torch.utils.weak import WeakIdKeyDictionary


class LiveMemory:
    """Counts storages from when they are first seen until they are freed."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self._counted = WeakIdKeyDictionary()

    def leave_out(self, tensor: Tensor) -> None:
        """Never count the memory of a tensor, which was there before."""
        self._counted[tensor.untyped_storage()] = 0

    def note(self, result: Any) -> list[Tensor]:
        """Count what an operation gives, and say which of it is new."""
        new = []
        for tensor in tree_iter(result):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                if storage not in self._counted:
                    self._counted[storage] = storage.nbytes()
                    self.now += storage.nbytes()
                    weakref.finalize(storage, self._free, storage.nbytes()).atexit = False
                    new.append(tensor)
        self.most = max(self.most, self.now)
        return new

    def restart(self) -> None:
        """Begin a new phase, whose most is counted from what exists now."""
        self.most = self.now

    def _free(self, count: int) -> None:
        self.now -= count
