"""Departures: where one rank of a run parts from the others, beyond what healthy ranks do.

What logic makes equal between ranks, as the weights after a step, departs where it is unequal.
What is alike in distribution alone, as the loss of a rank's own batch, departs where it lies
farther from the other ranks than in any healthy run that bounds were learnt from.
``data/rank_signals.csv`` says of each signal which of these it is, and whose departure it is where
there are two ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows, read_json, validated
from failbench.monitor.bounds import TIGHTEST, lasting_high, widened
from failbench.monitor.breaks import FLOORS, SMALLEST, breaks
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.signals import SIGNALS

Ranks = Mapping[int, History]
Floats = NDArray[np.float64]

FORMAT: Final = 1
# relative: what a log's six digits lose of two equal numbers
EQUAL: Final = 2e-5
NEAREST: Final = 2.0  # steps of the noise: what lies no farther apart has not parted
LARGEST: Final = 700.0  # a logarithm whose factor is a number
WINDOW: Final = 8  # measurements of which a rank's own past is made
FEWEST_BEFORE: Final = 3  # of these, at least
# logarithms of the smallest factors that mean anything, by unit; elsewhere ``TIGHTEST``
LEAST: Final = {"seconds": math.log(1.25), "bytes": math.log(1.1)}
# how much farther than the other a rank of two moved from its own past, to be the one that moved
MOVED: Final = 1.5
# rows in which ranks have the same loss or text, beyond the most of any healthy run
OF_BATCH: Final = ("loss", "token_surprise", "pair_surprise")
SAME: Final = "batches_the_same"

_SIGNAL: Final = {signal.name: signal for signal in SIGNALS}


class RankSignal(Record):
    """How a signal is compared between ranks.

    ``side`` says whose departure it is of two ranks: of the one with the higher or the lower value,
    or, as ``past``, of the one that moved away from its own past.
    """

    signal: str
    kind: Literal["equal", "alike"]
    side: Literal["high", "low", "past"]
    rows: int
    checks: Literal["yes", "no"]
    sign: str


@cache
def rank_signals() -> tuple[RankSignal, ...]:
    """All, in the order in which they count of those that depart at a time: causes come first."""
    return packaged_rows("failbench.diagnose", "rank_signals.csv", RankSignal)


class RankBounds(Record):
    """What healthy ranks kept to: by signal, and form of its difference, its largest size."""

    format: Literal[1]
    runs: int
    fitted_on: str
    values: dict[str, float]
    starts: dict[str, float]  # of the difference less that of the first rows
    same: int  # most rows in a row in which the batches of ranks looked the same
    by_nature: tuple[str, ...]  # invariants that break on one rank alone in health


@dataclass(frozen=True)
class Departure:
    """Where a rank parts from the others.

    Attributes
    ----------
    sign
        What it shows, as ``data/rank_signs.csv`` says it.
    rank
        Whose departure it is; None where the values do not tell, or it is of all ranks.
    step
        The first one at which it is logged.
    signal
        What was compared; of an invariant its name, of an end the phase.
    value
        What it is on that rank; where that is not known, on the last rank.
    others
        Median of the others.
    bound
        The largest factor by which healthy ranks would lie apart here; 1 where logic makes them
        equal.
    said
        What there is in words, as the error of an end.
    """

    sign: str
    rank: int | None
    step: int
    signal: str
    value: float
    others: float
    bound: float
    said: str = ""

    @property
    def is_logic(self) -> bool:
        """Whether logic makes ranks equal in it."""
        return self.bound == 1.0


@dataclass(frozen=True)
class Aligned:
    """A signal on all ranks at the steps that all of them have, ``values`` of [ranks, steps]."""

    steps: NDArray[np.int64]
    values: Floats
    sizes: Floats  # logarithms, in which values differ by a factor
    noise: float  # by how much sizes differ from one measurement of a rank to its next

    def others(self, values: Floats) -> Floats:
        """The median of the other ranks, of the shape of values."""
        every = range(len(values))
        return np.array(
            [np.median(values[[each for each in every if each != r]], 0) for r in every]
        )


def aligned(ranks: Ranks, signal: str, checks: bool = False) -> Aligned:
    """A signal, or the sum of several that ``+`` joins, at steps that are whole on all ranks."""
    names = signal.split("+")
    by_rank = [_series(history, names, ranks) for history in ranks.values()]
    last = min((each.end.step for each in ranks.values() if each.end.failed), default=2**62)
    common = sorted(set.intersection(*(set(each) for each in by_rank)))
    common = [step for step in common if step < last]  # of the step of a death there is a part
    if checks:  # the others have one step's time, and the first step is like no other
        every = next(iter(ranks.values())).every
        common = [step for step in common if step and step % every == 0]
    values = np.array([[each[step] for step in common] for each in by_rank], np.float64)
    unit = _SIGNAL[names[0]].unit
    with np.errstate(invalid="ignore"):
        sizes = np.log(np.abs(values) + FLOORS.get(unit, SMALLEST))
        moves = np.sort(np.abs(np.diff(sizes, axis=1)), axis=1)[:, :-1]  # but for the largest
    moves = moves[np.isfinite(moves)]
    noise = max(float(moves.mean()) if len(moves) else 0.0, LEAST.get(unit, TIGHTEST))
    return Aligned(np.array(common, np.int64), values, sizes, noise)


def _series(history: History, names: Sequence[str], ranks: Ranks) -> dict[int, float]:
    found: dict[int, float] = {}
    for place, name in enumerate(names):
        steps, values = history.series(name)
        known = dict(zip(steps.tolist(), values.tolist(), strict=True))
        if _SIGNAL[name].exact:
            known = _held(known, history, ranks)
        found = known if place == 0 else {s: found[s] + known[s] for s in found if s in known}
    return found


def _held(known: dict[int, float], history: History, ranks: Ranks) -> dict[int, float]:
    """An exact signal at the steps of all ranks: between checks it is logged where it changes."""
    last = history.rows[-1].step if history.rows else -1
    held, result = math.nan, {}
    for step in sorted({row.step for each in ranks.values() for row in each.rows}):
        held = known.get(step, held)
        if step <= last and (step in known or not math.isnan(held)):
            result[step] = held
    return result


def differences(found: Aligned, form: Literal["value", "start"]) -> Floats:
    """How far each rank lies apart, in steps of the noise, [ranks, steps]; no number is infinite.

    What a rank's signal does from one measurement to the next is known in any setting, so that
    bounds of differences in its unit carry over: a batch of few rows makes both larger.
    """
    with np.errstate(invalid="ignore"):
        apart = (found.sizes - found.others(found.sizes)) / found.noise
    undefined = ~np.isfinite(found.sizes)
    apart[:, undefined.all(axis=0)] = 0.0
    apart = np.where(np.isnan(apart), np.where(undefined, np.inf, -np.inf), apart)
    if form == "value":
        return apart
    if apart.shape[1] <= WINDOW:
        return np.zeros_like(apart)
    first = apart[:, :WINDOW]
    start = np.median(np.where(np.isfinite(first), first, 0.0), axis=1, keepdims=True)
    result: Floats = apart - start
    result[:, :WINDOW] = 0.0
    return result


def departures(ranks: Ranks, bounds: RankBounds) -> list[Departure]:
    """All departures, the first one first; of those of one check what may cause the others."""
    every = max(history.every for history in ranks.values())
    found = [*_broken_alone(ranks, bounds), *_of_signals(ranks, bounds), *_same(ranks, bounds)]
    order = {each.signal: place for place, each in enumerate(rank_signals())}
    return sorted(found, key=lambda each: (-(-each.step // every), order.get(each.signal, -1)))


def _broken_alone(ranks: Ranks, bounds: RankBounds) -> Iterator[Departure]:
    """Invariants with a bound of logic that broke on one rank, and not on the others by then."""
    first = broken_by_logic(ranks)
    for invariant in CATALOGUE:
        steps = {rank: first[rank][invariant.id] for rank in ranks if invariant.id in first[rank]}
        if not steps or invariant.id in bounds.by_nature or invariant.signal == "ranks_disagree":
            continue
        rank = min(steps, key=steps.__getitem__)
        window = max(history.every for history in ranks.values())
        later = [step for other, step in steps.items() if other != rank]
        if any(step <= steps[rank] + window for step in later):
            continue
        last = {
            other: values[measured <= steps[rank]][-1:]
            for other, (measured, values) in (
                (each, history.series(invariant.signal)) for each, history in ranks.items()
            )
        }
        others = [float(each[0]) for other, each in last.items() if other != rank and len(each)]
        yield Departure(
            "broke_alone", rank, steps[rank], invariant.id, float(last[rank][0]),
            float(np.median(others)) if others else math.nan, 1.0, invariant.statement,
        )  # fmt: skip


def broken_by_logic(ranks: Ranks) -> dict[int, dict[str, int]]:
    """By rank, the steps at which invariants first broke whose bound is logic's."""
    return {
        rank: {each.invariant.id: each.step for each in breaks(history, CATALOGUE, {})}
        for rank, history in ranks.items()
    }


