"""What a dry run may use at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Limits:
    """Limits of one dry run.

    Parameters
    ----------
    seconds
        Of wall time; whoever is left in the sandbox then is killed. A process also may not use
        more processor time than this.
    memory
        Bytes of address space of a process, and of what all processes of the run hold.
    folder
        Bytes that the folder, which lies in memory, may hold.
    processes
        Processes and threads at one time.
    files
        Open files of a process.
    answer
        Bytes of the answer; a longer one is not read on.
    """

    seconds: float
    memory: int
    folder: int
    processes: int
    files: int
    answer: int


NOTEBOOK: Final = Limits(
    seconds=20.0,
    memory=8 * 2**30,  # of the kernels too, as docs/notebooks.md says
    folder=256 * 2**20,
    processes=64,
    files=256,
    answer=16_384,
)
"""Limits of the dry run of a notebook's cell."""
