"""Capacity: how much memory a process can still get, on its machine or its GPU."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path
from typing import Final

import torch

_CGROUPS: Final = Path("/sys/fs/cgroup")
_DATA_FIELD: Final = 5  # of /proc/self/statm: data and stack, in pages; see proc(5)
_SIZE_FIELD: Final = 0


class _Heap(ctypes.Structure):
    """``struct mallinfo2`` of the GNU C library."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost",
    ))  # fmt: skip


def free_bytes(device: torch.device) -> int | None:
    """Bytes that tensors can still take; None if unknown. What allocators keep for reuse counts."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(free + kept)
    if device.type != "cpu":
        return None
    known = [each for each in (_machine(), *_groups(), *_limits()) if each is not None]
    return min(known) + _reusable() if known else None


def _machine() -> int | None:
    """What the kernel says is available (``MemAvailable`` of proc(5))."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


def _groups() -> list[int | None]:
    """What control groups leave, of version 2 and of version 1."""
    pairs = [("memory.max", "memory.current")]
    pairs += [("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")]
    return [_left(_number(_CGROUPS / limit), _number(_CGROUPS / used)) for limit, used in pairs]


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None  # "max" is no limit


def _left(limit: int | None, used: int | None) -> int | None:
    return None if limit is None or used is None else limit - used


def _limits() -> list[int | None]:
    """What ``RLIMIT_DATA`` and ``RLIMIT_AS`` leave of this process."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return []
    size = resource.getpagesize()
    left: list[int | None] = []
    for kind, index in ((resource.RLIMIT_DATA, _DATA_FIELD), (resource.RLIMIT_AS, _SIZE_FIELD)):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            left.append(soft - int(pages[index]) * size)
    return left


def _reusable() -> int:
    """Free bytes of the heap; 0 where the C library does not say."""
    try:
        heap = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return 0
    heap.restype = _Heap
    return int(heap().fordblks)
