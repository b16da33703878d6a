"""Against: where a log parts from that of a run that worked, by more than another seed does.

A curve that both logs have is compared where their steps overlap. How far it is from the other's is
counted in units of what the good run scatters and covers; how many of these healthy runs of one
program are apart that differ in their seed alone is counted by role (``fitted/spreads.csv``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Final

import numpy as np

from failbench.base.arrays import Array
from failbench.base.records import Record, read_rows
from failbench.diagnose.curves import Curve
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import Log, known
from failbench.diagnose.readers.numbers import NOWHERE, Places
from failbench.diagnose.signs import Sign

# speeds and sizes are of machines, and not of what a seed draws
_OF_MACHINES: Final = frozenset({"throughput", "time", "memory"})
_SHARES: Final = frozenset({"rate", "error"})
_DIFFERENCES: Final = _SHARES | {"score", "margin"}  # of all else ratios must be apart too
_SAME_AS: Final = {"perplexity": "loss"}
ANY: Final = "any"  # role of a limit for roles of which few pairs are known

# What a unit is made of: the median distance of neighbouring values of the good run, the range of
# their running median, and what is small in any run: a few samples of an evaluation of some tens,
# or some hundredths of a value.
_SCATTER, _RANGE = 2.0, 0.05
_FEW_SAMPLES, _SMALL = 0.3, 0.02
_WINDOW: Final = 1 / 8  # of a curve's values, over which a running median is taken
_FEWEST: Final = 3
_SMALLEST: Final = 1e-12
_MOST: Final = 1e6  # units: what is no number is as far as anything

# This share of healthy pairs lies within the limit before it is widened for other authors' pairs.
_WITHIN, _WIDENED, _ADDED = 0.99, 1.25, 0.2
_EARLY: Final = 0.9  # values of a run for each of another's: of 607 healthy pairs the least is 0.93
_PAIRS: Final = 20  # with fewer a role has no limit of its own


class Spread(Record):
    """How many units two healthy runs may be apart in a curve of a role, and of how many pairs."""

    role: str
    limit: float
    pairs: int


@cache
def spreads() -> dict[str, float]:
    """Limits of the package by role."""
    with as_file(files("failbench.fitted").joinpath("spreads.csv")) as path:
        rows = read_rows(
            path, Spread, "Restore it with `git checkout`, or run `dvc repro`.", ["role"]
        )
    return {row.role: row.limit for row in rows}


@dataclass(frozen=True)
class Apart:
    """How far a curve is from the good run's.

    Attributes
    ----------
    curve
        Of the log that is asked about.
    places
        Its values that were compared, of shape (n,).
    expected
        What the good run had there, of shape (n,).
    units
        How far the running median is from it, of shape (n,).
    logged
        How many values it has for each of the good run's.
    """

    curve: Curve
    places: Places
    expected: Array
    units: Array
    logged: float

    @property
    def role(self) -> str:
        """Whose limit counts."""
        return _SAME_AS.get(self.curve.role, self.curve.role)


def apart(curves: Iterable[Curve], good: Iterable[Curve]) -> Iterator[Apart]:
    """Compare each curve with that of a run that worked: of its name, or the one of its role."""
    curves, good = tuple(curves), tuple(good)
    named = {(each.name, each.part, each.role): each for each in good}
    alone, theirs = (_alone(each) for each in (curves, good))
    for curve in curves:
        other = named.get((curve.name, curve.part, curve.role))
        if other is None and alone.get(_kind(curve)) is curve:
            other = theirs.get(_kind(curve))
        found = None if other is None or curve.role in _OF_MACHINES else _compared(curve, other)
        if found is not None:
            yield found


def _alone(curves: Sequence[Curve]) -> dict[tuple[str, str | None], Curve]:
    """Curves that are the only ones of their kind."""
    count = Counter(map(_kind, curves))
    return {_kind(each): each for each in curves if count[_kind(each)] == 1}


def _kind(curve: Curve) -> tuple[str, str | None]:
    """Role and part; what names no part is of the training."""
    return curve.role, None if curve.part == "train" else curve.part


def _compared(curve: Curve, good: Curve) -> Apart | None:
    at, at_good = _positions(curve), _positions(good)
    places = np.flatnonzero((at >= at_good[0]) & (at <= at_good[-1]))
    if len(places) < 2 or len(good) < 2 or not np.isfinite(good.values).all():
        return None
    values, theirs = curve.values[places], good.values
    expected = np.interp(at[places], at_good, theirs)
    finite = np.isfinite(values)
    filled = np.where(finite, values, expected)
    small = _FEW_SAMPLES if curve.role in _SHARES else _SMALL * float(np.abs(theirs).max())
    units = _units(filled, theirs, expected, small)
    if curve.role not in _DIFFERENCES and (theirs > 0).all() and (filled > 0).all():
        ratios = _units(np.log(filled), np.log(theirs), np.log(expected), _SMALL)
        units = np.minimum(units, ratios)
    units = np.where(finite, np.minimum(units, _MOST), _MOST)
    return Apart(curve, places, expected, units, len(curve) / len(good))


def _units(values: Array, good: Array, expected: Array, small: float) -> Array:
    """How far the running median of the difference is from 0, of shape (n,)."""
    scatter = float(np.median(np.abs(np.diff(good))))
    unit = _SCATTER * scatter + _RANGE * float(np.ptp(_running_median(good))) + small
    units: Array = np.abs(_running_median(values - expected)) / max(unit, _SMALLEST)
    return units


def _positions(curve: Curve) -> Array:
    """Where values stand: at their steps, or one after another where these do not tell."""
    steps = np.asarray(curve.steps, np.float64)
    if (steps == NOWHERE).any() or (np.diff(steps) <= 0).any():
        return np.arange(len(steps), dtype=np.float64)
    return steps


def _running_median(values: Array) -> Array:
    """The median of each value and those before it, of the same shape."""
    size = max(_FEWEST, int(len(values) * _WINDOW))
    padded = np.concatenate([np.full(size - 1, values[0]), values])
    median: Array = np.median(np.lib.stride_tricks.sliding_window_view(padded, size), axis=1)
    return median


def furthest(pair: Iterable[Apart]) -> dict[str, float]:
    """The most units that two logs are apart, by role."""
    found: dict[str, float] = {}
    for each in pair:
        found[each.role] = max(found.get(each.role, 0.0), float(each.units.max()))
    return found


def fitted_spreads(pairs: Sequence[Mapping[str, float]]) -> list[Spread]:
    """Limits from how far healthy runs of one program and other seeds are apart, by role."""
    of_role: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        for role, units in pair.items():
            of_role[role].append(units)
    limits = [
        Spread(role=role, limit=_limit(units), pairs=len(units))
        for role, units in sorted(of_role.items())
    ]
    widest = max((each.limit for each in limits), default=_MOST)
    enough = [each for each in limits if each.pairs >= _PAIRS]
    return [Spread(role=ANY, limit=widest, pairs=len(pairs)), *enough]


def _limit(units: Sequence[float]) -> float:
    return round(float(np.quantile(units, _WITHIN)) * _WIDENED + _ADDED, 2)


def parts(pair: Mapping[str, float], limits: Mapping[str, float]) -> bool:
    """Whether two logs are further apart than healthy runs are."""
    return any(units > limits.get(role, limits[ANY]) for role, units in pair.items())


def telling(signs: Iterable[Sign], of_good: Iterable[Sign]) -> list[Sign]:
    """What alarms beside a good run: no bound of others' runs, and no course that it has, too."""
    shown = {sign.id for sign in of_good if sign.kind == "trap"}
    return [
        sign
        for sign in signs
        if sign.kind != "check" and not (sign.kind == "trap" and sign.id in shown)
    ]


