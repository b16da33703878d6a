"""Parallel work inside a stage, with results that do not depend on the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def parallel_map(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> list[Result]:
    """Call ``function(*one)`` for each tuple of arguments, in order, one BLAS thread a worker.

    Whatever is random must be seeded through the arguments: a task does not know which worker runs
    it, nor what ran there before.
    """
    # joblib limits the threads of its own processes; the second limit covers workers=1, where the
    # calls run in this process and would otherwise use every thread.
    with parallel_config("loky", inner_max_num_threads=1), threadpool_limits(1):
        calls = (delayed(function)(*one) for one in arguments)
        results: list[Result] = Parallel(n_jobs=workers)(calls)
        return results
