"""Clock: how long the training thread computed and waited, and what the process read and wrote."""

from __future__ import annotations

import os
import resource
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple


class Moment(NamedTuple):
    """A reading of the clock, in seconds."""

    wall: float
    busy: float
    queued: float


class Clock:
    """Time of the thread that trains, the monitor's own not counted."""

    # A thread computes while the system charges it processor time. It waits for a disk, a lock, a
    # loader or a sleeping driver. A wait for a processor is neither: it tells of the machine's
    # other work.

    def __init__(self) -> None:
        self._queue: int | None = None
        self._last = Moment(0.0, 0.0, 0.0)
        self.follow()

    def follow(self) -> None:
        """Time the calling thread from now on."""
        self.close()
        self.thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self.thread)
        try:
            # Where Linux counts the time that a thread waits to run: see its sched-stats.rst.
            path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
            self._queue = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._queue = None
        self._last = self.read()

    def read(self) -> Moment:
        """Times of the followed thread, from any thread."""
        busy = time.clock_gettime(self._clock)
        return Moment(time.perf_counter(), busy, self._queued())

    def lap(self) -> tuple[float, float]:
        """Seconds that the thread was busy and blocked since the last lap."""
        now, last = self.read(), self._last
        busy, queued = now.busy - last.busy, now.queued - last.queued
        self._last = now
        return max(busy, 0.0), max(now.wall - last.wall - busy - queued, 0.0)

    def leave_out(self, since: Moment) -> None:
        """Do not count the time from a reading until now."""
        passed = zip(self._last, since, self.read(), strict=True)
        self._last = Moment(*(last + now - then for last, then, now in passed))

    def close(self) -> None:
        """Close what is read from."""
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def _queued(self) -> float:
        if self._queue is None:
            return self._last.queued
        try:
            return int(os.pread(self._queue, 128, 0).split()[1]) / 1e9
        except (OSError, IndexError, ValueError):  # the thread is gone
            return self._last.queued


@dataclass(frozen=True)
class Counts:
    """What the system counted of the process since its start."""

    page_faults: int
    bytes_read: int
    bytes_written: int


class Counters:
    """Reads the system's counters of the running process."""

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