def _of_signals(ranks: Ranks, bounds: RankBounds) -> Iterator[Departure]:
    for signal in rank_signals():
        found = aligned(ranks, signal.signal, signal.checks == "yes")
        if not len(found.steps):
            continue
        if signal.kind == "equal":
            departure = _unequal(ranks, signal, found)
        else:
            departure = _unlike(ranks, signal, found, bounds)
        if departure is not None:
            yield departure


def _unequal(ranks: Ranks, signal: RankSignal, found: Aligned) -> Departure | None:
    """Where what must be equal is not; of checksums, where some differ."""
    if signal.signal == "ranks_disagree":
        apart = found.values != 0
    else:
        others = found.others(found.values)
        with np.errstate(invalid="ignore"):
            apart = ~np.isclose(found.values, others, rtol=EQUAL, atol=0.0, equal_nan=True)
    places = np.flatnonzero(apart.any(axis=0))
    if not len(places):
        return None
    place = int(places[0])
    row = None
    if signal.signal != "ranks_disagree":
        odd = np.flatnonzero(apart[:, place])
        row = int(odd[0]) if len(odd) == 1 else _moved(found, place, 1, goes_on=True)
    return _departure(ranks, signal, found, place, row, 1.0)


def _unlike(
    ranks: Ranks, signal: RankSignal, found: Aligned, bounds: RankBounds
) -> Departure | None:
    """Where a rank lies farther from the others than in health, for some rows."""
    best: Departure | None = None
    forms: tuple[tuple[Literal["value", "start"], dict[str, float]], ...]
    forms = ("value", bounds.values), ("start", bounds.starts)
    for form, of_form in forms:
        bound = of_form.get(signal.signal)
        if bound is None:
            continue
        apart = differences(found, form)
        # what jumps from one side to the other did not last on either
        sides = {"high": (apart,), "low": (-apart,), "past": (apart, -apart)}[signal.side]
        lasting = np.any([_lasting(side > bound, signal.rows) for side in sides], axis=0)
        places = np.flatnonzero(lasting.any(axis=0))
        if not len(places):
            continue
        place = int(places[0])
        sizes = np.where(lasting[:, place], np.abs(apart[:, place]), -np.inf)
        row: int | None = int(np.argmax(sizes))
        if signal.side == "past" and len(ranks) == 2:
            row = _moved(found, place, signal.rows)
        factor = math.exp(min(bound * found.noise, LARGEST))
        departure = _departure(ranks, signal, found, place, row, factor)
        if best is None or departure.step < best.step:
            best = departure
    return best


