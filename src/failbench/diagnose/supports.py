"""Supports: signs as numbers that say how much a log speaks for each category and cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from failbench.base.arrays import Array
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import causes
from failbench.diagnose.bounds import CheckBound
from failbench.diagnose.checks import checks
from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.signs import ABSENT, Sign

RANKED: Final = 0.5
"""What each further cause of a sign is worth of the one before: causes are ordered, and how much
more likely one is than the next is not known."""

FAINT: Final = 0.1
"""Support below which nothing speaks for a cause: a check a tenth of the way to its bound."""

SHARED: Final = (
    "message:direct",
    "message:circumstantial",
    "place",
    "around",
    "trap",
    "allocation",
    "check:direct",
    "check:circumstantial",
    "invariant:direct",
    "invariant:circumstantial",
    "ending",
    "decided:logic",
    "decided:statistic",
    "decided:symptom",
    "decided:ending",
    "any",
)
"""Kinds of support, each with one weight for all categories or causes: what is learnt of one
message or invariant holds for all others of its kind. ``any`` is 1 for a cause that anything speaks
for at all."""

OWN: Final = (
    "event:exception",
    "event:death",
    "event:at_start",
    "no event",
    "allocation:out_of_proportion",
    *(f"absent:{name}" for name in ABSENT),
    *(f"check:{name}" for name in checks()),
)
"""Columns with a weight for each category: what the benchmark shows often enough."""

LogKind = Literal["words", "complete", "other"]
"""What an answer rests on: words that decide the category, else a log with every signal, else one
without some. How often answers are right is measured for each by itself."""

_SHARED_PLACE: Final = {name: place for place, name in enumerate(SHARED)}
_OWN_PLACE: Final = {name: place for place, name in enumerate(OWN)}
_CATEGORY_PLACE: Final = {name: place for place, name in enumerate(CATEGORIES)}


def cause_names() -> tuple[str, ...]:
    """Names of all causes, in the order of columns."""
    return tuple(causes())


def category_of_cause() -> NDArray[np.int64]:
    """Position of the category of each cause, of shape (causes,)."""
    return np.array([_CATEGORY_PLACE[cause.category] for cause in causes().values()])


@dataclass(frozen=True)
class Supports:
    """Signs of one log as numbers."""

    categories: Array
    causes: Array
    own: Array
    kind: LogKind
    said: int | None


def said_category(signs: Sequence[Sign]) -> Category | None:
    """The category that words decide: of the first known message of an error in the log.

    A warning decides where it says itself what is wrong (``direct``), and where a monitor measured
    what came before, so must an error.
    """
    is_monitored = any(sign.kind == "decided" for sign in signs)
    for sign in signs:
        decides = sign.strength == "direct" or not (sign.is_warning or is_monitored)
        if sign.kind == "message" and sign.category is not None and decides:
            return sign.category
    return None


def supports_of(signs: Sequence[Sign], bounds: Mapping[str, CheckBound]) -> Supports:
    """Signs as numbers."""
    names = {name: place for place, name in enumerate(cause_names())}
    of_cause = category_of_cause()
    by_category = np.zeros((len(SHARED), len(CATEGORIES)))
    by_cause = np.zeros((len(SHARED), len(names)))
    own = np.zeros(len(OWN))
    own[_OWN_PLACE["no event"]] = not any(sign.kind in ("message", "event") for sign in signs)
    for sign in signs:
        amount = sign.amount
        if sign.kind == "check":
            if sign.id not in bounds:
                continue
            amount = bounds[sign.id].nearness(sign.amount)
            own[_OWN_PLACE[f"check:{sign.id}"]] = amount
        elif f"{sign.kind}:{sign.id}" in _OWN_PLACE:
            own[_OWN_PLACE[f"{sign.kind}:{sign.id}"]] = 1.0
        for kind in _kinds(sign):
            row = _SHARED_PLACE[kind]
            best = np.zeros(len(CATEGORIES))
            for rank, cause in enumerate(sign.causes):
                place, worth = names[cause], amount * RANKED**rank
                by_cause[row, place] += worth
                category = of_cause[place]
                best[category] = max(best[category], worth)
            if sign.category is not None:
                category = _CATEGORY_PLACE[sign.category]
                best[category] = max(best[category], amount)
            by_category[row] += best
    by_cause[_SHARED_PLACE["any"]] = by_cause.sum(axis=0) > FAINT
    said = said_category(signs)
    if said is not None:
        return Supports(by_category, by_cause, own, "words", _CATEGORY_PLACE[said])
    lacks = any(sign.kind == "absent" and sign.id in SIGNALS for sign in signs)
    return Supports(by_category, by_cause, own, "other" if lacks else "complete", None)


def _kinds(sign: Sign) -> Iterable[str]:
    if sign.kind in ("message", "check", "invariant"):
        yield f"{sign.kind}:{sign.strength}"
    elif sign.kind == "decided":
        yield f"decided:{sign.id}"
    elif sign.kind in _SHARED_PLACE:
        yield sign.kind
