"""Courses: what declared checks say of curves, whatever their scale, and what shows health.

A check computes one amount, larger where it is further from what is usual, and holds above the
bound that ``data/courses.csv`` declares. Without the curves that it needs it is not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BeforeValidator

from failbench.base.arrays import Array
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.diagnose.curves import Curve

START: Final = 8  # values that make the start or end of a long curve; of a short one a third does
_MOST: Final = 200  # values that a trend is computed of, evenly spaced: it compares all pairs
TINY: Final = 1e-30
# numbers of classes that are common, and vocabularies of public tokenizers
CLASSES: Final = (
    *range(2, 11), 20, 100, 1000, 30522, 32000, 50257, 50304, 65536, 128256, 151936,
)  # fmt: skip
# Of the loss: a norm below is 0 but for the rounding of single precision, whose last digit it is.
ROUNDING: Final = 1.2e-7
CLEAR: Final = 2.0  # standard errors from which a trend is no chance
LEAST: Final = 0.02  # of a loss: it moves by less from one sample to the next
RIGHT: Final = 0.9  # share that is right from which little room is left to rise
HALF: Final = 0.5
NOTABLE: Final = 0.05  # of its start, by which memory that climbs has grown

Amount = tuple[float, int]  # of a check, and the place of the value that shows it first
NOT_SO: Final[Amount] = (-math.inf, -1)


class Course(Record):
    """A check of the curves ``of`` a role and part, or of each of them ``beside`` another."""

    id: str
    kind: Literal["fault", "health"]
    of: str
    beside: str
    shape: str
    fewest: int
    bound: float
    strength: Strength
    causes: CauseNames
    statement: str
    source: str


@cache
def courses() -> dict[str, Course]:
    """The catalogue by names."""
    return {row.id: row for row in packaged_rows("failbench.diagnose", "courses.csv", Course)}


@dataclass(frozen=True)
class Held:
    """A check, and the curve that is furthest from what it calls usual."""

    course: Course
    curve: Curve
    amount: float
    place: int

    @property
    def holds(self) -> bool:
        """Whether it lies beyond its bound."""
        return self.amount > self.course.bound


def held(curves: tuple[Curve, ...]) -> Iterator[Held | Course]:
    """Every check as it is held against the curves, or by itself where these are not there."""
    with np.errstate(all="ignore"):
        for course in courses().values():
            found = list(_held(course, curves))
            yield max(found, key=lambda each: each.amount) if found else course


def _held(course: Course, curves: tuple[Curve, ...]) -> Iterator[Held]:
    beside = _of(course.beside, curves, course.fewest) if course.beside else ()
    if course.beside and not beside:
        return
    for curve in _of(course.of, curves, course.fewest):
        if course.beside:
            other = next((each for each in beside if each.part == curve.part), beside[0])
            amount = PAIRS[course.shape](curve, other)
        else:
            amount = SHAPES[course.shape](curve.values)
        if amount is not None:
            yield Held(course, curve, *amount)


def _of(role: str, curves: tuple[Curve, ...], fewest: int) -> list[Curve]:
    """The curves of ``role`` or ``role/part|part`` that are long enough, the longest first."""
    name, _, parts = role.partition("/")
    return sorted(
        (
            each
            for each in curves
            if each.role == name
            and len(each) >= fewest
            and (not parts or (each.part or "train") in parts.split("|"))
        ),
        key=len,
        reverse=True,
    )


def _third(values: Array) -> int:
    return max(1, min(START, len(values) // 3))


def _start(values: Array) -> float:
    return float(np.median(values[: _third(values)]))


def _end(values: Array) -> float:
    return float(np.median(values[-_third(values) :]))


def _finite(values: Array) -> Array:
    return values[np.isfinite(values)]


def _share(is_so: Array) -> Amount:
    return float(is_so.mean()), int(is_so.argmax())


def _trend(values: Array) -> float:
    """Kendall's correlation of values with their order."""
    taken = values[np.linspace(0, len(values) - 1, min(len(values), _MOST)).astype(int)]
    earlier, later = np.triu_indices(len(taken), 1)
    return float(np.sign(taken[later] - taken[earlier]).mean()) if len(taken) > 1 else 0.0


def _certainty(values: Array) -> float:
    """The trend in standard errors of one by chance (Kendall, 1938)."""
    n = min(len(values), _MOST)
    return _trend(values) / math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))


def _constant(values: Array) -> Amount:
    return _share((values == values[0]) & (values != 0))


def _flat(values: Array) -> Amount:
    """Share of values that are the first one, of a share that is right with room above it."""
    return _constant(values) if values[0] < RIGHT else NOT_SO


def _zero(values: Array) -> Amount:
    return _share(values == 0)