def _lasting(outside: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
    """Where ``rows`` measurements in a row begin that lie outside, of the same shape."""
    if outside.shape[1] < rows:
        return np.zeros_like(outside)
    whole = np.lib.stride_tricks.sliding_window_view(outside, rows, axis=1).all(axis=2)
    return np.pad(whole, ((0, 0), (0, rows - 1)))


def _moved(found: Aligned, place: int, rows: int, *, goes_on: bool = False) -> int | None:
    """The rank that moved away from its own past; None without one, or where several did.

    What is alike in distribution moves about a level. What is equal goes on as it went, so that a
    rank that is set back to where it was has moved.
    """
    if place < FEWEST_BEFORE:
        return None
    before = slice(max(0, place - WINDOW), place)
    past, steps = found.sizes[:, before], found.steps[before]
    now = np.median(found.sizes[:, place : place + rows], axis=1)
    with np.errstate(invalid="ignore"):
        expected = np.median(past, axis=1)
        usual = np.median(np.abs(past - expected[:, None]))
        if goes_on:
            speeds = np.diff(past, axis=1) / np.diff(steps)
            speed = np.median(speeds, axis=1)
            expected = past[:, -1] + speed * (found.steps[place] - steps[-1])
            usual = np.median(np.abs(speeds - speed[:, None]) * np.diff(steps))
        moves = np.abs(now - expected)
    moves = np.where(np.isnan(moves), np.inf, moves)
    first, second = np.argsort(-moves)[:2]
    if moves[first] == moves[second] or moves[first] <= MOVED * moves[second]:
        return None
    return int(first) if moves[first] - moves[second] > NEAREST * usual else None


def _departure(
    ranks: Ranks, signal: RankSignal, found: Aligned, place: int, row: int | None, bound: float
) -> Departure:
    names, shown = list(ranks), len(ranks) - 1 if row is None else row
    value, others = found.values[shown, place], found.others(found.values)[shown, place]
    rank, step = None if row is None else names[row], int(found.steps[place])
    return Departure(signal.sign, rank, step, signal.signal, float(value), float(others), bound)


def _same(ranks: Ranks, bounds: RankBounds) -> Iterator[Departure]:
    """Where the batches of ranks, of which each has its own part, look the same for too long."""
    count, name, place = most_alike(ranks)
    if count > bounds.same:
        found = aligned(ranks, name)
        value = float(found.values[-1, place])
        step = int(found.steps[place])
        yield Departure(SAME, None, step, name, value, value, 1.0, f"{count} rows in a row.")


def most_alike(ranks: Ranks) -> tuple[int, str, int]:
    """The most rows in a row that are equal in a signal of the batch, of which one, and where."""
    best = (0, OF_BATCH[0], 0)
    for name in OF_BATCH:
        found = aligned(ranks, name)
        is_finite = np.isfinite(found.values).all(axis=0)
        equal = np.asarray(
            np.isclose(found.values, found.values[:1], rtol=EQUAL, atol=0.0).all(axis=0)
        )
        count = 0
        for place, is_equal in enumerate((equal & is_finite).tolist()):
            count = count + 1 if is_equal else 0
            best = max(best, (count, name, place + 1 - count), key=lambda each: each[0])
    return best


def reach_of(ranks: Ranks) -> dict[tuple[str, str], float]:
    """How far the ranks of a run lay apart, by signal and form, for as many rows as it asks for."""
    found: dict[tuple[str, str], float] = {}
    for signal in rank_signals():
        at = aligned(ranks, signal.signal, signal.checks == "yes")
        if signal.kind == "equal" or len(at.steps) < max(signal.rows, WINDOW + 1):
            continue
        for form in ("value", "start"):
            apart = differences(at, form)
            both = np.vstack([apart, -apart])
            found[signal.signal, form] = max(lasting_high(each, signal.rows) for each in both)
    return found


def fit_rank_bounds(
    settings: Mapping[str, Sequence[Ranks]], margins: Iterable[float], fitted_on: str
) -> RankBounds:
    """Bounds from healthy runs of several settings.

    Of each signal the smallest margin is taken with which no run of a setting lies beyond what was
    fitted to all others; where there is none, the signal has no bound.

    Parameters
    ----------
    settings
        Healthy runs of each setting; at least two settings.
    margins
        How far a bound lies beyond the farthest run, in its distance from the median run.
    fitted_on
        What the runs are, in words.
    """
    reaches = {name: [reach_of(run) for run in runs] for name, runs in settings.items()}
    everything = [reach for part in reaches.values() for reach in part]
    runs = [run for part in settings.values() for run in part]
    bounds: dict[str, dict[str, float]] = {"value": {}, "start": {}}
    for signal, form in sorted({key for reach in everything for key in reach}):
        for margin in sorted(margins):
            if _is_kept(reaches, (signal, form), margin):
                known = [each[signal, form] for each in everything if (signal, form) in each]
                bounds[form][signal] = _rounded(_bound(known, margin))
                break
    alone: set[str] = set()
    for run in runs:
        first = broken_by_logic(run)
        named = {name for each in first.values() for name in each}
        alone |= {name for name in named if not all(name in each for each in first.values())}
    same = max(most_alike(run)[0] for run in runs)
    return RankBounds(
        format=FORMAT, runs=len(runs), fitted_on=fitted_on, values=bounds["value"],
        starts=bounds["start"], same=2 * same + 1, by_nature=tuple(sorted(alone)),
    )  # fmt: skip


def _is_kept(
    reaches: Mapping[str, Sequence[Mapping[tuple[str, str], float]]],
    key: tuple[str, str],
    margin: float,
) -> bool:
    """Whether the runs of each setting keep to a bound of the others that have the signal."""
    having = {
        name: [each[key] for each in part if key in each]
        for name, part in reaches.items()
        if any(key in each for each in part)
    }
    if len(having) < 2:
        return len(having) == 1
    for name, part in having.items():
        others = [each for other, of_other in having.items() if other != name for each in of_other]
        if max(part) > _bound(others, margin):
            return False
    return True


def _bound(highs: Sequence[float], margin: float) -> float:
    return max(NEAREST, widened(np.array(highs), margin))


def _rounded(bound: float) -> float:
    """Six digits, none of which puts the farthest healthy run beyond it."""
    return float(f"{bound * (1 + 1e-5):.6g}")


def write_rank_bounds(path: Path, bounds: RankBounds) -> None:
    """Write bounds as JSON."""
    path.write_text(bounds.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_rank_bounds(path: Path) -> RankBounds:
    """Read bounds.

    Raises
    ------
    BadInputError
        If they cannot be read, or bound what no signal is.
    """
    remedy = "Restore them with `git checkout`, or fit them again."
    bounds = validated(RankBounds, read_json(path, remedy), path, remedy)
    known = {each.signal for each in rank_signals()}
    if strangers := sorted({*bounds.values, *bounds.starts} - known):
        raise BadInputError(path, strangers[0], "is no signal that is compared.", remedy)
    return bounds


@cache
def packaged_rank_bounds() -> RankBounds:
    """The bounds of the package."""
    with as_file(files("failbench.fitted").joinpath("ranks.json")) as path:
        return read_rank_bounds(path)
