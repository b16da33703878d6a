"""Series: the signals of a log as arrays, and what ``data/checks.csv`` says of healthy ones."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BeforeValidator

from failbench.base.arrays import Array, Mask
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.diagnose.readers.log import Log, Rows
from failbench.diagnose.readers.names import SignalName, Split
from failbench.diagnose.readers.numbers import NOWHERE, Places
from failbench.monitor.bounds import widened

# values that make the start of a run, or the past of a value: as many as the monitor's
WINDOW: Final = 8
FEWEST: Final = 3  # values of which a past, a start or a trend is made at least
SMOOTH: Final = 5  # values in a median that takes single outliers away
# nats at which a training from scratch starts at least: a language model that has learnt anything
# lies below, and a uniform guess among 1,000 tokens at 6.9
FROM_SCRATCH: Final = 4.0
# values without which a loss that does not fall says nothing: a resumed training falls slowly
LONG: Final = 50
# Of its peak: a learning rate below moves weights no more. A cosine is below it for the last 6 %
# of its steps, a linear decay for the last one.
FADED: Final = 0.01
# ratio of the largest value to the smallest that is not 0, below which a 0 beside them may be a
# value that was rounded: of 0.006 to 0.001 with three digits behind the point
DIGITS: Final = 20.0
SMALLEST: Final = 1e-30
GAP: Final = "validation_gap"
# distance of a bound from the usual amount at least: where no healthy log strays at all, one that
# does so by the last digit of a number has not strayed either
TIGHTEST: Final = 1e-6
MOST: Final = 200  # values that a trend is computed of, evenly spaced: it compares all pairs


@dataclass(frozen=True)
class Series:
    """One signal of a log, of the source that says most of it."""

    values: Array
    source: int
    lines: Places
    steps: Places
    logged: Array

    def __len__(self) -> int:
        return len(self.values)

    def taken(self, where: Mask) -> Series:
        """Some of the values."""
        values, logged = self.values[where], self.logged[where]
        return Series(values, self.source, self.lines[where], self.steps[where], logged)


_READ: Final[dict[str, tuple[SignalName, Split]]] = {
    "loss": ("loss", "train"),
    "validation_loss": ("loss", "validation"),
    "grad_norm": ("grad_norm", "train"),
    "learning_rate": ("learning_rate", "train"),
    "memory": ("memory", "train"),
    "throughput": ("throughput", "train"),
}


def series_of(log: Log) -> dict[str, Series]:
    """The series by name; a gap is the loss less the median of the last five of training before."""
    found = {
        name: series
        for name, (signal, split) in _READ.items()
        if (series := _series(log.rows, signal, split)) is not None
    }
    if "loss" in found and "validation_loss" in found:
        gap = _gap(found["loss"], found["validation_loss"])
        found |= {GAP: gap} if len(gap) else {}
    return found


def _series(rows: Rows, signal: SignalName, split: Split) -> Series | None:
    """A series of the source with the most values, the first of those with as many."""
    is_of_split = rows.is_train == (split == "train")
    values, wanted = rows[signal], rows.has(signal) & is_of_split
    if signal == "loss" and not wanted.any():
        wanted = (rows["perplexity"] > 0) & is_of_split
        values = np.log(np.where(wanted, rows["perplexity"], 1.0))
    if not wanted.any():
        return None
    source = int(np.bincount(rows.source[wanted]).argmax())
    wanted = wanted & (rows.source == source)
    series = Series(values, source, rows.line, rows.step, values)
    # a long log says all in every line: its places are not copied
    return series if wanted.all() else series.taken(wanted)


def _gap(trained: Series, held_out: Series) -> Series:
    """How far validation lies above training, where the order of the two is known."""
    use_steps = min(trained.steps.min(), held_out.steps.min()) > NOWHERE
    order, at = (trained.steps, held_out.steps) if use_steps else (trained.lines, held_out.lines)
    low, high, counts = _middles(trained.values, SMOOTH)
    medians = np.where(counts > 0, (low + high) / 2, np.nan)
    if not use_steps and trained.source != held_out.source:
        medians[:] = np.nan
    # one by one: steps that begin anew are no order, and each place is searched for by itself
    places = order.tolist()
    before = np.array([bisect_right(places, position) - 1 for position in at.tolist()])
    gaps = held_out.values - np.where(before < 0, np.nan, medians[before])
    return replace(held_out, values=gaps).taken(np.isfinite(gaps))


class Check(Record):
    """What a healthy log does not show for some rows in a row, held ``against`` a comparison.

    Beyond its bound it ``shows`` a failure by itself, what is odd (a healthy log of another loop
    may be there), or nothing.
    """

    id: str
    signal: str
    against: str
    relation: Literal["above", "below"]
    bound: Annotated[float | None, BeforeValidator(lambda cell: None if cell == "fitted" else cell)]
    rows: int
    shows: Literal["failure", "oddity", "nothing"]
    strength: Strength
    causes: CauseNames
    statement: str

    @property
    def sign(self) -> float:
        """By which amounts are multiplied: larger ones are always more extreme."""
        return 1.0 if self.relation == "above" else -1.0


@cache
def checks() -> dict[str, Check]:
    """The catalogue by names."""
    return {row.id: row for row in packaged_rows("failbench.diagnose", "checks.csv", Check)}


class CheckBound(Record):
    """What amounts of a check mean."""

    usual: float
    limit: float

    def nearness(self, amount: float) -> float:
        """How near an amount is to the limit: 0 as usual or better, 1 at it, 2 far beyond."""
        if self.limit - self.usual <= TIGHTEST:
            return 2.0 if amount > self.limit else 0.0
        return float(np.clip((amount - self.usual) / (self.limit - self.usual), 0.0, 2.0))


def fitted_bounds(
    checks: Mapping[str, Check], amounts: Mapping[str, Array], healthy: Mask, margin: float
) -> dict[str, CheckBound]:
    """Bounds of healthy logs."""
    fitted = {}
    for name, check in checks.items():
        of_healthy = amounts[name][healthy]
        of_healthy = of_healthy[np.isfinite(of_healthy)]
        if check.bound is not None:
            # what a number says by its meaning is so or is not: nothing is near such a bound
            usual = check.sign * check.bound
            fitted[name] = CheckBound(usual=usual, limit=usual + TIGHTEST)
        elif len(of_healthy):
            usual = float(np.median(of_healthy))
            limit = max(widened(of_healthy, margin), usual + TIGHTEST)
            fitted[name] = CheckBound(usual=usual, limit=limit)
    return fitted


@dataclass(frozen=True)
class Compared:
    """A series held against something."""

    amounts: Array
    references: Array
    is_ratio: bool = False

    def limit(self, place: int, bound: float) -> float:
        """A bound in the signal's own unit at one place; no number where it has none."""
        reference = self.references[place]
        return float(reference * np.exp(bound) if self.is_ratio else reference + bound)


