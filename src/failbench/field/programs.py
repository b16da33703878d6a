"""Programs: small trainings of real libraries with one mistake that a switch takes out."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np

from failbench.base.arrays import Array
from failbench.base.records import Record, kept_by_hand, read_json
from failbench.base.vocabulary import Category

Part = Literal["development", "test"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
Kind = Literal["exception", "curves", "death", "oddity"]
How = Literal["completed", "exception", "killed", "timeout", "exit"]
Shape = Literal[
    "nan", "constant", "zero", "not_below", "not_above", "rises", "below_zero", "gap",
    "ends_below", "ends_above",
]  # fmt: skip

PROGRAM: Final = "program.py"
CARD: Final = "card.json"
FEWEST: Final = 3  # values without which nothing is constant
_REMEDY: Final = "Restore it with `git checkout`."


class Ending(Record):
    """How a program ends, and the class of the error that its console shows."""

    how: How
    error: str | None = None


class Shown(Record):
    """What the values of a metric look like; ``beside`` is the metric of a gap."""

    metric: str
    shape: Shape
    bound: float | None = None
    beside: str | None = None


class Card(Record):
    """What an author says of a program; an oddity is right and has neither cause nor category."""

    id: str
    author: str
    library: str
    task: str
    cause: str | None
    category: Category | None
    kind: Kind
    ending: Ending
    symptom: Shown | None
    healthy: Shown
    met_by: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program and its card."""

    part: Part
    folder: Path
    card: Card

    @property
    def name(self) -> str:
        """Author and id, by which nothing else is called."""
        return f"{self.card.author}/{self.card.id}"

    @property
    def fingerprint(self) -> str:
        """Of what is run, whatever the card says."""
        return hashlib.sha256((self.folder / PROGRAM).read_bytes()).hexdigest()[:16]


def read_programs(data: Path, part: Part) -> list[Program]:
    """All programs of a part, by authors and ids."""
    return [_program(part, path.parent) for path in sorted((data / part).glob(f"*/*/{CARD}"))]


def _program(part: Part, folder: Path) -> Program:
    raw = read_json(folder / CARD, _REMEDY)
    for field in ("symptom", "healthy"):
        if isinstance(raw, dict) and isinstance(raw.get(field), dict):
            raw[field] = {("shape" if key == "is" else key): raw[field][key] for key in raw[field]}
    return Program(part, folder, kept_by_hand(Card, raw, folder / CARD))


def missing_from(series: Mapping[str, Sequence[float]], said: Shown) -> str | None:
    """Why the values of a run do not look as a card says; None where they do."""
    values = np.array(series.get(said.metric, ()), np.float64)
    if not len(values):
        return f"no value of {said.metric} was recorded"
    beside = np.array(series.get(said.beside or "", ()), np.float64)
    bound = math.nan if said.bound is None else said.bound
    if _SHOWS[said.shape](values, bound, beside):
        return None
    first, last = values[0], _last(values).mean()
    return f"{said.metric} is not {said.shape} {bound:g}: first {first:g}, at the end {last:g}"


def _last(values: Array) -> Array:
    """The last quarter."""
    return values[-max(1, len(values) // 4) :]


def _first(values: Array) -> Array:
    return values[: max(1, len(values) // 4)]


# of a series, a bound and the series beside it, as the brief of the authors words them
_SHOWS: Final[Mapping[Shape, Callable[[Array, float, Array], bool]]] = {
    "nan": lambda values, _, __: not np.isfinite(values).all(),
    "constant": lambda values, _, __: (
        len(values) >= FEWEST and len({f"{value:.4g}" for value in values}) == 1
    ),
    "zero": lambda values, _, __: len(values) >= FEWEST and not values.any(),
    "not_below": lambda values, bound, _: bool(_last(values).min() >= bound),
    "not_above": lambda values, bound, _: bool(_last(values).max() <= bound),
    "rises": lambda values, bound, _: bool(_last(values).mean() > _first(values).mean() + bound),
    "below_zero": lambda values, _, __: bool((values < 0).any()),
    "gap": lambda values, bound, beside: (
        len(beside) > 0 and bool(_last(values).mean() - _last(beside).mean() >= bound)
    ),
    "ends_below": lambda values, bound, _: bool(_last(values).mean() < bound),
    "ends_above": lambda values, bound, _: bool(_last(values).mean() > bound),
}
