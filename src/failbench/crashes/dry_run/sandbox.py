"""The sandbox as its user sees it: orders go in, answers that may be anything come out."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import failbench
from failbench.crashes.dry_run.limits import NOTEBOOK, Limits
from failbench.crashes.dry_run.walls import CELL, KEPT, NOBODY
from failbench.errors import BadInputError

READY: Final = 120.0
"""Seconds until the sandbox must have its libraries."""

SLACK: Final = 20.0
"""Seconds beyond the limit of a run until its answer must be there."""

REMEDY: Final = (
    "Use Linux 5.14 or later where `unshare --user --mount --net --pid --ipc true` works, "
    "or leave the dry run out."
)

LIBRARIES: Final = (
    "numpy",
    "pandas",
    "scipy.stats",
    "scipy.sparse",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "sklearn.compose",
    "sklearn.svm",
    "sklearn.neighbors",
    "sklearn.datasets",
    "matplotlib.pyplot",
    "lightgbm",
    "torch",
    "torch._dynamo",
    "polars",
    "failbench.crashes.dry_run.rehearsal",
)
"""Imported once and not in each run; the same limits hold without them."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Parameters
    ----------
    ended
        ``answer`` if everything in the sandbox ended or answered at length, else the limit that it
        was killed at.
    answer
        What was written there, by whatever wrote it.
    """

    ended: Literal["answer", "time", "memory"]
    answer: str


class Sandbox:
    """A sandbox that carries out one order after another, each behind walls of its own.

    Parameters
    ----------
    process
        Of :mod:`failbench.crashes.dry_run.warm`.
    limits
        That it was told.
    """

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        self._process = process
        self._limits = limits

    @property
    def process_id(self) -> int:
        """Of the process that everything in the sandbox descends from."""
        return self._process.pid

    def start(self, libraries: Sequence[str]) -> None:
        """Give it its users, and wait until its libraries are imported.

        Raises
        ------
        BadInputError
            If a wall cannot be built, which the message names.
        """
        self._heard("apart")
        try:
            _give_users(self._process.pid)
        except OSError as error:
            raise _refusal(f"grants no users in a namespace ({error}).") from error
        self._say({"limits": asdict(self._limits), "libraries": list(libraries)})
        self._heard("ready")

    def run(self, order: dict[str, Any]) -> Outcome:
        """Carry out an order.

        Raises
        ------
        BadInputError
            If a wall cannot be built, or the sandbox ended.
        """
        self._say(order)
        heard = self._heard("ended", self._limits.seconds + SLACK)
        return Outcome(heard["ended"], heard["answer"])

    def close(self) -> None:
        """End it, and whatever runs in it."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(SLACK)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its only child dies with it, and with that one the namespace
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _refusal("ended the sandbox.") from error

    def _heard(self, wanted: str, seconds: float = READY) -> dict[str, Any]:
        line = self._line(seconds)
        if not line.endswith(b"\n"):
            raise _refusal("ended the sandbox, or let it hang.")
        message: dict[str, Any] = json.loads(line)
        if wanted not in message:
            raise _refusal(f"lacks a wall ({message.get('refused')}).")
        return message

    def _line(self, seconds: float) -> bytes:
        assert self._process.stdout is not None
        stream = self._process.stdout.fileno()
        end = time.monotonic() + seconds
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
            part = os.read(stream, 65_536) if ready else b""
            if not part:
                break
            line += part
        return line


@contextmanager
def sandbox(limits: Limits = NOTEBOOK, libraries: Sequence[str] = LIBRARIES) -> Iterator[Sandbox]:
    """A sandbox, which ends with the block.

    Yields
    ------
    Sandbox
        Ready for orders.

    Raises
    ------
    BadInputError
        If the system does not grant every wall: nothing is run without one.
    """
    started = open_sandbox(limits, libraries)
    try:
        yield started
    finally:
        started.close()


def open_sandbox(limits: Limits, libraries: Sequence[str]) -> Sandbox:
    """A sandbox that is to be closed by who opens it; see :func:`sandbox`."""
    if not sys.platform.startswith("linux"):
        raise _refusal(f"is {sys.platform}, and not Linux.")
    process = subprocess.Popen(
        [sys.executable, "-m", "failbench.crashes.dry_run.warm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        cwd="/",
        start_new_session=True,
    )
    started = Sandbox(process, limits)
    try:
        started.start(libraries)
    except BaseException:
        started.close()
        raise
    return started


def available() -> str | None:
    """Why there is no sandbox on this system; None if there is."""
    try:
        with sandbox(libraries=()):
            return None
    except BadInputError as error:
        return str(error)


def _give_users(process: int) -> None:
    """Map the users of a new namespace: of root's, itself and nobody; else the user as nobody.

    Raises
    ------
    OSError
        If the system does not allow it.
    """
    folder = Path(f"/proc/{process}")
    for name, number in (("uid_map", os.geteuid()), ("gid_map", os.getegid())):
        if os.geteuid() == 0:
            content = f"0 0 1\n{NOBODY} {NOBODY} 1\n"
        else:
            (folder / "setgroups").write_text("deny", encoding="ascii")
            content = f"{NOBODY} {number} 1\n"
        (folder / name).write_text(content, encoding="ascii")


def _environment() -> dict[str, str]:
    """Of the variables of this process nothing but where modules are found."""
    root = str(Path(failbench.__file__).parents[1])
    known = os.environ.get("PYTHONPATH", "")
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{root}{os.pathsep}{known}" if known else root,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
        "HOME": str(CELL),
        "TMPDIR": str(CELL),
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": str(KEPT),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "LANG": "C.UTF-8",
    }


def _refusal(problem: str) -> BadInputError:
    return BadInputError("the sandbox of dry runs", "(system)", f"This system {problem}", REMEDY)