@dataclass(frozen=True)
class CheckedSeries:
    """A check and the series that it was held against."""

    check: Check
    series: Series
    held: Compared

    def lasting(self) -> Array:
        """Amounts ``[n]`` that lasted for enough rows, negated under a bound; NaN without any."""
        rows, amounts = self.check.rows, self.check.sign * self.held.amounts
        if rows == 1:
            return amounts
        lasted = np.full(len(amounts), np.nan)
        if len(amounts) >= rows:
            windows = np.lib.stride_tricks.sliding_window_view(amounts, rows)
            lasted[rows - 1 :] = windows.min(axis=1)
        return lasted

    def most_extreme(self) -> float | None:
        """The most extreme amount that lasted; None without any."""
        amounts = self.lasting()
        known = amounts[np.isfinite(amounts)]
        return float(known.max()) if len(known) else None


def checked(log: Log, wanted: Collection[str] | None = None) -> Iterator[CheckedSeries]:
    """Every check whose signal is logged, with what it compares, one after the other."""
    found = series_of(log)
    for name, check in checks().items():
        if check.signal in found and (wanted is None or name in wanted):
            series = found[check.signal]
            yield CheckedSeries(check, series, compared(series.values, check.against))


def compared(values: Array, against: str) -> Compared:
    """Hold a series against something; ``not_finite`` alone reads values that are no numbers."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # medians of nothing are no number
        return COMPARISONS[against](values)


def _nothing(values: Array) -> Array:
    return np.full(len(values), np.nan)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


def _log(values: Array) -> Array:
    finite = _finite(values)
    return np.where(finite > 0, np.log(np.abs(finite) + SMALLEST), np.nan)


def _rolling_median(values: Array, size: int, shift: int) -> Array:
    """Median of so many values up to each, or up to some before it, of shape (n,)."""
    low, high, counts = _middles(values, size, shift)
    return np.where(counts >= FEWEST, low + (high - low) * 0.5, np.nan)


def _middles(values: Array, size: int, shift: int = 0) -> tuple[Array, Array, Places]:
    """The two middle ones of so many values up to each, and how many of these are finite."""
    before = np.full(size - 1 + shift, np.nan)
    padded = np.concatenate([before, _finite(values)])[: size - 1 + len(values)]
    windows = np.sort(np.lib.stride_tricks.sliding_window_view(padded, size), axis=1)  # NaN last
    counts = np.isfinite(windows).sum(axis=1)
    places = np.arange(len(windows))
    return windows[places, (counts - 1) // 2], windows[places, counts // 2], counts


def _pasts(values: Array) -> Array:
    return _rolling_median(values, WINDOW, 1)


def _start(values: Array) -> tuple[float, int]:
    """Median of the start, and where it ends: eight values, or a third of a short series."""
    size = min(WINDOW, len(values) // 3)
    if size < 1 or len(values) < FEWEST:
        return np.nan, len(values)
    return float(np.nanmedian(_finite(values)[:size])), size


def _log_peak(values: Array) -> Compared:
    amounts = _nothing(values)
    sizes = _log(values)
    if len(values) >= WINDOW and np.isfinite(sizes).any():
        amounts[-1] = np.nanmax(sizes)
    return Compared(amounts, np.ones(len(values)), is_ratio=True)


def _unrounded(values: Array) -> Array:
    """Values of which zeros are no number where they may have been printed with too few digits."""
    positive = values[np.isfinite(values) & (values > 0)]
    is_coarse = len(positive) > 0 and positive.max() < DIGITS * positive.min()
    return np.where((values == 0) & is_coarse, np.nan, values)


def _zero_inside(values: Array) -> Compared:
    values = _unrounded(values)
    after = np.maximum.accumulate(np.abs(_finite(values)) > 0)
    return Compared(((values == 0) & after).astype(float), np.zeros(len(values)))


def _past_difference(values: Array) -> Compared:
    pasts = _pasts(values)
    return Compared(_finite(values) - pasts, pasts)


def _ratio(values: Array, references: Array) -> Compared:
    return Compared(_log(values) - _log(references), references, is_ratio=True)


def _start_ratio(values: Array) -> Compared:
    start, size = _start(values)
    references = np.full(len(values), start)
    references[:size] = np.nan
    return _ratio(values, references)


def _new_peak(values: Array) -> Compared:
    """Each value beside the largest before it, where that one is a window old or older."""
    finite = _finite(values)
    peaks = np.fmax.accumulate(finite)
    before = np.concatenate([[np.nan], peaks[:-1]])
    places = np.arange(len(values))
    risen = np.flatnonzero(np.diff(peaks, prepend=np.nan) != 0)
    last = np.maximum.accumulate(np.isin(places, risen) * places)
    age = places - np.concatenate([[0], last[:-1]])
    return _ratio(values, np.where(age > WINDOW, before, np.nan))


def _faded_share(values: Array) -> Compared:
    """Share of the values so far, from the peak on, that are below a hundredth of it."""
    finite = _finite(_unrounded(values))
    peaks = np.fmax.accumulate(finite)
    is_faded = finite < FADED * peaks
    amounts = np.cumsum(is_faded) / np.arange(1, len(values) + 1)
    return Compared(np.where(is_faded, amounts, np.nan), FADED * peaks)


def _since_best(values: Array) -> Compared:
    amounts, finite = _nothing(values), _finite(values)
    if len(values) >= WINDOW and np.isfinite(finite).any():
        later = finite[int(np.nanargmin(finite)) :]
        later = later[np.isfinite(later)]
        if len(later) > SMOOTH:
            amounts[-1] = correlation(later)
    best = np.fmin.accumulate(finite)
    return Compared(amounts, best)


def _best_difference(values: Array) -> Compared:
    smooth = _rolling_median(values, SMOOTH, 0)
    best = np.fmin.accumulate(smooth)
    return Compared(smooth - best, best)


def _progress(values: Array) -> Compared:
    start, _ = _start(values)
    if not start >= FROM_SCRATCH:
        return Compared(_nothing(values), _nothing(values))
    return _fall(values, WINDOW)


def _fall(values: Array, fewest: int) -> Compared:
    """Share of the start by which the lowest smoothed value lies below it."""
    amounts = _nothing(values)
    start, size = _start(values)
    smooth = _rolling_median(values, SMOOTH, 0)[size:]
    if len(values) >= fewest and np.isfinite(smooth).any():
        amounts[-1] = (start - np.nanmin(smooth)) / max(abs(start), SMALLEST)
    return Compared(amounts, np.full(len(values), start))


def _climb(values: Array) -> Compared:
    amounts = _nothing(values)
    finite = _finite(values)
    known = finite[np.isfinite(finite)]
    if len(known) >= WINDOW:
        amounts[-1] = correlation(known)
    return Compared(amounts, np.zeros(len(values)))


def correlation(values: Array) -> float:
    """Kendall's correlation of values with their order, of evenly spaced ones if there are many."""
    taken = values[np.linspace(0, len(values) - 1, min(len(values), MOST)).astype(int)]
    earlier, later = np.triu_indices(len(taken), 1)
    return float(np.sign(taken[later] - taken[earlier]).mean())


COMPARISONS: Final[dict[str, Callable[[Array], Compared]]] = {
    "value": lambda values: Compared(_finite(values), np.zeros(len(values))),
    "log_value": lambda values: Compared(_log(values), np.ones(len(values)), is_ratio=True),
    "log_peak": _log_peak,
    "not_finite": lambda values: Compared((~np.isfinite(values)) * 1.0, _nothing(values)),
    "zero": lambda values: Compared((values == 0) * 1.0, np.zeros(len(values))),
    "zero_inside": _zero_inside,
    "past_difference": _past_difference,
    "past_ratio": lambda values: _ratio(values, _pasts(values)),
    "start_ratio": _start_ratio,
    "new_peak": _new_peak,
    "faded_share": _faded_share,
    "since_best": _since_best,
    "best_difference": _best_difference,
    "progress": _progress,
    "any_progress": lambda values: _fall(values, LONG),
    "climb": _climb,
}
