"""The lens ``hazard``: when, in tokens of thinking, right and wrong answers come.

They compete, and truncation censors them, so that the share that ends wrong is the cumulative
incidence of Aalen and Johansen (1978): one less Kaplan and Meier's would be of a world without
right answers. Curves are statsmodels'; what is resampled are the same estimators as arrays.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight

from failbench.base.arrays import Array
from failbench.neighbours.lenses.looking import Measured
from failbench.neighbours.lenses.slices import Integers, Scale, Slice, group_sums, ratio
from failbench.statistics.intervals import wilson

AT_RISK: Final = 20  # open answers below which a hazard is not looked at
LEAST: Final = 10  # wrong answers below which nothing is said of when they come
RIGHT_EVENT: Final = 1
WRONG_EVENT: Final = 2  # what ends an answer; 0 is truncation, which censors it
_EVENTS: Final = {"right": RIGHT_EVENT, "wrong": WRONG_EVENT}


@dataclass(frozen=True)
class Course:
    """Events by token in the sample and in every resample, ``[n_draws, n_tokens]`` each."""

    right: Array
    wrong: Array
    open: Array

    @property
    def incidence(self) -> tuple[Array, Array]:
        """Cumulative incidences of right and wrong answers (Aalen and Johansen, 1978)."""
        unanswered = np.cumprod(1 - self.hazard(self.right + self.wrong), axis=1)
        before = np.hstack([np.ones((len(unanswered), 1)), unanswered[:, :-1]])
        return (
            np.cumsum(before * self.hazard(self.right), axis=1),
            np.cumsum(before * self.hazard(self.wrong), axis=1),
        )

    def hazard(self, events: Array) -> Array:
        """Events by open answers; 0 where none is open."""
        return np.nan_to_num(ratio(events, self.open))


def course_of(part: Slice, weights: Array) -> Course:
    """Count the events of a slice by token."""
    size = int(part.tokens.max()) + 1
    ended = group_sums(weights, part.tokens, size)
    return Course(
        right=group_sums(weights * part.right, part.tokens, size),
        wrong=group_sums(weights * part.wrong, part.tokens, size),
        open=np.cumsum(ended[:, ::-1], axis=1)[:, ::-1],
    )


def measure_hazard(part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
    """Measure hazards and incidences of right and wrong answers."""
    course = course_of(part, weights)
    looked_at = np.flatnonzero(course.open[0] >= min(AT_RISK, course.open[0, 0]))
    horizon = int(looked_at[-1])
    right, wrong = course.incidence
    hazards = np.cumsum(course.hazard(course.wrong), axis=1)
    enough = course.wrong[0].sum() >= LEAST
    overtaking, ahead = _ahead(course, scale.bucket, horizon)
    loading = ratio(hazards[:, horizon // 2], hazards[:, horizon])
    draws = {
        "right_incidence": right[:, horizon],
        "wrong_incidence": wrong[:, horizon],
        "horizon": np.full(len(weights), float(horizon)),
        "right_half": _half(right),
        "wrong_half": _half(wrong) if enough else np.full(len(weights), np.nan),
        "overtaking": overtaking,
        "wrong_ahead": ahead,
        "front_loading": loading if enough else np.full(len(weights), np.nan),
    }
    sizes = {name: float(part.rows.height) for name in draws}
    sizes["wrong_ahead"] = float((course.right[0] + course.wrong[0]).sum())
    sizes["right_half"] = float(course.right[0].sum())
    sizes |= dict.fromkeys(("wrong_half", "front_loading"), float(course.wrong[0].sum()))
    return Measured(draws, sizes, partial(_points, part, course, scale.bucket, confidence))


def _half(incidence: Array) -> Array:
    """The token by which half of what is ever reached is reached; NaN where nothing is."""
    last = incidence[:, -1:]
    first = (incidence >= last / 2).argmax(axis=1).astype(np.float64)
    return np.where(last[:, 0] > 0, first, np.nan)


def _in_buckets(course: Course, bucket: int) -> tuple[Array, Array, Array]:
    """Right, wrong and open at the beginning by bucket, ``[n_draws, n_buckets]`` each."""
    starts = np.arange(0, course.open.shape[1], bucket)
    return (
        np.add.reduceat(course.right, starts, axis=1),
        np.add.reduceat(course.wrong, starts, axis=1),
        course.open[:, starts],
    )


def _ahead(course: Course, bucket: int, horizon: int) -> tuple[Array, Array]:
    """The first bucket from which wrong answers stay likelier, and the share given from there."""
    right, wrong, _ = _in_buckets(course, bucket)
    ahead, answers = wrong > right, right + wrong
    within = slice(horizon // bucket + 1)
    # buckets without an answer of either kind leave things as they were
    kept = (ahead | (answers == 0))[:, within]
    stays = np.logical_and.accumulate(kept[:, ::-1], axis=1)[:, ::-1] & ahead[:, within]
    token = np.where(stays.any(axis=1), stays.argmax(axis=1) * bucket, horizon)
    share = ratio((answers * ahead).sum(axis=1), answers.sum(axis=1))
    return token.astype(np.float64), share


def _points(part: Slice, course: Course, bucket: int, confidence: float) -> pl.DataFrame:
    """A row a bucket: events, hazards with Wilson's intervals, incidences at its end."""
    right, wrong, at_risk = (each[0] for each in _in_buckets(course, bucket))
    starts = np.arange(len(right)) * bucket
    ends = np.minimum(starts + bucket - 1, int(part.tokens.max()))
    truncated = np.add.reduceat(
        np.bincount(part.tokens, part.truncated, minlength=course.open.shape[1]), starts
    )
    events = (RIGHT_EVENT * part.right + WRONG_EVENT * part.wrong).astype(np.int64)
    curves = incidences(part.tokens, events, ends.astype(np.float64), confidence)
    table = pl.DataFrame({"first_token": starts, "last_token": ends})
    counts = {"open": at_risk, "right": right, "wrong": wrong, "truncated": truncated}
    hazards = {}
    for name in _EVENTS:
        pairs = zip(counts[name], at_risk, strict=True)
        bounds = np.array([wilson(min(d / n, 1.0), n, confidence) for d, n in pairs])
        hazards[f"{name}_hazard"] = counts[name] / at_risk
        hazards |= {f"{name}_hazard_low": bounds[:, 0], f"{name}_hazard_high": bounds[:, 1]}
    return table.with_columns(
        *(pl.Series(name, values.astype(np.int64)) for name, values in counts.items()),
        *(pl.Series(name, values) for name, values in hazards.items()),
        *(pl.Series(name, values).fill_nan(None) for name, values in curves.items()),
    )


