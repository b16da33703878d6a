"""What a worker of an engine tells of itself; without pytest, as a worker imports this module."""

import os


def threads_of_libraries() -> list[int]:
    """The threads of each BLAS and OpenMP library, which are loaded when this is called."""
    import sklearn.ensemble  # noqa: F401
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


def process() -> int:
    return os.getpid()
