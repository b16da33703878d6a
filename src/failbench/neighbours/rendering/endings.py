"""The end of a terminal's output: a traceback, what a shell says of a killed process, nothing."""

from __future__ import annotations

import json
import signal
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from failbench.neighbours.rendering.run import Ending, LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.tracebacks import draw_places, notebook, plain, rich

_RANK: Final = "[rank0]: "
"""What torch puts before each line of an uncaught exception of a distributed training."""

LAUNCHED: Final = 0.5
"""Share of trainings with ranks of which the launcher's own summary is in the log: it goes to
standard error of the launcher, which is as often another file."""

_SUMMARY: Final = """\
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-03-14_10:41:07
  host      : node01
  rank      : 0 (local_rank: 0)
  exitcode  : {code} (pid: {pid})
  error_file: <N/A>
  traceback : {message}
============================================================"""
"""Of torch's ``distributed/elastic/multiprocessing/errors/__init__.py``."""

_HOW: Final = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


@cache
def deaths() -> dict[str, tuple[str, ...]]:
    """What shells, schedulers and containers say of a process by the signal that ended it."""
    text = files("failbench.neighbours.rendering").joinpath("data/deaths.json").read_text("utf-8")
    return {name: tuple(lines) for name, lines in json.loads(text).items()}


def ending_lines(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> list[str]:
    """The last lines of a terminal's output; none if it lacks its end or nothing was said."""
    places, pid = draw_places(rng), int(rng.integers(1_000, 100_000))
    number, chance, launched = int(rng.integers(1, 60)), rng.random(), rng.random() < LAUNCHED
    ending = run.ending
    if not shape.ending or ending.kind in ("completed", "silence"):
        return []
    if ending.traceback is None:
        forms = deaths().get(ending.signal, ("Killed",))
        if shape.style == "ranks" and launched:
            return _summary(ending, pid)
        return [forms[int(chance * len(forms))].format(pid=pid, line=number)]
    if shape.style == "rich":
        return rich(ending.traceback, places)
    if shape.style == "notebook":
        return notebook(ending.traceback, places)
    lines = plain(ending.traceback, places)
    if shape.style == "plain":
        return lines
    return [_RANK + line for line in lines] + (_summary(ending, pid) if launched else [])


def _summary(ending: Ending, pid: int) -> list[str]:
    """What torchrun says of a failed rank, if an exception or a signal ended it."""
    if ending.traceback is not None:
        return _SUMMARY.format(code=1, pid=pid, message=_HOW).split("\n")
    number = int(signal.Signals[ending.signal])
    message = f"Signal {number} ({ending.signal}) received by PID {pid}"
    return _SUMMARY.format(code=-number, pid=pid, message=message).split("\n")
