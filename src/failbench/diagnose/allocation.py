"""Allocation: how large the block was that memory had no room for, beside what was held already."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from failbench.diagnose.readers.log import Event, Log
from failbench.diagnose.series import series_of

_REQUESTED: Final = re.compile(
    r"(?:[Tt]ried to allocate|Unable to allocate|trying to allocate|failed to allocate)"
    r"\s(?P<size>\d{1,20}(?:\.\d{1,9})?)\s?(?P<unit>[KMGT]?i?B|bytes)"
)
_HELD: Final = re.compile(
    r"(?:this process has|[Oo]f the allocated memory)\s(?P<size>\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>[KMGT]?i?B)"
    r"|(?P<old>\d{1,9}(?:\.\d{1,9})?)\s?(?P<old_unit>[KMGT]?i?B) already allocated"
)
"""What PyTorch's allocators, NumPy and TensorFlow say of a block and of the memory in use; from
``c10/cuda/CUDACachingAllocator.cpp``, ``c10/core/impl/alloc_cpu.cpp`` and ``numpy.exceptions``."""

_UNITS: Final = {"B": 1.0, "bytes": 1.0} | {
    f"{letter}{binary}B": float(1024 if binary else 1000) ** power
    for power, letter in enumerate("KMGT", start=1)
    for binary in ("i", "")
}

OUT_OF_PROPORTION: Final = 1.0
"""Of what is held: a block that is larger than everything before it is of no batch like others."""

BYTES: Final = 2.0**20
"""A training holds more than this; a smaller number is in another unit."""


@dataclass(frozen=True)
class Allocation:
    """A block that was asked for."""

    requested: float
    held: float
    event: Event

    @property
    def is_out_of_proportion(self) -> bool:
        """Whether the block alone is larger than all that was held."""
        return self.requested > OUT_OF_PROPORTION * self.held


def allocation_of(log: Log) -> Allocation | None:
    """The last block that memory had no room for; None where sizes are not said."""
    for event in reversed(log.events):
        asked = _REQUESTED.search(event.message)
        if asked is None:
            continue
        held = _held_in(event.message) or _held_before(log)
        if held:
            return Allocation(float(asked["size"]) * _UNITS[asked["unit"]], held, event)
    return None


def _held_in(message: str) -> float | None:
    said = _HELD.search(message)
    if said is None:
        return None
    size, unit = said["size"] or said["old"], said["unit"] or said["old_unit"]
    return float(size) * _UNITS[unit]


def _held_before(log: Log) -> float | None:
    """The last memory that was logged, where it is in bytes: a number without a unit may be any."""
    memory = series_of(log).get("memory")
    if memory is None or not memory.values[-1] > BYTES:
        return None
    return float(memory.values[-1])
