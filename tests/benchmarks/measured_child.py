"""A process in which one case is measured, so that its memory is its own.

The process is spawned, and has imported the library when a case is built. Peak memory is
what Linux counts as resident (``VmHWM``), and not what Python allocates: most of it is polars',
LightGBM's and EBM's own. Its high-water mark is reset before each work; what the process held when
it began is taken off, so that the input counts and the libraries do not.
"""

import ctypes
import gc
import multiprocessing
import os
import re
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

Works = dict[str, Callable[[], object]]
"""What is measured, by name; each may need the ones before it."""

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""As the workers of a stage have it: what is measured is work, not how well it is spread."""

STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"
"""What makes Linux forget the high-water mark of resident memory (proc(5), clear_refs)."""


@dataclass(frozen=True)
class Cost:
    """What a work took: processor seconds, and MiB at the peak beyond the libraries."""

    cpu_seconds: float
    peak_mib: float


def can_measure() -> bool:
    """Whether this system tells the peak memory of a process and forgets it on demand."""
    return STATUS.exists() and os.access(CLEAR_REFS, os.W_OK)


class MeasuredChild:
    """A process that does the works of a case, first at the size ``warm_up`` for libraries."""

    def __init__(self, build: Callable[[int], Works], size: int, warm_up: int) -> None:
        # The fork server is one for the whole process, and recordings need it with torch imported.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, build, size, warm_up))
        with patch.dict(os.environ, ONE_THREAD):
            self._process.start()
        theirs.close()
        self.warm_up_seconds: dict[str, float] = self._answer()

    def prepare(self, work: str) -> None:
        self._pipe.send(("prepare", work))
        self._answer()

    def do(self, work: str) -> Cost:
        self._pipe.send(("do", work))
        cost: Cost = self._answer()
        return cost

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._pipe.send(None)
        self._process.join()

    def _answer(self) -> Any:
        try:
            failed, answer = self._pipe.recv()
        except EOFError:
            self._process.join()
            raise RuntimeError(f"The process ended with {self._process.exitcode}.") from None
        if failed:
            raise RuntimeError(answer)
        return answer


def _serve(pipe: Connection, build: Callable[[int], Works], size: int, warm_up: int) -> None:
    try:
        idle = _mib("VmRSS")
        seconds = {name: cpu_seconds(work) for name, work in build(warm_up).items()}
        works, done = build(size), set()
        pipe.send((False, seconds))
        for order, name in iter(pipe.recv, None):
            if order == "prepare":
                for before in list(works)[: list(works).index(name)]:
                    if before not in done:
                        works[before]()
                        done.add(before)
                _give_back()
                CLEAR_REFS.write_text(RESET_PEAK, encoding="ascii")
                pipe.send((False, None))
            else:
                cost = Cost(cpu_seconds(works[name]), _mib("VmHWM") - idle)
                done.add(name)
                pipe.send((False, cost))
    except Exception:  # whatever it is, the test that waits must say it
        pipe.send((True, traceback.format_exc()))


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _give_back() -> None:
    """Return to the system what is free, so that it does not hide what is taken next."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _mib(line: str) -> float:
    found = re.search(rf"^{line}:\s+(\d+) kB", STATUS.read_text(encoding="ascii"), re.M)
    assert found is not None
    return int(found[1]) / 1024
