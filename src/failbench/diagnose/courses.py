"""Courses: what declared checks say of curves, whatever their scale, and what shows health.

A check computes one amount of a curve, larger where that is further from what is usual, and holds
above the bound that ``data/courses.csv`` declares. Without the curves it needs it is not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np

from failbench.base.arrays import Array
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.diagnose.curves import Curve
from failbench.diagnose.series import MOST, correlation

START: Final = 8  # values that make the start or end of a long curve; of a short one a third does
NEVER: Final = -math.inf  # amount of a curve of which a check cannot speak
TINY: Final = 1e-30
CLEAR: Final = 2.0  # standard errors from which a trend is no chance
LEAST: Final = 0.02  # of a loss: it moves by less from one sample to the next
NOTABLE: Final = 0.05  # of its start, by which what climbs has grown
HALF: Final = 0.5  # of its first value, by which a loss has fallen that others should follow
RIGHT: Final = 0.8  # share that is right from which little room is left to rise
STILL: Final = 0.1  # of that room: what has risen by less is where it was
# Of its loss: a norm below is 0 but for the rounding of single precision, whose last digit it is.
ROUNDING: Final = 1.2e-7
# numbers of classes that are common, and vocabularies of public tokenizers
CLASSES: Final = (
    *range(2, 11), 20, 100, 1000, 30522, 32000, 50257, 50304, 65536, 128256, 151936,
)  # fmt: skip


class Course(Record):
    """A check of each curve ``of`` a role and part, or of it ``beside`` another.

    Where it holds, it is seen first ``at`` a value of the curve; ``source`` is where the fact is
    from, or "healthy logs" where the bound is.
    """

    id: str
    kind: Literal["fault", "progress", "sound"]
    of: str
    beside: str
    shape: str
    at: Literal["first", "lost", "lowest", "last"]
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
class Measured:
    """A check, and of all curves that it speaks of the one that is furthest from the usual."""

    course: Course
    curve: Curve
    amount: float

    @property
    def holds(self) -> bool:
        """Whether it lies beyond its bound."""
        return self.amount > self.course.bound

    @property
    def place(self) -> int:
        """Where it is seen first."""
        values = self.curve.values
        match self.course.at:
            case "first":
                return 0
            case "lost":
                return int(np.isfinite(values).argmin())
            case "lowest":
                return int(np.where(np.isfinite(values), values, np.inf).argmin())
        return len(values) - 1


def measured(curves: Sequence[Curve]) -> Iterator[Measured | Course]:
    """Every check with what was measured, or by itself where its curves are not there."""
    with np.errstate(all="ignore"):
        for course in courses().values():
            found = list(_measured(course, curves))
            yield max(found, key=lambda each: each.amount) if found else course


def _measured(course: Course, curves: Sequence[Curve]) -> Iterator[Measured]:
    others = _of(course.beside, curves, course.fewest)
    for curve in _of(course.of, curves, course.fewest):
        # of the same part of the data before the longest
        beside = sorted(others, key=lambda each: each.part != curve.part)[:1]
        if len(beside) == bool(course.beside):
            amount = SHAPES[course.shape](curve.values, *(each.values for each in beside))
            yield Measured(course, curve, float(NEVER if math.isnan(amount) else amount))


def _of(role: str, curves: Sequence[Curve], fewest: int) -> list[Curve]:
    """The curves of ``role`` or ``role/part|part`` that are long enough, the longest first."""
    name, _, parts = role.partition("/")
    wanted = parts.split("|") if parts else []
    found = (each for each in curves if each.role == name and len(each) >= fewest)
    told = [each for each in found if not wanted or (each.part or "train") in wanted]
    told.sort(key=len, reverse=True)
    # parts of a loss may be 0 or negative: what is summed up is logged first
    by_part = {each.part or "train": each for each in told[::-1]}
    return [*by_part.values()] if name == "loss" else told


def _size(values: Array) -> int:
    return max(1, min(START, len(values) // 3))


def _start(values: Array) -> float:
    """The median of an eighth at most: what learns quickly has learnt by then."""
    return float(np.median(values[: max(1, min(START, len(values) // START))]))


def _end(values: Array) -> float:
    return float(np.median(values[-_size(values) :]))


def _is_finite(*curves: Array) -> bool:
    return all(bool(np.isfinite(values).all()) for values in curves)


def _log_ratio(above: float, below: float) -> float:
    """Logarithm of a quotient, which is 0 where the lower is infinite or far larger."""
    ratio = above / below
    return math.log(ratio) if ratio > 0 else NEVER


def _certainty(values: Array) -> float:
    """The trend in standard errors of one by chance (Kendall, 1938)."""
    n = min(len(values), MOST)
    return correlation(values) / math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))


def _along(values: Array, n: int) -> Array:
    """As many values, evenly spaced from the first to the last."""
    taken: Array = values[np.linspace(0, len(values) - 1, n).round().astype(int)]
    return taken


def _constant(values: Array) -> float:
    return float(((values == values[0]) & (values != 0)).mean())


def _at_chance(values: Array) -> float:
    """Less the relative distance of the thirds of a loss from the logarithm of one number."""
    thirds = np.array([np.median(each) for each in np.array_split(values, 3)])
    return -float(np.abs(thirds / np.log(np.array(CLASSES))[:, None] - 1).max(axis=1).min())


def _unmoved(values: Array) -> float:
    """Less the share of its start by which a loss has fallen at its lowest."""
    start, later = _start(values), values[_size(values) :]
    if not _is_finite(values) or start <= 0:
        return NEVER
    lowest = np.median(later[: len(later) // 3 * 3].reshape(-1, 3), axis=1).min()
    return float(lowest / start - 1)


def _risen(values: Array) -> float:
    """Logarithm of the end over the start."""
    return _log_ratio(_end(values), _start(values)) if _end(values) > 0 < _start(values) else NEVER


def _stepped_up(values: Array) -> float:
    """How far all later values lie above all of a window before them, of the latter's largest."""
    if not _is_finite(values) or values.min() <= 0:
        return NEVER
    lowest = np.minimum.accumulate(values[::-1])[::-1]
    before = np.lib.stride_tricks.sliding_window_view(values, START).max(axis=1)
    return float((lowest[START:-2] / before[: len(values) - START - 2]).max()) - 1


