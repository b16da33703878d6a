"""The shape of a log: what a user's settings make of what could be logged."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeVar, cast

import numpy as np

from failbench.diagnose.readers.names import SIGNALS, SignalName

Style = Literal["plain", "ranks", "rich", "notebook"]
Cut = Literal["none", "head", "end"]
_Choice = TypeVar("_Choice")

LOSS: Final = 0.97
"""Share of logs with a loss: hardly any training is started without printing it."""
OTHER: Final = 0.6
"""Share with each other signal that a format can have: loops differ, and no survey says how much;
more than half, so that most logs have several, and less than all, so that any may be missing."""
VALIDATION: Final = 0.7
"""Share with a loss on held-out data, which smaller experiments leave out."""
ENDING: Final = 0.85
"""Share of terminal outputs that have their own end: what is left was copied before it, or
standard error went elsewhere."""
TERMINAL: Final = 0.5
"""Share of files of metrics beside which the terminal's output was kept: they lie apart by
default, and either half is as usual as both."""
PREFIXED: Final = 0.15
"""Share of terminal outputs in which a launcher says before each line whose it is: training on
several devices is the smaller part."""
COLOURED: Final = 0.2
"""Share with escapes: they remain where a terminal was recorded, and not in most redirections."""
BARS: Final = 0.3
"""Share with a progress bar in it, which is on by default in most libraries and off in jobs."""
STYLES: Final[tuple[tuple[Style, float], ...]] = (
    ("plain", 0.6),
    ("ranks", 0.2),
    ("rich", 0.1),
    ("notebook", 0.1),
)
"""How exceptions are shown: Python's own way is the default everywhere."""
CUTS: Final[tuple[tuple[Cut, float], ...]] = (("none", 0.7), ("head", 0.15), ("end", 0.15))
"""Which part of a pasted traceback is missing: mostly none."""
MOST_KEPT: Final = 60
"""Lines of output before a pasted error: what a terminal shows at once."""
DIGITS: Final = (3, 4, 6, 0)
"""Digits behind the point that loops of one's own print; 0 stands for all that there are."""
COMPLETE: Final = "complete"
"""The format, as tables of answers name it, of a terminal's output of :func:`complete_shape`."""


@dataclass(frozen=True)
class Format:
    """What a format can have."""

    name: str
    read_as: str
    terminal: bool
    always: tuple[SignalName, ...]
    may: tuple[SignalName, ...]
    every: tuple[int, ...]


@dataclass(frozen=True)
class LogShape:
    """What is logged of a run, and how."""

    signals: tuple[SignalName, ...]
    every: int
    validation: bool
    terminal: bool
    ending: bool
    prefixed: bool
    coloured: bool
    bars: bool
    digits: int
    style: Style
    kept: int
    cut: Cut


@cache
def formats() -> dict[str, Format]:
    """All formats by name, from ``data/formats.csv``."""
    text = files("failbench.neighbours.rendering").joinpath("data/formats.csv").read_text("utf-8")
    return {
        row["format"]: Format(
            row["format"],
            row["read_as"],
            row["terminal"] == "yes",
            cast("tuple[SignalName, ...]", tuple(row["always"].split())),
            cast("tuple[SignalName, ...]", tuple(row["may"].split())),
            tuple(int(number) for number in row["every"].split()),
        )
        for row in csv.DictReader(text.splitlines())
    }


def draw_shape(format: str, rng: np.random.Generator) -> LogShape:  # noqa: A002
    """Draw what a user of a format logs."""
    known = formats()[format]
    chances = rng.random(len(SIGNALS) + 6)
    signals = tuple(
        name
        for name, chance in zip(SIGNALS, chances, strict=False)
        if name in known.always or (name in known.may and chance < _share(name))
    )
    validation, terminal, ending, prefixed, coloured, bars = chances[len(SIGNALS) :] < np.array(
        [VALIDATION, TERMINAL, ENDING, PREFIXED, COLOURED, BARS]
    )
    return LogShape(
        signals=signals or ("loss",),
        every=known.every[rng.integers(len(known.every))],
        validation=bool(validation),
        terminal=bool(terminal),
        ending=bool(ending),
        prefixed=bool(prefixed),
        coloured=bool(coloured),
        bars=bool(bars),
        digits=DIGITS[rng.integers(len(DIGITS))],
        style=_one_of(STYLES, rng),
        kept=int(rng.integers(MOST_KEPT + 1)),
        cut=_one_of(CUTS, rng),
    )


def complete_shape(format: str) -> LogShape:  # noqa: A002
    """All that a format can have, at every step, in all its digits, and with its end."""
    known = formats()[format]
    can_have = {*known.always, *known.may}
    return LogShape(
        signals=tuple(name for name in SIGNALS if name in can_have),
        every=min(known.every),
        validation=True,
        terminal=True,
        ending=True,
        prefixed=False,
        coloured=False,
        bars=False,
        digits=0,
        style="plain",
        kept=MOST_KEPT,
        cut="none",
    )


def _share(name: SignalName) -> float:
    return LOSS if name == "loss" else OTHER


def _one_of(choices: tuple[tuple[_Choice, float], ...], rng: np.random.Generator) -> _Choice:
    chance = rng.random()
    for choice, share in choices:
        chance -= share
        if chance < 0:
            return choice
    return choices[-1][0]
