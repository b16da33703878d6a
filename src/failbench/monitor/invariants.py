"""Invariants: what must hold of a signal, by ``invariants.csv``; a bound is logic's or fitted."""

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Literal, get_args

from failbench.monitor.signals import SIGNAL_NAMES
from failbench.vocabulary import CATEGORIES, Category

Kind = Literal["logic", "statistic", "symptom"]
"""``logic`` never breaks in health, a ``statistic`` seldom; a ``symptom`` follows any cause."""

Against = Literal["value", "first", "start", "past", "peak", "growth", "whole"]
"""What a value is held against; see :func:`failbench.monitor.breaks.compared`."""

RATIOS: Final = frozenset({"start", "past", "peak"})  # those that give the logarithm of a ratio
Relation = Literal["at most", "at least", "between", "within"]  # ``within`` bounds the absolute

FITTED: Final = "fitted"

WINDOW: Final = 20  # that of catalogues which do not say


@dataclass(frozen=True)
class Bound:
    """The closed interval in which a compared value lies while an invariant holds."""

    low: float
    high: float


@dataclass(frozen=True)
class Invariant:
    """Something that must hold."""

    id: str
    component: Category
    family: str
    kind: Kind
    signal: str
    against: Against
    relation: Relation
    bound: Bound | None
    rows: int
    window: int
    past_of_checks: bool
    presumes: str
    statement: str
    source: str


def bound_of(relation: Relation, low: float, high: float) -> Bound:
    """The interval that a relation leaves of two limits, of which a one-sided one uses its own."""
    if relation == "at most":
        return Bound(float("-inf"), high)
    if relation == "at least":
        return Bound(low, float("inf"))
    return Bound(low, high)


def _parsed(relation: Relation, text: str) -> Bound | None:
    if text == FITTED:
        return None
    numbers = [float(part) for part in text.split("|")]
    low = -numbers[0] if relation == "within" else numbers[0]
    return bound_of(relation, low, numbers[-1])


def read_invariants(text: str) -> tuple[Invariant, ...]:
    """Read a catalogue: the content of ``invariants.csv``, of this version or of an older one."""
    catalogue = []
    for row in csv.DictReader(text.splitlines()):
        relation = _one_of(row["relation"], get_args(Relation))
        catalogue.append(
            Invariant(
                id=row["id"],
                component=_one_of(row["component"], CATEGORIES),
                family=row["family"],
                kind=_one_of(row["kind"], get_args(Kind)),
                signal=_one_of(row["signal"], SIGNAL_NAMES),
                against=_one_of(row["against"], get_args(Against)),
                relation=relation,
                bound=_parsed(relation, row["bound"]),
                rows=int(row["rows"]),
                window=int(row.get("window") or WINDOW),
                past_of_checks=_one_of(row.get("past_of", ""), ("", "checks")) == "checks",
                presumes=_one_of(row.get("presumes", ""), ("", *SIGNAL_NAMES)),
                statement=row["statement"],
                source=row["source"],
            )
        )
    return tuple(catalogue)


def _one_of(text: str, names: tuple[Any, ...]) -> Any:
    return names[names.index(text)]


CATALOGUE: Final = read_invariants(  # in the order of their components' place in a loop
    files("failbench.monitor").joinpath("data/invariants.csv").read_text(encoding="utf-8")
)