def _lost_from_start(values: Array) -> float:
    return 1.0 if not np.isfinite(values).any() else NEVER


def _spiked_and_lost(values: Array) -> float:
    """Logarithm of the last number over those before it, if none follows."""
    at = int(np.isfinite(values).argmin())
    before = values[max(0, at - 1 - START) : max(1, at - 1)]
    return float(np.log(values[at - 1] / np.median(before))) if at else NEVER


def _still_rising(values: Array) -> float:
    return float((np.diff(values) > 0).mean()) if values[-1] > 2 * values[0] else NEVER


def _stuck(values: Array) -> float:
    """Less the share of the room above its start by which a share that is right has risen."""
    start = _start(values)
    return -(_end(values) - start) / (1 - start) if start < RIGHT else math.nan


def _gained(values: Array) -> float:
    """By what share of its range a curve has risen."""
    return (_end(values) - _start(values)) / max(float(np.ptp(values)), TINY)


def _grown(values: Array) -> float:
    """Logarithm of the end over the start, where it is no chance."""
    return _risen(values) if _certainty(values) >= CLEAR else NEVER


def _climbs(values: Array) -> float:
    """Correlation with time of what has grown."""
    return correlation(values) if values[-1] > (1 + NOTABLE) * values[0] > 0 else NEVER


