"""Units of work, several at a time, and how far a campaign is with them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TypeVar

Unit = TypeVar("Unit")


@dataclass
class Progress:
    """Progress of a campaign, shown after every run."""

    planned: int
    done: int = 0
    kept: int = 0
    as_expected: int = 0
    rejected: list[str] = field(default_factory=list)


def for_each(
    units: Iterable[Unit], action: Callable[[Unit], None], workers: int, stop: threading.Event
) -> None:
    """Apply an action to each unit on several threads, until done or stopped.

    The first error ends all of it.
    """
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
