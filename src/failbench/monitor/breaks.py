"""Breaks: when each invariant of a run broke first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from failbench.monitor.history import History
from failbench.monitor.invariants import Against, Bound, Invariant
from failbench.monitor.signals import SIGNALS

FEWEST: Final = 5  # measurements of which a past is made at least

FLOORS: Final = {"seconds": 0.01, "bytes": 2.0**22, "nats": 0.1, "share": 0.01, "positions": 1.0}
"""By unit what is added to both sides of a ratio: below it, differences mean nothing."""

SMALLEST: Final = 1e-30  # what is added where a unit has no floor, so that zero has a logarithm

_UNIT: Final = {signal.name: signal.unit for signal in SIGNALS}

Floats = NDArray[np.float64]
Places = NDArray[np.bool_]


@dataclass(frozen=True)
class Break:
    """The first break of an invariant."""

    invariant: Invariant
    step: int
    value: float
    compared: float
    bound: Bound


def compared(
    values: Floats, against: Against, floor: float, window: int, in_past: Places | None = None
) -> Floats:
    """Values of a signal as they are held against a bound."""
    result = np.full(len(values), np.nan)
    if not len(values) or against == "value":
        return values.copy()
    if against == "first":
        result[:] = values - values[0]
        return result
    if against == "whole":  # a share that was not 1 at first has another meaning in that loop
        return values - 1 if values[0] == 1 else result
    if against == "growth":
        result[2:] = values[2:] - np.maximum.accumulate(values)[1:-1]
        return result
    size = np.log(np.abs(values) + floor)
    if against == "peak":
        result[:] = size - np.maximum.accumulate(size)
        return result
    places = np.arange(len(values)) if in_past is None else np.flatnonzero(in_past)
    if against == "start":
        if len(places) >= window:
            after = places[window - 1] + 1
            result[after:] = size[after:] - np.median(size[places[:window]])
        return result
    for place in range(len(values)):
        before = places[: np.searchsorted(places, place)][-window:]
        if len(before) >= FEWEST:
            result[place] = size[place] - np.median(size[before])
    return result


def measured(history: History, invariant: Invariant) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Steps, values and compared values of a signal, but where another that must be 0 was not."""
    steps, values = history.series(invariant.signal)
    if invariant.presumes:
        presumed, sizes = history.series(invariant.presumes)
        is_void = np.isin(steps, presumed[sizes != 0])
        steps, values = steps[~is_void], values[~is_void]
    floor = FLOORS.get(_UNIT[invariant.signal], SMALLEST)
    # Where a log holds every step, as before an end, a window of steps would be short.
    is_check = steps % history.every == 0
    in_past = is_check if invariant.past_of_checks and is_check.any() else None
    with np.errstate(invalid="ignore"):  # infinite values are compared too
        held = compared(values, invariant.against, floor, invariant.window, in_past)
    return steps, values, held


def breaks(
    history: History, invariants: Iterable[Invariant], fitted: Mapping[str, Bound]
) -> tuple[Break, ...]:
    """The first break of every invariant, by step; one whose bound is not fitted is passed over."""
    first = []
    for invariant in invariants:
        bound = invariant.bound or fitted.get(invariant.id)
        if bound is None:
            continue
        steps, values, held = measured(history, invariant)
        # What was measured to be no number lies outside on both sides. A series that jumps from one
        # side to the other did not last on either.
        undefined = np.isnan(values)
        places = [
            _first_in_a_row(outside | undefined, invariant.rows)
            for outside in (held > bound.high, held < bound.low)
        ]
        place = min((each for each in places if each is not None), default=None)
        if place is not None:
            value, against = float(values[place]), float(held[place])
            first.append(Break(invariant, int(steps[place]), value, against, bound))
    return tuple(sorted(first, key=lambda each: each.step))


def _first_in_a_row(outside: NDArray[np.bool_], rows: int) -> int | None:
    """Where the first ``rows`` measurements in a row end that lie outside."""
    count = 0
    for place, is_outside in enumerate(outside):
        count = count + 1 if is_outside else 0
        if count == rows:
            return place
    return None
