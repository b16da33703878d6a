"""Signals: every quantity that the monitor measures.

A signal is a number per training step. ``data/signals.csv`` says what each is; measurements say how
it is taken, and the catalogue of invariants what must hold of it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, get_args

Level = Literal["light", "standard", "full"]
"""How much is measured: ``full`` includes ``standard``, which includes ``light``."""

Phase = Literal["build", "data", "forward", "loss", "backward", "step", "evaluation", "callback"]
"""What a training loop is doing. ``loss`` lasts from the end of the forward pass to the beginning
of the backward pass; ``callback`` is all between an optimizer's step and the next batch."""

Cadence = Literal["step", "check", "evaluation"]
"""When a signal is measured: at every step, at every check (each tenth step unless the user says
otherwise), or at every evaluation."""

Need = Literal["model", "optimizer", "data", "vocabulary", "loss", "evaluation", "ranks"]
"""What a loop must give: a watched ``model`` or ``optimizer``; ``monitor.data``; what the user says
of the tokenizer; ``monitor.loss``; ``monitor.phase("evaluation")``; several ranks."""

LEVELS: Final[tuple[Level, ...]] = get_args(Level)
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@dataclass(frozen=True)
class Signal:
    """A quantity that is measured."""

    name: str
    unit: str
    level: Level
    cadence: Cadence
    needs: Need
    exact: bool
    meaning: str


def _read() -> tuple[Signal, ...]:
    text = files("failbench.monitor").joinpath("data/signals.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Signal(**{**row, "exact": row["exact"] == "yes"}) for row in rows)  # type: ignore[arg-type]


SIGNALS: Final = _read()
"""All signals, in the order of a log's columns."""

SIGNAL_NAMES: Final = tuple(signal.name for signal in SIGNALS)


def signals_of(level: Level) -> tuple[Signal, ...]:
    """The signals that a level measures."""
    return tuple(signal for signal in SIGNALS if LEVELS.index(signal.level) <= LEVELS.index(level))
