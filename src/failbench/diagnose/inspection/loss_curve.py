"""Loss curve: the course of a signal, and the gap from training to validation, as description."""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from statistics import NormalDist, median
from typing import Final, Literal

import numpy as np

from failbench.base.arrays import Array
from failbench.diagnose.readers.log import Log, known
from failbench.diagnose.readers.names import SignalName, Split

MOST: Final = 2000  # points of which all pairs are compared, evenly spaced: two million pairs
CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Trend:
    """The median of the slopes between all pairs of points (Theil and Sen)."""

    slope: float
    low: float
    high: float


@dataclass(frozen=True)
class Place:
    """A value and where it stands; step and line are None where the log does not say them."""

    value: float
    step: int | None
    line: int | None


@dataclass(frozen=True)
class Jump:
    """The largest rise from one value to the next."""

    before: Place
    after: Place
    deviations: float | None


@dataclass(frozen=True)
class Plateau:
    """The longest stretch of values of which none is a new lowest one."""

    since: Place
    until: Place
    values: int


@dataclass(frozen=True)
class Curve:
    """The course of a signal on one split."""

    signal: str
    split: Split
    values: int
    first: Place
    last: Place
    best: Place | None
    since_best: int | None
    highest: Place | None
    unit: Literal["step", "value"]
    trend: Trend | None
    half: Place | None
    jump: Jump | None
    plateau: Plateau | None
    repeated: float | None
    not_finite: int
    first_not_finite: Place | None


@dataclass(frozen=True)
class Gap:
    """By how much a validation loss lies above the training loss."""

    validation: Place
    train: float
    difference: float


@dataclass(frozen=True)
class LossCurves:
    """What a log says of the loss."""

    train: Curve | None
    validation: Curve | None
    last_gap: Gap | None
    widest_gap: Gap | None


def loss_curves(log: Log) -> LossCurves:
    """The losses of a log.

    Parameters
    ----------
    log
        As :func:`failbench.diagnose.readers.opening.read_log` gives it.
    """
    gaps = _gaps(log)
    return LossCurves(
        curve_of(log, "loss", "train"),
        curve_of(log, "loss", "validation"),
        gaps[-1] if gaps else None,
        max(gaps, key=lambda gap: gap.difference, default=None),
    )


def slope_of(places: Array, values: Array) -> Trend | None:
    """The trend of finite values with Sen's interval of 1968, equation 2.6, which heeds ties."""
    if len(values) > MOST:
        kept = np.linspace(0, len(values) - 1, MOST).astype(int)
        places, values = places[kept], values[kept]
    if len(values) < 2 or places.min() == places.max():
        return None
    later = places[:, None] - places
    pairs = later > 0
    slopes = np.sort((values[:, None] - values)[pairs] / later[pairs])
    of_ties = [np.unique(each, return_counts=True)[1] for each in (places, values)]
    ties = sum(int(np.sum(k * (k - 1) * (2 * k + 5))) for k in of_ties)
    n = len(values)
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    if variance < 0:  # nearly all are ties in both
        return Trend(float(np.median(slopes)), math.nan, math.nan)
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * math.sqrt(variance)
    low = max(round((len(slopes) - half) / 2) - 1, 0)
    high = min(round((len(slopes) + half) / 2), len(slopes) - 1)
    return Trend(float(np.median(slopes)), float(slopes[low]), float(slopes[high]))


def curve_of(log: Log, signal: SignalName, split: Split) -> Curve | None:
    """The course of one signal of a log; None where it was not logged."""
    places = _places(log, signal, split)
    return course(signal, split, places) if places else None


def course(signal: str, split: Split, places: list[Place]) -> Curve:
    """The course of a signal."""
    finite = [place for place in places if math.isfinite(place.value)]
    values = np.array([place.value for place in finite])
    broken = next((place for place in places if not math.isfinite(place.value)), None)
    best = finite[int(values.argmin())] if finite else None
    highest = finite[int(values.argmax())] if finite else None
    since_best = None if best is None else len(places) - 1 - places.index(best)
    every = np.array([place.value for place in places])
    repeated = float(np.mean(every[1:] == every[:-1])) if len(every) > 1 else None
    return Curve(
        signal, split, len(places), places[0], places[-1], best, since_best, highest,
        "step" if all(place.step is not None for place in finite) else "value",
        slope_of(_positions(finite), values), _half(finite, values), _jump(finite, values),
        _plateau(finite, values), repeated, len(places) - len(finite), broken,
    )  # fmt: skip


def _places(log: Log, signal: SignalName, split: Split) -> list[Place]:
    rows = log.series(signal, split)
    return [
        Place(value, known(step), known(line))
        for value, step, line in zip(rows[signal].tolist(), rows.step, rows.line, strict=True)
    ]


def _positions(places: list[Place]) -> Array:
    """Steps, or how many values came before where not all are known; of shape (values,)."""
    steps = [place.step for place in places if place.step is not None]
    return np.array(steps if len(steps) == len(places) else range(len(places)), np.float64)


def _half(places: list[Place], values: Array) -> Place | None:
    if not len(values) or values.min() == values[0]:
        return None
    middle = values[0] + (values.min() - values[0]) / 2
    return places[int(np.argmax(values <= middle))]


def _jump(places: list[Place], values: Array) -> Jump | None:
    changes = np.diff(values)
    if not (changes > 0).any():
        return None
    place = int(changes.argmax())
    spread = float(np.median(np.abs(changes - np.median(changes))))
    above = float(changes[place] - np.median(changes))
    return Jump(places[place], places[place + 1], above / spread if spread else None)


def _plateau(places: list[Place], values: Array) -> Plateau | None:
    if len(values) < 2:
        return None
    is_new = np.r_[True, values[1:] < np.minimum.accumulate(values)[:-1]]
    starts = np.flatnonzero(is_new)
    lengths = np.diff(np.r_[starts, len(values)]) - 1
    longest = int(lengths.argmax())
    length = int(lengths[longest])
    if not length:
        return None
    start = int(starts[longest])
    return Plateau(places[start], places[start + length], length)


def _gaps(log: Log) -> list[Gap]:
    """The gap at each finite validation loss that training losses belong to, by steps."""
    train = sorted(
        (place.step, place.value)
        for place in _places(log, "loss", "train")
        if place.step is not None and math.isfinite(place.value)
    )
    steps = [step for step, _ in train]
    gaps, before = [], 0
    for place in _places(log, "loss", "validation"):
        if place.step is None or not math.isfinite(place.value):
            continue
        until = bisect_right(steps, place.step)
        if until <= before:  # training began again at an earlier step
            before = min(before, bisect_left(steps, place.step))
        if until > before:
            level = median(value for _, value in train[before:until])
            gaps.append(Gap(place, level, place.value - level))
            before = until
    return gaps