def incidences(
    tokens: Integers, events: Integers, at: Array, confidence: float
) -> dict[str, Array]:
    """Cumulative incidences and hazards at tokens, with pointwise intervals.

    On the scales of log(-log) (Marubini and Valsecchi, 1995) and of the logarithm (Aalen, 1978).
    """
    times, counts = np.unique(tokens, return_counts=True)
    open_at = counts[::-1].cumsum()[::-1]
    place = np.searchsorted(times, at, side="right") - 1
    deviation = float(stats.norm.ppf((1 + confidence) / 2))
    results: dict[str, Array] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        # before the first event, and after the last answer, a variance is 0 by 0
        fitted = CumIncidenceRight(tokens, events) if (events > 0).any() else None
        for name, event in _EVENTS.items():
            ended = np.array([((tokens == time) & (events == event)).sum() for time in times])
            hazard = (ended / open_at).cumsum()
            spread = np.exp(deviation * np.sqrt((ended / open_at**2).cumsum()) / hazard)
            curves = {"hazard_sum": (hazard, hazard / spread, hazard * spread)}
            if fitted is None or event > len(fitted.cinc):
                nothing = np.zeros(len(times))
                curves["incidence"] = (nothing, nothing / 0, nothing / 0)
            else:
                share, error = fitted.cinc[event - 1], fitted.cinc_se[event - 1]
                power = np.exp(deviation * error / (share * -np.log(share)))
                curves["incidence"] = (share, share**power, share ** (1 / power))
            for kind, bounds in curves.items():
                for suffix, values in zip(("", "_low", "_high"), bounds, strict=True):
                    before = 0.0 if not suffix else np.nan
                    results[f"{name}_{kind}{suffix}"] = np.where(place < 0, before, values[place])
    return results
