"""Ranks: whether processes have the same weights, by checksums in their store, waiting for none."""

from __future__ import annotations

import struct
from typing import Any, Final

import torch
from torch import distributed

KEPT: Final = 4  # checks whose checksums stay in the store, for ranks that are behind

_WIDTHS: Final = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Ranks:
    """Compares checksums of parameters between ranks."""

    def __init__(self, model: Any) -> None:
        if not (distributed.is_available() and distributed.is_initialized()):
            raise ValueError("there is one rank")
        self._size = distributed.get_world_size()
        if self._size < 2:
            raise ValueError("there is one rank")
        self._parameters = list(model.parameters())
        if any(hasattr(parameter, "placements") for parameter in self._parameters) or any(
            type(part).__name__ == "FullyShardedDataParallel" for part in model.modules()
        ):
            raise ValueError("each rank holds another part of the parameters")
        self._store = distributed.distributed_c10d._get_default_store()
        self._rank = distributed.get_rank()
        self._put: list[int] = []

    def put(self, step: int) -> None:
        """Put the checksums of this moment where other ranks see them, for a coming step."""
        sums = checksums(self._parameters)
        self._store.set(self._key(step, self._rank), struct.pack(f"<{len(sums)}q", *sums).hex())
        if step not in self._put:
            self._put.append(step)
        if len(self._put) > KEPT:
            self._store.delete_key(self._key(self._put.pop(0), self._rank))

    def measure(self, step: int) -> dict[str, float]:
        """``ranks_disagree`` for a step; nothing where a rank has not put its checksums yet."""
        keys = [self._key(step, rank) for rank in range(self._size)]
        if step not in self._put or not self._store.check(keys):
            return {}
        contents = [bytes.fromhex(self._store.get(key).decode()) for key in keys]
        if len({len(content) for content in contents}) > 1:
            raise ValueError("the ranks hold different models")
        sums = [struct.unpack(f"<{len(content) // 8}q", content) for content in contents]
        differing = sum(len(set(each)) > 1 for each in zip(*sums, strict=True))
        return {"ranks_disagree": float(differing)}

    def _key(self, step: int, rank: int) -> str:
        return f"failbench/monitor/{step}/{rank}"


def checksums(parameters: list[Any]) -> list[int]:
    """The sum of the bits of each parameter, read as integers: equal on every device."""
    sums = [
        parameter.detach().contiguous().view(_WIDTHS[parameter.element_size()]).sum()
        for parameter in parameters
    ]
    return [int(total) for total in torch.stack(sums).tolist()] if sums else []
