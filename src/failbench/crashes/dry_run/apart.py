"""One dry run: processes of its own, watched until it answers or reaches a limit."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import Any, Final

from failbench.crashes.dry_run import linux, walls
from failbench.crashes.dry_run.limits import Limits

TICK: Final = 0.05
"""Seconds between two looks at the memory."""

PROCESSES: Final = Path("/proc")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
CHANNEL: Final = 3
"""The descriptor of a cell that its answer is written to."""

HIGH: Final = 10
"""From which number on descriptors lie while the low ones are set."""

STANDING: Final = b"+"
"""What a run says when its walls stand and its cell has not begun; else it says what is wrong."""


def run_apart(order: str, limits: Limits, orders: int) -> dict[str, Any]:
    """Carry an order out in new namespaces, and kill all that is left there.

    Parameters
    ----------
    order
        JSON, as :mod:`failbench.crashes.dry_run.rehearsal` reads it.
    orders
        Descriptor that orders come from; if its other end is closed, the run ends too.

    Returns
    -------
    dict
        ``ended``: ``answer``, ``time`` or ``memory``; and ``answer``, which whatever ran there
        wrote, and which may be anything.

    Raises
    ------
    OSError
        If a wall does not stand; then the cell has not begun.
    """
    answer, answering = os.pipe()
    state, saying = os.pipe()
    try:
        first = _first_process(order, limits, answering, saying)
        os.close(answering)
        os.close(saying)
        try:
            said = os.read(state, 1000)
            if said != STANDING:
                raise OSError(said.decode("utf-8", "replace") or "no process could be started")
            ended, content = _watched(answer, limits, orders)
        finally:
            os.kill(first, signal.SIGKILL)  # and with it everything in its namespace
            os.waitpid(first, 0)
            _reap()
    finally:
        os.close(answer)
        os.close(state)
    return {"ended": ended, "answer": content.decode("utf-8", "replace")}


def _first_process(order: str, limits: Limits, answering: int, saying: int) -> int:
    """Fork the first process of a new namespace of processes; its id as it is seen from here.

    The process between the two, whose children alone are in the new namespace, ends at once.
    """
    told, telling = os.pipe()
    between = os.fork()
    if not between:
        try:
            linux.unshare(walls.APART_AGAIN)
            child = os.fork()
            if not child:
                _rule(order, limits, answering, saying)
            os.write(telling, str(child).encode())
        except OSError as error:
            os.write(telling, f"{error}".encode())
        finally:
            os._exit(0)
    os.close(telling)
    os.waitpid(between, 0)
    number = os.read(told, 1000).decode()
    os.close(told)
    if not number.isdigit():
        raise OSError(number)
    return int(number)


def _rule(order: str, limits: Limits, answering: int, saying: int) -> None:
    """Start the cell, and end with it: so nothing that it started goes on."""
    try:
        walls.enclose(limits)
        cell = os.fork()
        if not cell:
            _be_cell(order, limits, answering, saying)
        os.close(saying)
        while os.wait()[0] != cell:
            pass
    except OSError as error:
        os.write(saying, f"{error}".encode())
    finally:
        os._exit(0)


def _be_cell(order: str, limits: Limits, answering: int, saying: int) -> None:
    """Become nobody with four descriptors, and carry the order out."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)
        said, answer = (fcntl(each, F_DUPFD, HIGH) for each in (saying, answering))
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.dup2(answer, CHANNEL)
        saying = os.dup2(said, CHANNEL + 1)
        os.closerange(saying + 1, os.sysconf("SC_OPEN_MAX"))
        walls.become_nobody(limits)
        from failbench.crashes.dry_run.rehearsal import rehearse

        os.write(saying, STANDING)
        os.close(saying)
    except BaseException as error:
        os.write(saying, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    try:
        rehearse(order, CHANNEL)
    finally:
        os._exit(0)


def _watched(answer: int, limits: Limits, orders: int) -> tuple[str, bytes]:
    content = b""
    end = time.monotonic() + limits.seconds
    while (left := end - time.monotonic()) > 0:
        ready, _, _ = select.select([answer, orders], [], [], min(TICK, left))
        if answer in ready:
            part = os.read(answer, 4096)
            content += part
            if not part or len(content) > limits.answer:
                return "answer", content[: limits.answer]
        if orders in ready:
            return "time", b""
        if _memory_of_runs(limits.memory) > limits.memory:
            return "memory", b""
    return "time", b""


def _memory_of_runs(limit: int) -> int:
    """Bytes that processes of a run hold: an upper bound, and exactly if that is over the limit."""
    numbers = [path.name for path in PROCESSES.iterdir() if path.name.isdigit()]
    others = [number for number in numbers if number != "1"]
    bound = sum(_pages_of(number) for number in others) * PAGE
    return bound if bound <= limit else sum(_share_of(number) for number in others)


def _pages_of(number: str) -> int:
    with suppress(OSError, IndexError, ValueError):
        _, resident, shared, *_ = (PROCESSES / number / "statm").read_text().split()
        return int(resident) - int(shared)
    return 0


def _share_of(number: str) -> int:
    """Bytes of a process, where what several share is divided among them.

    A process that hides how much it shares is held to share nothing.
    """
    with suppress(OSError, IndexError, ValueError):
        for line in (PROCESSES / number / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _pages_of(number) * PAGE


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
