"""Clock: how long the training thread computed and waited, and what the process read and wrote."""

from __future__ import annotations

import os
import resource
import threading
import time
from dataclasses import dataclass


class Clock:
    """Time of the thread that trains, the monitor's own not counted.

    A thread computes while the system charges it processor time. It waits otherwise: for a disk, a
    lock, a data loader's process, or a device whose driver lets it sleep.
    """

    def __init__(self) -> None:
        self.follow()

    def follow(self) -> None:
        """Time the calling thread from now on."""
        self.thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self.thread)
        self._wall, self._busy = self.read()

    def read(self) -> tuple[float, float]:
        """Seconds on the wall and of the followed thread's processor time, from any thread."""
        return time.perf_counter(), time.clock_gettime(self._clock)

    def lap(self) -> tuple[float, float]:
        """Seconds that the thread was busy and blocked since the last lap."""
        wall, busy = self.read()
        lap = max(busy - self._busy, 0.0), max(wall - self._wall - (busy - self._busy), 0.0)
        self._wall, self._busy = wall, busy
        return lap

    def leave_out(self, since: tuple[float, float]) -> None:
        """Do not count the time from a reading until now."""
        wall, busy = self.read()
        self._wall += wall - since[0]
        self._busy += busy - since[1]


@dataclass(frozen=True)
class Counts:
    """What the system counted of the process since its start.

    Attributes
    ----------
    page_faults
        Faults that waited for a disk.
    bytes_read
        From files and sockets, the monitor's own reads included.
    bytes_written
        To files and sockets.
    """

    page_faults: int
    bytes_read: int
    bytes_written: int


class Counters:
    """Reads the system's counters of the running process.

    Raises
    ------
    OSError
        If the system does not show them.
    """

    def __init__(self) -> None:
        self._file = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> Counts:
        """The counts of this moment; see proc(5)."""
        fields = os.pread(self._file, 512, 0).split()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        return Counts(faults, int(fields[1]), int(fields[3]))

    def close(self) -> None:
        """Close what was read from."""
        os.close(self._file)
