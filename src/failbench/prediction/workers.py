"""Parallel work inside a stage, with results that do not depend on the number of workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


def available_workers() -> int:
    """How many processors this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where the system cannot bind a process to processors


def parallel_map(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> list[Result]:
    """Call a function with each tuple of arguments, in order, with one BLAS thread per worker.

    Whatever is random must be seeded through the arguments: a task does not know which worker runs
    it, nor what ran there before.
    """
    # Imported when it is called: the command line counts processors, and computes nothing.
    from joblib import Parallel, delayed, parallel_config
    from threadpoolctl import threadpool_limits

    # joblib limits the threads of its own processes; the second limit covers workers=1, where the
    # calls run in this process and would otherwise use every thread.
    with parallel_config("loky", inner_max_num_threads=1), threadpool_limits(1):
        calls = (delayed(function)(*values) for values in arguments)
        results: list[Result] = Parallel(n_jobs=workers)(calls)
        return results