def stops_early(pair: Sequence[Apart]) -> bool:
    """Whether every curve has fewer values than those of healthy runs have."""
    return bool(pair) and max(each.logged for each in pair) < _EARLY


def partings(log: Log, pair: Sequence[Apart], limits: Mapping[str, float]) -> tuple[Finding, ...]:
    """Where a log parts from that of a run that worked, the first curve first, or stops early."""
    found = [_finding(log, each, first) for _, each, first in _places(pair, limits)]
    if stops_early(pair):
        found.append(_end(log, max(pair, key=lambda each: each.logged)))
    return tuple(found)


def place_of_parting(pair: Iterable[Apart], limits: Mapping[str, float]) -> float | None:
    """The share of the log at which the first curve parts."""
    return next((share for share, _, _ in _places(pair, limits)), None)


def _places(pair: Iterable[Apart], limits: Mapping[str, float]) -> list[tuple[float, Apart, int]]:
    found = []
    for each in pair:
        beyond = np.flatnonzero(each.units > limits.get(each.role, limits[ANY]))
        if len(beyond):
            first = int(beyond[0])
            found.append(((int(each.places[first]) + 1) / len(each.curve), each, first))
    return sorted(found, key=lambda place: place[0])


def _end(log: Log, each: Apart) -> Finding:
    curve = each.curve
    size = round(len(curve) / each.logged)
    return Finding(
        "stops_early", "parting", "circumstantial",
        f"It stops here, or still runs: {curve.name} has {len(curve)} values, and {size} in the "
        "run that worked.",
        log.sources[curve.source].name, known(curve.lines[-1]), _step(curve, -1),
    )  # fmt: skip


def _step(curve: Curve, place: int) -> int | None:
    step = float(curve.steps[place])
    return int(step) if step.is_integer() and step != NOWHERE else None


def _finding(log: Log, each: Apart, first: int) -> Finding:
    curve, place = each.curve, int(each.places[first])
    value, theirs = (float(one * curve.unit) for one in (curve.values[place], each.expected[first]))
    return Finding(
        f"parts_{curve.role}", "parting", "circumstantial",
        f"Here {curve.name} parts from the run that worked by more than another seed does: it is "
        f"{value:.4g}, and was {theirs:.4g} there.",
        log.sources[curve.source].name, known(curve.lines[place]),
        _step(curve, place), curve.name, value,
        "" if np.isnan(value) else "above" if value > theirs else "below", theirs,
    )  # fmt: skip
