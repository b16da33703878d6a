"""Memory of the running process: its use and its limit."""

from __future__ import annotations

import os
import resource

_PAGE = resource.getpagesize()
_DATA_FIELD = 5  # of /proc/self/statm: data and stack, in pages; see proc(5)


class MemoryMeter:
    """Reads VmData, which ``RLIMIT_DATA`` limits, above what it is when the meter is made."""

    def __init__(self) -> None:
        self._file = os.open("/proc/self/statm", os.O_RDONLY)
        self.capacity_bytes: int | None = None
        self.baseline = 0
        self.baseline = self.read()

    def read(self) -> int:
        """Bytes above the baseline."""
        fields = os.pread(self._file, 128, 0).split()
        return int(fields[_DATA_FIELD]) * _PAGE - self.baseline

    def leave_out(self, taken: int) -> None:
        """Count bytes that are none of the run's own to the baseline."""
        self.baseline += taken

    def limit(self, capacity_bytes: int) -> None:
        """Limit to a capacity above the baseline; softly, as a process lifts it to report."""
        self.capacity_bytes = capacity_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (self.baseline + capacity_bytes, hard))

    @staticmethod
    def lift() -> None:
        """Lift the soft limit."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
