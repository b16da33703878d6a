"""The shape of a log: what a user's settings make of what could be logged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final, Literal, TypeVar

import numpy as np
from pydantic import BeforeValidator

from failbench.base.records import Record, packaged_rows
from failbench.diagnose.readers.names import SIGNALS, SignalName
from failbench.neighbours.rendering.tracebacks import Style, declared

Cut = Literal["none", "head", "end"]
_Choice = TypeVar("_Choice")
LOSS: Final = 0.97  # share of logs with a loss: hardly any training is started without printing it
# share with each other signal that a format can have: loops differ, and no survey says how much;
# more than half, so that most logs have several, and less than all, so that any may be missing
OTHER: Final = 0.6
# shares of logs with what else a log may have
SHARES: Final = {
    # a loss on held-out data, which smaller experiments leave out
    "validation": 0.7,
    # files of metrics beside which the terminal's output was kept: they lie apart by default, and
    # either half is as usual as both
    "terminal": 0.5,
    # terminal outputs that have their own end: what is left was copied before it, or standard
    # error went elsewhere
    "ending": 0.85,
    # terminal outputs in which a launcher says before each line whose it is: training on several
    # devices is the smaller part
    "prefixed": 0.15,
    # escapes: they remain where a terminal was recorded, and not in most redirections
    "coloured": 0.2,
    # a progress bar, which is on by default in most libraries and off in jobs
    "bars": 0.3,
}
# how exceptions are shown: Python's own way is the default everywhere
STYLES: Final[dict[Style, float]] = {"plain": 0.6, "ranks": 0.2, "rich": 0.1, "notebook": 0.1}
# which part of a pasted traceback is missing
CUTS: Final[dict[Cut, float]] = {"none": 0.7, "head": 0.15, "end": 0.15}
MOST_KEPT: Final = 60  # lines of output before a pasted error: what a terminal shows at once
DIGITS: Final = (3, 4, 6, 0)  # behind the point; 0 stands for all
# the format, as tables of answers name it, of a terminal's output of :func:`complete_shape`
COMPLETE: Final = "complete"


Words = BeforeValidator(str.split)


class Format(Record):
    """What a format can have; a row of ``data/formats.csv``."""

    format: str
    read_as: str
    terminal: bool
    always: Annotated[tuple[SignalName, ...], Words]
    may: Annotated[tuple[SignalName, ...], Words]
    every: Annotated[tuple[int, ...], Words]


@dataclass(frozen=True)
class LogShape:
    """What is logged of a run, and how."""

    signals: tuple[SignalName, ...]
    every: int = 1
    validation: bool = True
    terminal: bool = True
    ending: bool = True
    prefixed: bool = False
    coloured: bool = False
    bars: bool = False
    digits: int = 0
    style: Style = "plain"
    kept: int = MOST_KEPT
    cut: Cut = "none"


@cache
def formats() -> dict[str, Format]:
    """All formats by name."""
    rows = packaged_rows("failbench.neighbours.rendering", "formats.csv", Format)
    return {row.format: row for row in rows}


def draw_shape(format: str, rng: np.random.Generator) -> LogShape:  # noqa: A002
    """Draw what a user of a format logs."""
    known = formats()[format]
    of_signals, of_others = np.split(rng.random(len(SIGNALS) + len(SHARES)), [len(SIGNALS)])
    signals = tuple(
        name
        for name, chance in zip(SIGNALS, of_signals, strict=True)
        if name in known.always
        or (name in known.may and chance < (LOSS if name == "loss" else OTHER))
    )
    others = zip(SHARES.items(), of_others, strict=True)
    has = {name: bool(chance < share) for (name, share), chance in others}
    return LogShape(
        signals=signals or ("loss",),
        every=known.every[rng.integers(len(known.every))],
        digits=DIGITS[rng.integers(len(DIGITS))],
        style=_one_of(STYLES, rng),
        kept=int(rng.integers(MOST_KEPT + 1)),
        cut=_one_of(CUTS, rng),
        **has,
    )


def complete_shape(format: str) -> LogShape:  # noqa: A002
    """All that a format can have, at every step, in all its digits, and with its end."""
    known = formats()[format]
    can_have = {*known.always, *known.may}
    return LogShape(tuple(name for name in SIGNALS if name in can_have), min(known.every))


def draw_names(rng: np.random.Generator) -> dict[str, str]:
    """Users' names of the step, of each signal and of the loss on held-out data."""
    return {of: names[rng.integers(len(names))] for of, names in declared("names.json").items()}


def _one_of(shares: Mapping[_Choice, float], rng: np.random.Generator) -> _Choice:
    *_, last = shares
    chance = rng.random()
    for choice, share in shares.items():
        chance -= share
        if chance < 0:
            return choice
    return last
