"""Workers: threads that start runs, each of which is a process of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Unit = TypeVar("Unit")


def each(
    units: Iterable[Unit], action: Callable[[Unit], None], workers: int, stop: threading.Event
) -> None:
    """Apply an action to each unit on several threads; the first error ends them all.

    Parameters
    ----------
    units, action
        What is done to what.
    workers
        How many threads.
    stop
        No further unit is begun when it is set; an error sets it.
    """
    remaining = iter(units)
    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        try:
            while not stop.is_set():
                while len(running) < workers:
                    unit = next(remaining, None)
                    if unit is None:
                        break
                    running.add(pool.submit(action, unit))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
            for future in running:
                future.result()
        except BaseException:
            stop.set()
            raise
