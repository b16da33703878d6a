"""Parallel work inside a stage, with results that do not depend on how many work, or where."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from failbench.base.errors import BadInputError

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

ENGINE = "FAILBENCH_ENGINE"  # names ``loky``, or ``dask:`` and a scheduler's address
CONNECT_SECONDS = 10.0  # how long a scheduler may take to answer

_SAME_VERSIONS = (  # of packages that compute results; Dask compares Python and its own
    *("failbench", "numpy", "scipy", "pandas", "polars"),
    *("scikit-learn", "lightgbm", "interpret-core", "aeon", "numba"),
)

_ONE_THREAD = dict.fromkeys(  # for libraries that are loaded later, as joblib sets it
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def available_workers() -> int:
    """How many processors this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # where the system cannot bind a process to processors


def parallel_map(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> list[Result]:
    """Call a function with each tuple, in order, one BLAS thread a worker; seeds are arguments."""
    # Imported when it is called: the command line counts processors, and computes nothing.
    from joblib import Parallel, delayed, parallel_config
    from threadpoolctl import threadpool_limits

    results: list[Result]
    name, _, address = os.environ.get(ENGINE, "loky").partition(":")
    if name == "dask" and address:
        with _connected(address) as client, parallel_config("dask", client=client):
            alone = (delayed(_alone)(function, values) for values in arguments)
            results = Parallel(n_jobs=-1)(alone)
    elif name == "loky" and not address:
        # joblib limits the threads of its own processes; the second limit covers workers=1, where
        # the calls run in this process and would otherwise use every thread.
        with parallel_config("loky", inner_max_num_threads=1), threadpool_limits(1):
            calls = (delayed(function)(*values) for values in arguments)
            results = Parallel(n_jobs=workers)(calls)
    else:
        raise _unusable(
            "is no engine.",
            "Unset it to use processes of this machine, or give the address of a Dask scheduler, "
            "as in dask:tcp://HOST:8786.",
        )
    return results


def _alone(function: Callable[..., Result], values: tuple[Any, ...]) -> Result:
    """Call a function in a worker of Dask, with one thread and no workers of its own."""
    # Dask sets variables for the processes that its nannies start, and for no others; and it hands
    # work that a task would share out back to the cluster.
    from joblib import parallel_config
    from threadpoolctl import threadpool_limits

    os.environ.update(_ONE_THREAD)
    with parallel_config("sequential"), threadpool_limits(1):
        return function(*values)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client
    except ImportError as error:
        raise _unusable(
            "needs the library Dask, which is not installed.",
            "Install the locked environment, or the extra `cluster` of pyproject.toml.",
        ) from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _unusable(
            f"gets no answer ({str(error).splitlines()[0]}).",
            "Start `dask scheduler` there, or correct the address.",
        ) from error
    with client:
        versions = client.get_versions(packages=_SAME_VERSIONS)
        if not versions["workers"]:
            raise _unusable("has no workers.", f"Start them with `dask worker {address}`.")
        wanted = versions["client"]["packages"]
        for worker, installed in versions["workers"].items():
            for package, version in wanted.items():
                if (other := installed["packages"].get(package)) != version:
                    raise _unusable(
                        f"has a worker, {worker}, with {package} {other} and not {version}.",
                        "Start workers in the locked environment.",
                    )
        yield client


def _unusable(problem: str, remedy: str) -> BadInputError:
    return BadInputError("environment", ENGINE, f"{os.environ[ENGINE]!r} {problem}", remedy)
