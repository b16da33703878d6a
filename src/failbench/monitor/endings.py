"""Endings: what the end of a run says of its cause, in ``data/endings.csv``, tried in order."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Set
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, get_args

from failbench.monitor.end import End
from failbench.monitor.invariants import CATALOGUE, Invariant
from failbench.vocabulary import CATEGORIES, Category

Rank = Literal["before", "after", "last"]  # before the first break, without one, or last of all

RANKS: Final[tuple[Rank, ...]] = get_args(Rank)
ANY: Final = "any"


@dataclass(frozen=True)
class Ending:
    """What ends of one kind say."""

    id: str
    kinds: frozenset[str]
    phases: frozenset[str]
    broken: frozenset[str]
    intact: frozenset[str]
    errors: frozenset[str]
    later: bool
    component: Category
    rank: Rank
    statement: str

    def fits(self, end: End, broken: Set[str]) -> bool:
        """Whether it speaks of this end, and of the invariants that broke."""
        return (
            end.kind in self.kinds
            and (not self.phases or end.phase in self.phases)
            and (not self.broken or not self.broken.isdisjoint(broken))
            and self.intact.isdisjoint(broken)
            and (not self.errors or end.error in self.errors)
            and (end.step > 0 or not self.later)
        )


def read_endings(text: str, catalogue: Iterable[Invariant]) -> tuple[Ending, ...]:
    """Read endings: the content of ``endings.csv``, of this version or of an older one."""
    known = {invariant.id for invariant in catalogue}

    def names(field: str | None) -> frozenset[str]:
        return frozenset((field or "").split("|")) - {"", ANY}

    endings = []
    for row in csv.DictReader(text.splitlines()):
        broken, intact = names(row["broken"]), names(row["intact"])
        if unknown := (broken | intact) - known:
            raise ValueError(f"The ending {row['id']} names {min(unknown)}, which is no invariant.")
        endings.append(
            Ending(
                id=row["id"],
                kinds=names(row["kinds"]),
                phases=names(row["phases"]),
                broken=broken,
                intact=intact,
                errors=names(row.get("errors")),
                later=row["first_step"] == "later",
                component=CATEGORIES[CATEGORIES.index(row["component"])],
                rank=RANKS[RANKS.index(row["rank"])],
                statement=row["statement"],
            )
        )
    return tuple(endings)


def ending_of(end: End, broken: Set[str], endings: Iterable[Ending]) -> Ending | None:
    """The ending that says most of an end: the first that fits, of the highest rank."""
    fitting = [each for each in endings if each.fits(end, broken)]
    return min(fitting, key=lambda each: RANKS.index(each.rank), default=None)


ENDINGS: Final = read_endings(  # all endings, in the order in which they are tried
    files("failbench.monitor").joinpath("data/endings.csv").read_text(encoding="utf-8"), CATALOGUE
)