def _is_fall(values: Array) -> bool:
    """Whether a trend is no chance, or all but the first third lie far below the first value."""
    is_step = values[0] - values[len(values) // 3 :].max() >= HALF * np.ptp(values) > 0
    return bool(is_step or _certainty(values) <= -CLEAR)


def _not_falling(values: Array) -> float:
    return float(not _is_fall(values)) if _is_finite(values) and values.min() > 0 else NEVER


def _fallen(values: Array) -> float:
    return float((values[0] - _end(values)) / max(abs(values[0]), TINY))


def _falls(values: Array) -> float:
    """Share of its first value by which a curve has fallen, where it is no chance."""
    return _fallen(values) if _is_finite(values) and _is_fall(values) else NEVER


def _settled(values: Array) -> float:
    """Less the logarithm of the largest of the second half over the median of all."""
    later = values[len(values) // 2 :]
    if not _is_finite(values) or values.max() <= 0:
        return NEVER
    return -_log_ratio(max(float(later.max()), TINY), max(float(np.median(values)), TINY))


def _lost_beside(held_out: Array, trained: Array) -> float:
    return float((~np.isfinite(held_out)).mean()) if _is_finite(trained) else NEVER


def _turned(held_out: Array, trained: Array) -> float:
    """Share of what validation had gained that it lost again, while training went on to fall."""
    best = int(held_out.argmin())
    beside = _along(trained, len(held_out))
    lost = _end(held_out[best:]) - held_out[best]
    gained = max(held_out[: best + 1].max() - held_out[best], TINY)
    is_turn = _end(beside[best:]) < beside[best] and lost > LEAST * abs(held_out[best])
    return float(lost / gained) if is_turn else NEVER


def _left_beside(held_out: Array, trained: Array) -> float:
    """Share of the fall of training by which validation does not follow at its best."""
    fallen = _falls(trained)
    followed = (held_out[0] - held_out.min()) / max(abs(held_out[0]), TINY)
    return float(1 - followed / fallen) if fallen > HALF else NEVER


def _better_beside(held_out: Array, trained: Array) -> float:
    """Logarithm of the training loss over that of validation, at about the same times."""
    if not (held_out.min() > 0 and trained.min() > 0):
        return NEVER
    return float(np.median(np.log(_along(trained, len(held_out)) / held_out)))


def _guessing_beside(right: Array, loss: Array) -> float:
    """How near the share of right ones is to that of a uniform guess, whose loss tells it."""
    is_still = _stuck(right) > -STILL and _end(right) > 0
    return -abs(math.log(_end(right)) + _end(loss)) if is_still else NEVER


def _vanished_beside(norm: Array, loss: Array) -> float:
    """Logarithm of what rounding leaves of a loss over the gradient's norm, if the loss stays."""
    if _falls(loss) >= LEAST:
        return NEVER
    size = float(np.median(np.abs(loss))) if _is_finite(loss) else 0.0
    return _log_ratio(max(ROUNDING * size, TINY), max(float(np.median(norm)), TINY))


SHAPES: Final[dict[str, Callable[..., float]]] = {
    "constant": _constant,
    "flat": lambda values: _constant(values) if values[0] < RIGHT else NEVER,
    "zero": lambda values: float((values == 0).mean()),
    "at_chance": _at_chance,
    "unmoved": _unmoved,
    "not_falling": _not_falling,
    "risen": _risen,
    "lowest": lambda values: -float(values.min()),
    "stepped_up": _stepped_up,
    "lost_from_start": _lost_from_start,
    "spiked_and_lost": _spiked_and_lost,
    "suddenly_lost": lambda values: -abs(_spiked_and_lost(values)),
    "lost_late": lambda values: float((~np.isfinite(values[len(values) // 2 :])).mean()),
    "still_rising": _still_rising,
    "stuck": _stuck,
    "risen_share": lambda values: -_stuck(values) if _start(values) < RIGHT else 1.0,
    "gained": _gained,
    "not_gained": lambda values: -_gained(values),
    "grown": _grown,
    # a clock runs on
    "slowed": lambda values: _grown(values) if correlation(values) < 1 else NEVER,
    "climbs": _climbs,
    "falls": _falls,
    "settled": _settled,
    "there": lambda _: 1.0,
    "lost_beside": _lost_beside,
    "turned": _turned,
    "left_beside": _left_beside,
    "better_beside": _better_beside,
    "apart": lambda held_out, other: _end(other) - _end(held_out),
    "guessing_beside": _guessing_beside,
    "vanished_beside": _vanished_beside,
    "grown_beside": lambda norm, loss: min(_grown(norm), _risen(loss)),
    "lagging_beside": lambda loss, right: -_stuck(right) - _fallen(loss),
    "below_zero_beside": lambda loss, _: -float(loss.min()),
    "equal_beside": lambda one, other: (
        float((one == other).mean()) if len(one) == len(other) else NEVER
    ),
}
