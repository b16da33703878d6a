"""Bounds: what healthy runs say of the invariants that logic does not bound."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from failbench.errors import BadInputError
from failbench.monitor.breaks import Floats, measured
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, RATIOS, Bound, Invariant, bound_of
from failbench.monitor.signals import SIGNALS
from failbench.records import Record

FORMAT: Final = 1

# units in which a value means the same in any training; of other values only changes carry over
PURE_UNITS: Final = ("share", "ratio", "nats")

CARRIED: Final = Path(__file__).parents[1] / "fitted/bounds.json"
"""Bounds that hold where they were not fitted, for runs without healthy ones of their setting."""

TIGHTEST: Final = math.log(1.05)  # log of the smallest ratio that can break a bound


_UNIT: Final = {signal.name: signal.unit for signal in SIGNALS}


class FittedBound(Record):
    """A bound from healthy runs; None where there is none on that side."""

    low: float | None
    high: float | None

    @model_validator(mode="after")
    def _is_interval(self) -> FittedBound:
        if self.low is None and self.high is None:
            raise ValueError("has neither low nor high")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("low lies above high")
        return self


class BoundsFile(Record):
    """Bounds as they are stored."""

    format: int = Field(ge=FORMAT, le=FORMAT)
    runs: int = Field(ge=0)
    fitted_on: str
    bounds: Mapping[str, FittedBound]

    def intervals(self) -> dict[str, Bound]:
        """The bounds as intervals."""
        return {
            name: Bound(
                -math.inf if bound.low is None else bound.low,
                math.inf if bound.high is None else bound.high,
            )
            for name, bound in self.bounds.items()
        }


def fit_bounds(
    histories: Sequence[History], invariants: Iterable[Invariant], margin: float
) -> dict[str, Bound]:
    """Fit the bounds of invariants to healthy runs.

    Of each run, the most extreme value that lasted for as many measurements as the invariant asks
    for; of all runs, the most extreme of those, and beyond it ``margin`` times its distance from
    their median. Runs differ more than steps do, and a monitor evaluates dozens of bounds in a run:
    the extreme alone would be passed by one new run in ``len(histories) + 1``, for each of them.

    Parameters
    ----------
    histories
        Healthy runs.
    invariants
        Those with a bound of their own are passed over, and those that no run measured.
    margin
        At least 0.
    """
    return reach_of(histories, invariants).bounds(margin)


@dataclass(frozen=True)
class Reach:
    """How far healthy runs went, all arrays ``[n_runs, n_invariants]``."""

    invariants: tuple[Invariant, ...]
    fitted_lows: Floats
    fitted_highs: Floats
    lows: Floats
    highs: Floats

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.highs)

    def bounds(self, margin: float, runs: NDArray[np.bool_] | None = None) -> dict[str, Bound]:
        """The bounds of some of the runs; see :func:`fit_bounds`."""
        fitted = {}
        taken = np.ones(self.n, dtype=bool) if runs is None else runs
        for place, invariant in enumerate(self.invariants):
            lows, highs = self.fitted_lows[taken, place], self.fitted_highs[taken, place]
            is_measured = ~np.isnan(highs)
            if invariant.bound is None and is_measured.any():
                sides = lows[is_measured], highs[is_measured]
                fitted[invariant.id] = fitted_bound(invariant, *sides, margin)
        return fitted

    def broken(self, run: int, fitted: Mapping[str, Bound]) -> list[Invariant]:
        """The invariants that break in a run, as :func:`failbench.monitor.breaks.breaks` says."""
        broken = []
        for place, invariant in enumerate(self.invariants):
            bound = invariant.bound or fitted.get(invariant.id)
            lowest, highest = self.lows[run, place], self.highs[run, place]
            if bound is not None and (highest > bound.high or lowest < bound.low):
                broken.append(invariant)
        return broken


def together(parts: Iterable[Reach]) -> Reach:
    """The runs of several settings, measured by the same invariants."""
    parts = [*parts]
    names = ("fitted_lows", "fitted_highs", "lows", "highs")
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    return Reach(parts[0].invariants, *arrays)


def carried_bounds(
    settings: Mapping[str, Reach], margins: Iterable[float], most_alarmed: float
) -> dict[str, Bound]:
    """Bounds of what carries over from some settings to others.

    Each setting is held against bounds that were fitted to all others. Of an invariant the smallest
    margin is taken with which, on average over settings, at most a share ``most_alarmed`` of the
    healthy runs break it; where there is none it has no bound, as where its values have a unit.

    Parameters
    ----------
    settings
        How far the healthy runs of each went; at least two.
    margins
        As of :func:`fit_bounds`.
    most_alarmed
        Between 0 and 1.
    """
    found: dict[str, Bound] = {}
    for margin in sorted(margins):
        broken: dict[str, list[float]] = {}
        for name, reach in settings.items():
            others = together(part for other, part in settings.items() if other != name)
            fitted = others.bounds(margin)
            counts = Counter(
                each.id for run in range(reach.n) for each in reach.broken(run, fitted)
            )
            for place, invariant in enumerate(reach.invariants):
                if invariant.id in fitted and not np.isnan(reach.fitted_highs[:, place]).all():
                    broken.setdefault(invariant.id, []).append(counts[invariant.id] / reach.n)
        whole = together(settings.values()).bounds(margin)
        for invariant in next(iter(settings.values())).invariants:
            is_seldom = np.mean(broken.get(invariant.id, [1.0])) <= most_alarmed
            if is_seldom and carries(invariant) and invariant.id not in found:
                found[invariant.id] = whole[invariant.id]
    return found


def carries(invariant: Invariant) -> bool:
    """Whether what an invariant bounds has no unit."""
    return invariant.against != "value" or _UNIT[invariant.signal] in PURE_UNITS


@cache
def packaged_bounds() -> Mapping[str, Bound]:
    """The bounds of :data:`CARRIED`."""
    return read_bounds(CARRIED, CATALOGUE).intervals()


def reach_of(runs: Sequence[History], invariants: Iterable[Invariant]) -> Reach:
    """How far some runs went, measured once for all margins and all runs held out."""
    invariants = tuple(invariants)
    shape = (len(runs), len(invariants))
    fitted_lows, fitted_highs = np.full(shape, np.nan), np.full(shape, np.nan)
    lows, highs = np.full(shape, np.inf), np.full(shape, -np.inf)
    for row, run in enumerate(runs):
        for column, invariant in enumerate(invariants):
            _, values, held = measured(run, invariant)
            finite = held[np.isfinite(held)]
            if len(finite) >= invariant.rows:
                fitted_lows[row, column] = -lasting_high(-finite, invariant.rows)
                fitted_highs[row, column] = lasting_high(finite, invariant.rows)
            if len(values) >= invariant.rows:
                # As breaks are judged: what was measured to be no number lies outside on both
                # sides, and where there is nothing to hold a value against, nothing breaks.
                above, below = (
                    np.where(np.isnan(values), np.inf, np.where(np.isnan(side), -np.inf, side))
                    for side in (held, -held)
                )
                highs[row, column] = lasting_high(above, invariant.rows)
                lows[row, column] = -lasting_high(below, invariant.rows)
    return Reach(invariants, fitted_lows, fitted_highs, lows, highs)


def fitted_bound(invariant: Invariant, lows: Floats, highs: Floats, margin: float) -> Bound:
    """The bound from healthy extremes; of a ratio, at least :data:`TIGHTEST` from 1."""
    low, high = -widened(-lows, margin), widened(highs, margin)
    if invariant.against in RATIOS:
        low, high = min(low, -TIGHTEST), max(high, TIGHTEST)
    return bound_of(invariant.relation, low, high)


def lasting_high(series: Floats, rows: int) -> float:
    """The largest value that is reached or passed ``rows`` times in a row."""
    windows = np.lib.stride_tricks.sliding_window_view(series, rows)
    return float(windows.min(axis=1).max())


def widened(highs: Floats, margin: float) -> float:
    """The highest of ``[runs]``, moved by ``margin`` times its distance from their median."""
    most = float(highs.max())
    return most + margin * (most - float(np.median(highs)))


def write_bounds(path: Path, bounds: Mapping[str, Bound], runs: int, fitted_on: str) -> None:
    """Write bounds as JSON, rounded to six digits."""
    content = BoundsFile(
        format=FORMAT,
        runs=runs,
        fitted_on=fitted_on,
        bounds={
            name: FittedBound(low=_rounded(bound.low), high=_rounded(bound.high))
            for name, bound in bounds.items()
        },
    )
    path.write_text(json.dumps(content.model_dump(), indent=1) + "\n", encoding="utf-8")


def _rounded(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def read_bounds(path: Path, invariants: Iterable[Invariant]) -> BoundsFile:
    """Read bounds.

    Raises
    ------
    BadInputError
        If they cannot be read, or are bounds of invariants that are not known.
    """
    try:
        bounds = TypeAdapter(BoundsFile).validate_json(path.read_bytes())
    except OSError as error:
        problem = f"cannot be read ({error.strerror})."
        raise BadInputError(path, "(file)", problem, "Name a file of bounds.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(file)"
        remedy = "Fit the bounds again, or leave them out."
        raise BadInputError(path, field, f"{first['msg']}.", remedy) from error
    foreign = sorted(set(bounds.bounds) - {invariant.id for invariant in invariants})
    if foreign:
        problem = "is no invariant of this version."
        remedy = "Fit the bounds again, or leave them out."
        raise BadInputError(path, f"bounds.{foreign[0]}", problem, remedy)
    return bounds
