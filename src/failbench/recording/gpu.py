"""The child's side on a GPU: the same loop, with memory counted and limited on the device."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import wait
from pathlib import Path

import torch

from failbench.recording.child import _describe, _execute, _send
from failbench.recording.memory import MemoryMeter
from failbench.recording.order import Line, RunOrder


class CudaMeter(MemoryMeter):
    """Reads what the caching allocator has reserved, the quantity that the fraction limits.

    See "Memory management" in PyTorch's notes on CUDA semantics. Neither counts the CUDA context,
    so the baseline is the memory reserved before the run, which is zero.
    """

    def __init__(self) -> None:
        self.total = torch.cuda.get_device_properties(0).total_memory
        self.baseline = 0
        self.baseline = self.read()

    def read(self) -> int:
        """Bytes reserved above the baseline."""
        return int(torch.cuda.memory_reserved()) - self.baseline

    def limit(self, capacity_bytes: int) -> None:
        """Let PyTorch raise ``torch.cuda.OutOfMemoryError`` beyond a capacity."""
        fraction = (self.baseline + capacity_bytes) / self.total
        torch.cuda.set_per_process_memory_fraction(min(1.0, fraction))

    @staticmethod
    def lift() -> None:
        """Allow the whole device again."""
        torch.cuda.set_per_process_memory_fraction(1.0)


def main(order: RunOrder, line: Line) -> None:
    """Entry point of the child process, as :func:`failbench.recording.child.main` on the CPU.

    The process dies with its campaign, also when a kernel hangs: a thread watches the lifeline.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(line,), daemon=True).start()
    os.chdir(line.scratch)
    meter = CudaMeter()
    # Faults allocate on the default device: what they hoard must be the memory that is limited.
    with torch.device(order.device):
        try:
            _execute(order, line.channel, meter, Path(line.scratch))
        except BaseException as error:  # whatever ends the run is what is recorded
            meter.lift()
            _send(line.channel, "error", _describe(error))


def _die_with(line: Line) -> None:
    wait([line.lifeline])
    os.kill(os.getpid(), signal.SIGKILL)
