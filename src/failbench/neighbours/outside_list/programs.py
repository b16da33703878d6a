"""Programs: training programs with a published bug, and the same programs without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

STEPS: Final = 80
"""Training steps of every program."""

MODULES: Final = ("data_bugs", "library_bugs", "loop_bugs", "model_bugs", "rank_bugs")
"""Modules of this package whose functions are programs."""


@dataclass(frozen=True)
class Run:
    """What a program is told."""

    faulty: bool
    rank: int
    log: Path
    scratch: Path


Program = Callable[[Run], None]

_PROGRAMS: Final[dict[str, Program]] = {}


def program(bug: str) -> Callable[[Program], Program]:
    """Declare a function to be the program of a bug."""

    def declare(function: Program) -> Program:
        if bug in _PROGRAMS:
            raise ValueError(f"There are two programs of {bug}: {function.__name__} is one.")
        _PROGRAMS[bug] = function
        return function

    return declare


def programs() -> dict[str, Program]:
    """All programs by bug; torch and the libraries that they use are imported."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    return dict(_PROGRAMS)
