"""Threads: an action applied to many units, several at a time, until done or stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Unit = TypeVar("Unit")


def for_each(
    units: Iterable[Unit], action: Callable[[Unit], None], workers: int, stop: threading.Event
) -> None:
    """Apply an action to each unit on several threads; the first error ends all of it."""
    remaining = iter(units)
    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        try:
            while not stop.is_set():
                while len(running) < workers and (unit := next(remaining, None)) is not None:
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
