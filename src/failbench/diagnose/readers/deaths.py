"""Deaths: lines in which a shell, a launcher or a runtime says that a process was ended."""

from __future__ import annotations

import re
import signal
from typing import Final

from failbench.diagnose.readers.log import Event

_DEATHS: Final = (
    ("SIGKILL", r"^(?:.{0,80}[:\s])?Killed(?:\s.{0,200})?$"),
    ("SIGKILL", r"oom[-_]?kill|Out of memory: Killed process|oom_reaper|OOM Killed|OOMKilled"),
    ("SIGSEGV", r"Segmentation fault|Fatal Python error: Segmentation fault"),
    ("SIGBUS", r"^(?:.{0,80}[:\s])?Bus error|Fatal Python error: Bus error"),
    ("SIGABRT", r"^(?:.{0,80}[:\s])?Aborted(?: \(core dumped\))?$|Fatal Python error: Aborted"),
    ("SIGFPE", r"^(?:.{0,80}[:\s])?Floating point exception"),
    (
        "SIGTERM",
        r"^(?:.{0,80}[:\s])?Terminated$|CANCELLED AT .{0,60} DUE TO (?:TIME LIMIT|PREEMPT)",
    ),
)
"""The signal, and what the line looks like. From bash, the Linux kernel, Slurm,
Kubernetes, Python's faulthandler and torch.distributed.elastic."""

_PATTERNS: Final = tuple((name, re.compile(pattern)) for name, pattern in _DEATHS)
_HINT: Final = re.compile(
    r"[Kk]ill|oom|OOM|fault|Bus|Abort|Floating|Terminated|CANCELLED|exitcode", re.ASCII
)
_ELASTIC: Final = re.compile(r"exitcode\s{0,4}:\s{0,4}-(?P<signal>\d{1,2})\b")


def death_in(number: int, text: str, source: int = 0) -> Event | None:
    """The death that a line tells of, or None.

    >>> death_in(3, "train.sh: line 2:  4711 Killed   python train.py").name
    'SIGKILL'
    >>> death_in(3, "  exitcode  : -11 (pid: 4711)").name
    'SIGSEGV'
    """
    if _HINT.search(text) is None:
        return None
    elastic = _ELASTIC.search(text)
    if elastic is not None:
        return Event("death", source, number, _signal(int(elastic["signal"])), text.strip())
    for name, pattern in _PATTERNS:
        if pattern.search(text):
            return Event("death", source, number, name, text.strip())
    return None


def _signal(number: int) -> str:
    """Its name, or nothing where there is no such signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
