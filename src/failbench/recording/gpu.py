"""The child's side on a GPU: the same loop, with memory counted and limited on the device."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import wait

import torch

from failbench.recording.child import answer, execute
from failbench.recording.memory import MemoryMeter
from failbench.recording.order import Line, RunOrder
from failbench.recording.reports import Reports


class CudaMeter(MemoryMeter):
    """Reads what the caching allocator has reserved, the quantity that the fraction limits."""

    # Neither counts the CUDA context, so the baseline is what was reserved before the run, zero.

    def __init__(self) -> None:
        self.capacity_bytes: int | None = None
        self.total = torch.cuda.get_device_properties(0).total_memory
        self.baseline = 0
        self.baseline = self.read()

    def read(self) -> int:
        """Bytes reserved above the baseline."""
        return int(torch.cuda.memory_reserved()) - self.baseline

    def limit(self, capacity_bytes: int) -> None:
        """Let PyTorch raise ``torch.cuda.OutOfMemoryError`` beyond a capacity."""
        self.capacity_bytes = capacity_bytes
        fraction = (self.baseline + capacity_bytes) / self.total
        torch.cuda.set_per_process_memory_fraction(min(1.0, fraction))

    @staticmethod
    def lift() -> None:
        """Allow the whole device again."""
        torch.cuda.set_per_process_memory_fraction(1.0)


def main(order: RunOrder, line: Line) -> None:
    """Entry point of the child, which dies with its campaign, also when a kernel hangs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports = Reports(line.channel)
    threading.Thread(target=_attend, args=(line, reports), daemon=True).start()
    os.chdir(line.scratch)
    # Faults allocate on the default device: what they hoard must be the memory that is limited.
    with torch.device(order.device):
        execute(order, line, reports, CudaMeter())


def _attend(line: Line, reports: Reports) -> None:
    while wait([line.lifeline]):
        answer(line, reports)