def _at_chance(values: Array) -> Amount:
    """How near all thirds of a loss are to the logarithm of one number of classes."""
    if not np.isfinite(values).all():
        return NOT_SO
    thirds = np.array([np.median(each) for each in np.array_split(values, 3)])
    levels = np.log(np.array(CLASSES))[:, None]
    return float(-np.abs(thirds / levels - 1).max(axis=1).min()), -1


def _unmoved(values: Array) -> Amount:
    """Less the share of its start by which a loss has fallen at its lowest."""
    start, later = _start(values), values[_third(values) :]
    if not np.isfinite(values).all() or start <= 0:
        return NOT_SO
    lowest = min(np.median(each) for each in np.array_split(later, max(1, len(later) // 3)))
    return float(lowest / start - 1), -1


def _risen(values: Array) -> Amount:
    """Logarithm of the end over the start."""
    start, end = _start(_finite(values)), _end(_finite(values))
    return (math.log(end / start), -1) if start > 0 and end > 0 else NOT_SO


def _stepped_up(values: Array) -> Amount:
    """How far all later values lie above all of a window before them, of the latter's largest."""
    finite = _finite(values)
    lowest = np.minimum.accumulate(finite[::-1])[::-1]
    places = range(START, len(finite) - 2)
    rises = [lowest[at] / finite[at - START : at].max() - 1 for at in places]
    best = int(np.argmax(rises)) if rises else -1
    return (float(rises[best]), START + best) if rises and (finite > 0).all() else NOT_SO


def _lost_at(values: Array) -> int | None:
    lost = np.flatnonzero(~np.isfinite(values))
    return int(lost[0]) if len(lost) else None


def _lost_from_start(values: Array) -> Amount:
    return (1.0, 0) if not np.isfinite(values).any() else NOT_SO


def _spike(values: Array) -> Amount | None:
    """Logarithm of the last finite value over those before it, where the next is none."""
    at = _lost_at(values)
    if not at:
        return None
    before = values[max(0, at - 1 - START) : max(1, at - 1)]
    return float(np.log(values[at - 1] / np.median(before))), at


def _lost_after_spike(values: Array) -> Amount:
    return _spike(values) or NOT_SO


def _lost_suddenly(values: Array) -> Amount:
    spike = _spike(values)
    return (-abs(spike[0]), spike[1]) if spike else NOT_SO


def _still_rising(values: Array) -> Amount:
    return (float((np.diff(values) > 0).mean()), -1) if values[-1] > 2 * values[0] else NOT_SO


def _lost_in_the_end(values: Array) -> Amount:
    half = len(values) // 2
    share, place = _share(~np.isfinite(values[half:]))
    return share, half + place


def _stuck(values: Array) -> Amount:
    """Less the share of the room above its start by which a share that is right has risen."""
    finite = _finite(values)
    if not len(finite) or _start(finite) >= RIGHT:
        return NOT_SO
    return -(_end(finite) - _start(finite)) / (1 - _start(finite)), -1


def _trendless(values: Array) -> Amount:
    """Less the share of its range by which a curve has risen."""
    return -(_end(values) - _start(values)) / max(float(np.ptp(values)), TINY), -1


def _grown(values: Array) -> Amount:
    """Logarithm of the end over the start, where it is no chance; a clock that runs grows too."""
    trend = _trend(values)
    is_growth = _certainty(values) >= CLEAR and trend < 1 and values[0] > 0
    return (float(np.log(_end(values) / _start(values))), -1) if is_growth else NOT_SO


def _climbs(values: Array) -> Amount:
    """Correlation with time of what grows by more than a loss moves by itself."""
    return (_trend(values), -1) if values[-1] > (1 + NOTABLE) * values[0] > 0 else NOT_SO


def _falls(values: Array) -> Amount:
    """Share of its first value by which a curve has fallen, where it is no chance."""
    is_clear = np.isfinite(values).all() and _certainty(values) <= -CLEAR
    return ((values[0] - _end(values)) / max(abs(values[0]), TINY), -1) if is_clear else NOT_SO


def _rises(values: Array) -> Amount:
    amount, place = _stuck(values)
    return (-amount if math.isfinite(amount) else 1.0), place


def _gained(values: Array) -> Amount:
    return -_trendless(values)[0], -1


def _settled(values: Array) -> Amount:
    """Less the logarithm of the largest of the second half over the median."""
    is_sound = np.isfinite(values).all() and (values > 0).any()
    later = values[len(values) // 2 :]
    return (-float(np.log(later.max() / max(float(np.median(values)), TINY))), -1) if is_sound else NOT_SO


def _said(values: Array) -> Amount:
    return 1.0, -1


SHAPES: Final[dict[str, Callable[[Array], Amount | None]]] = {
    "constant": _constant, "flat": _flat, "zero": _zero, "at_chance": _at_chance,
    "unmoved": _unmoved, "risen": _risen, "stepped_up": _stepped_up,
    "lost_from_start": _lost_from_start, "lost_after_spike": _lost_after_spike,
    "lost_suddenly": _lost_suddenly, "still_rising": _still_rising,
    "lost_in_the_end": _lost_in_the_end, "stuck": _stuck, "trendless": _trendless,
    "grown": _grown, "climbs": _climbs, "falls": _falls, "rises": _rises, "gained": _gained,
    "settled": _settled,
    "said": _said,
}  # fmt: skip


def _along(curve: Array, n: int) -> Array:
    """``n`` values of a curve, evenly spaced from its first to its last."""
    return curve[np.linspace(0, len(curve) - 1, n).round().astype(int)]


def _unsound_beside(held_out: Curve, trained: Curve) -> Amount:
    is_lost = ~np.isfinite(held_out.values)
    return _share(is_lost) if np.isfinite(trained.values).all() else NOT_SO


def _turned(held_out: Curve, trained: Curve) -> Amount:
    """Share of what validation had gained that it lost again, while training went on to fall."""
    values = held_out.values
    if not np.isfinite(values).all():
        return NOT_SO
    best = int(values.argmin())
    beside = _along(trained.values, len(values))
    falls = _end(beside[best:]) < beside[best]
    lost = _end(values[best:]) - values[best]
    gained = max(values[: best + 1].max() - values[best], TINY)
    return (lost / gained, best) if falls and lost > LEAST * abs(values[best]) else NOT_SO


def _left_beside(held_out: Curve, trained: Curve) -> Amount:
    """Share of the fall of training that validation does not follow, of a fall by a half."""
    falls = [_falls(each.values)[0] for each in (held_out, trained)]
    return (1 - max(falls[0], 0.0) / falls[1], -1) if falls[1] > HALF else NOT_SO


def _better_beside(held_out: Curve, trained: Curve) -> Amount:
    """Logarithm of the training loss over that of validation, at the nearest of all times."""
    values = held_out.values
    ratios = np.log(_along(trained.values, len(values)) / values)
    is_positive = (values > 0).all() and (trained.values > 0).all()
    return (float(np.median(ratios)), -1) if is_positive else NOT_SO


def _apart(held_out: Curve, other: Curve) -> Amount:
    """By what share of right ones a curve ends above another."""
    return _end(_finite(other.values)) - _end(_finite(held_out.values)), -1


def _guessing_beside(rate: Curve, loss: Curve) -> Amount:
    """How near the share of right ones is to that of a uniform guess, whose loss tells it."""
    stuck, _ = _stuck(rate.values)
    guessed = math.exp(-_end(loss.values)) if np.isfinite(loss.values).all() else math.nan
    share = _end(rate.values)
    is_near = math.isfinite(guessed) and share > 0 and stuck > -0.1
    return (-abs(math.log(share / guessed)), -1) if is_near else NOT_SO


def _vanished_beside(norm: Curve, loss: Curve) -> Amount:
    """Logarithm of what rounding makes of a loss over the gradient's norm, if the loss stays."""
    falls, _ = _falls(loss.values)
    size = float(np.median(np.abs(_finite(loss.values)))) if np.isfinite(loss.values).any() else 0.0
    typical = float(np.median(norm.values))
    floor = max(ROUNDING * size, TINY)
    return (math.log(floor / max(typical, TINY) + TINY), 0) if falls < LEAST else NOT_SO


def _grown_beside(norm: Curve, loss: Curve) -> Amount:
    """By how much both grow, the lesser of the two logarithms."""
    return min(_grown(norm.values)[0], _risen(loss.values)[0]), -1


def _equal_beside(curve: Curve, other: Curve) -> Amount:
    return _share(curve.values == other.values) if len(curve) == len(other) else NOT_SO


def _below_zero_beside(loss: Curve, _rate: Curve) -> Amount:
    lowest = int(np.argmin(np.where(np.isfinite(loss.values), loss.values, np.inf)))
    return float(-loss.values[lowest]), lowest


PAIRS: Final[dict[str, Callable[[Curve, Curve], Amount]]] = {
    "unsound_beside": _unsound_beside, "turned": _turned, "better_beside": _better_beside,
    "left_beside": _left_beside,
    "apart": _apart, "guessing_beside": _guessing_beside, "vanished_beside": _vanished_beside,
    "grown_beside": _grown_beside, "equal_beside": _equal_beside,
    "below_zero_beside": _below_zero_beside,
}  # fmt: skip
