"""Memory: what the process or its device uses, what is left, and which tensors live."""

from __future__ import annotations

import gc
import mmap
import os
import resource
import time
from itertools import compress
from pathlib import Path
from typing import Any, Final

import torch

RESERVE: Final = 4 * 2**20  # held from the start, so that the end can be written without memory
MOST_SHARE: Final = 0.04  # of the time of a run that may be spent on counting tensors

_PAGE: Final = resource.getpagesize()
_DATA_FIELD: Final = 5  # of /proc/self/statm: data and stack, in pages; see proc(5)
_CGROUPS: Final = Path("/sys/fs/cgroup")


class Reserve:
    """Memory that is given back when there is none left."""

    def __init__(self) -> None:
        # Not from the heap, which may keep what is freed.
        self._bytes = mmap.mmap(-1, RESERVE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def release(self) -> None:
        """Give it back to the system."""
        self._bytes.close()


class ProcessMemory:
    """Private data (VmData), which ``RLIMIT_DATA`` limits, as it is when phases begin and end."""

    def __init__(self) -> None:
        self._files = [os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)]
        self._files.append(os.open("/proc/meminfo", os.O_RDONLY | os.O_CLOEXEC))
        self._groups = _memory_groups()
        self.bytes_read = 0
        self._last = self.used()

    def used(self) -> float:
        """Bytes in use."""
        return int(self._read(self._files[0]).split()[_DATA_FIELD]) * _PAGE

    def highest(self) -> float:
        """Most bytes seen in use since the last call."""
        before, self._last = self._last, self.used()
        return max(before, self._last)

    def available(self) -> float:
        """The least of what the process's limit, its control groups and the machine leave."""
        left = [int(self._read(self._files[1]).split(b"MemAvailable:")[1].split()[0]) * 1024]
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        if limit != resource.RLIM_INFINITY:
            left.append(limit - int(self._last))
        for most, used in self._groups:
            limit_of_group = most.read_text("ascii").strip()
            if limit_of_group != "max":
                left.append(int(limit_of_group) - int(used.read_text("ascii")))
        return max(min(left), 0)

    def close(self) -> None:
        """Close what is read from."""
        for file in self._files:
            os.close(file)

    def _read(self, file: int) -> bytes:
        content = os.pread(file, 4096, 0)
        self.bytes_read += len(content)
        return content


class DeviceMemory:
    """Memory of a CUDA device that tensors use; resets the allocator's peaks at every phase."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self.bytes_read = 0
        torch.cuda.reset_peak_memory_stats(device)

    def used(self) -> float:
        """Bytes in use."""
        return float(torch.cuda.memory_allocated(self._device))

    def highest(self) -> float:
        """Most bytes in use since the last call."""
        highest = float(torch.cuda.max_memory_allocated(self._device))
        torch.cuda.reset_peak_memory_stats(self._device)
        return highest

    def available(self) -> float:
        """What the device and the process's share of it leave."""
        free, total = torch.cuda.mem_get_info(self._device)
        reserved = torch.cuda.memory_reserved(self._device)
        share = torch.cuda.get_per_process_memory_fraction(self._device)
        used = self.used()
        return float(max(min(free + reserved - used, share * total - used), 0))

    def close(self) -> None:
        """Nothing is open."""


Memory = ProcessMemory | DeviceMemory  # memory in which a model trains


def memory_of(device: Any) -> Memory:
    """The memory in which a model on a device trains."""
    return DeviceMemory(device) if device.type == "cuda" else ProcessMemory()


class LiveTensors:
    """Counts the tensors that Python holds, while that costs less than a share of the time."""

    def __init__(self, most_share: float = MOST_SHARE) -> None:
        self._most_share = most_share
        self._started = time.perf_counter()
        self._spent = 0.0

    def measure(self) -> dict[str, float]:
        """Tensors, and the bytes of their storages, each once; nothing if it is too early."""
        now = time.perf_counter()
        if self._spent > self._most_share * (now - self._started):
            return {}
        objects = gc.get_objects()
        kinds = _kinds_of(torch.Tensor)
        # One pass without Python's loop: there are hundreds of thousands of objects.
        tensors = list(compress(objects, map(kinds.__contains__, map(type, objects))))
        del objects
        storages: dict[int, int] = {}
        for tensor in tensors:
            try:
                storage = tensor.untyped_storage()
                storages[storage._cdata] = storage.nbytes()
            except (NotImplementedError, RuntimeError):  # sparse and functional tensors have none
                continue
        self._spent += time.perf_counter() - now
        return {"live_tensors": float(len(tensors)), "live_bytes": float(sum(storages.values()))}


def _kinds_of(kind: type) -> set[type]:
    kinds = {kind}
    derived: list[type] = type.__subclasses__(kind)
    for other in derived:
        kinds |= _kinds_of(other)
    return kinds


def _memory_groups() -> list[tuple[Path, Path]]:
    try:
        lines = Path("/proc/self/cgroup").read_text("ascii").splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        number, _, name = line.split(":", 2)
        folder = _CGROUPS / name.lstrip("/")
        if number == "0":
            for group in (folder, *folder.parents):
                files = group / "memory.max", group / "memory.current"
                if group.is_relative_to(_CGROUPS) and all(file.exists() for file in files):
                    groups.append(files)
    return groups
