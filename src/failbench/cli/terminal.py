"""Terminal output that commands share: progress, and how a command ends that is stopped."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress

INTERRUPTED = 130  # exit status of an interrupted command, as shells return it for SIGINT
SECONDS_BETWEEN_LINES = 30.0  # how often progress is written where it is not shown on a terminal

KEPT = "What was recorded so far is kept."


class EndedError(Exception):
    """A command that cannot go on, through no fault of its input."""

    def __init__(self, sentence: str, status: int) -> None:
        self.status = status
        super().__init__(sentence)


@contextmanager
def progress_meter() -> Iterator[Meter]:
    """A bar on the terminal, or a line now and then where standard error is none."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    if console.is_terminal:
        said, left = TextColumn("{task.description}"), TextColumn("{task.fields[left]}")
        with Progress(said, BarColumn(), MofNCompleteColumn(), left, console=console) as bar:
            yield BarMeter(bar)
        return
    lines = Meter(sys.stderr)
    try:
        yield lines
    finally:
        lines.finish()


@contextmanager
def interruptible(sentence: str) -> Iterator[None]:
    """Let an interruption end the command with a sentence."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        raise EndedError(sentence, INTERRUPTED) from interruption


@contextmanager
def recording_meter(kept: str = KEPT) -> Iterator[Meter]:
    """A meter of a recording, whose own errors end the command with what is kept."""
    from failbench.recording.sandbox import RecorderError

    try:
        with progress_meter() as meter:
            yield meter
    except RecorderError as error:
        raise EndedError(f"{error} {kept}", 1) from error


class Meter:
    """Shows how far a command has come: lines of a log, now and then, and the last at the end."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._started = self._written = clock()
        self._pending: str | None = None

    def show(self, said: str, done: int, total: int, kept: int | None = None) -> None:
        """Show counts, and the time left where it is said how many were there; those took none."""
        left = "" if kept is None else self._left(done, total, kept)
        self._put(said, done, total, left)

    def say(self, line: str) -> None:
        """Write a line that stays."""
        print(line, file=self._stream, flush=True)

    def finish(self) -> None:
        """Write the last state, unless it was written."""
        if self._pending is not None:
            self.say(self._pending)
            self._pending, self._written = None, self._clock()

    def _put(self, said: str, done: int, total: int, left: str) -> None:
        self._pending = ", ".join(filter(None, (said, f"{done} of {total} done", left)))
        if self._clock() - self._written >= SECONDS_BETWEEN_LINES:
            self.finish()

    def _left(self, done: int, total: int, kept: int) -> str:
        """The time that the rest takes as what was done did, in words; empty where unknown."""
        if done <= kept or done >= total:
            return ""
        seconds = (self._clock() - self._started) / (done - kept) * (total - done)
        return "under a minute left" if seconds < 60 else f"{math.ceil(seconds / 60)} min left"


class BarMeter(Meter):
    """A bar of rich's, and lines above it."""

    def __init__(self, bar: Progress) -> None:
        super().__init__(sys.stderr)
        self._bar, self._task = bar, bar.add_task("", total=None, left="")

    def say(self, line: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(line)

    def _put(self, said: str, done: int, total: int, left: str) -> None:
        self._bar.update(self._task, description=said, completed=done, total=total, left=left)
