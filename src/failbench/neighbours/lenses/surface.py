"""The lens ``surface``: where, in length and depth, answers exceed guessing no more."""

import math
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.special import expit

from failbench.base.arrays import Array
from failbench.neighbours.lenses.looking import Measured
from failbench.neighbours.lenses.slices import Integers, Scale, Slice, group_sums, ratio
from failbench.statistics.intervals import wilson

# a row for each cell, and with null depth for each length
_SHARES: Final = ("accuracy", "ci_low", "ci_high", "accuracy_answered", "answered_ci_low")
POINTS: Final = pl.Schema(
    dict.fromkeys(("length", "depth", "n", "right", "truncated"), pl.Int64)
    | dict.fromkeys((*_SHARES, "answered_ci_high"), pl.Float64)
)

FALL: Final = 2 * math.log(3)  # logits from three quarters to one quarter
LONGEST_FALL: Final = 4.0  # of the way from the easiest to the hardest problems: as good as no fall
STEPS: Final = 60  # of Newton's method at most
LONGEST_STEP: Final = 2.0  # of a coefficient, on the scale of numbers with standard deviation one
ENOUGH: Final = 1e-9  # a step below this ends the fit


def measure_surface(part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
    """Measure accuracy over length and depth."""
    del scale
    guess = part.rows["guess"].to_numpy()
    cells, first = part.cells, np.unique(part.cells, return_index=True)[1]

    def by_cell(of_answers: Array) -> Array:
        return group_sums(weights * of_answers, cells, len(first))

    above = np.maximum(by_cell(part.right - guess), 0.0)
    trials = by_cell(1.0 - guess)
    chosen = {
        "accuracy": np.ones_like(guess),
        "accuracy_answered": 1.0 - part.truncated,
        "accuracy_shortest": (part.lengths == part.lengths.min()).astype(np.float64),
        "accuracy_longest": (part.lengths == part.lengths.max()).astype(np.float64),
    }
    of_trials = {name: weights @ (each * (1.0 - guess)) for name, each in chosen.items()}
    shares = {
        name: ratio(np.maximum(weights @ (each * (part.right - guess)), 0.0), of_trials[name])
        for name, each in chosen.items()
    }
    truncated, failed = weights @ part.truncated, weights @ part.failed
    n = weights.sum(axis=1)
    draws = {
        **shares,
        "truncated": ratio(truncated, n),
        "truncated_of_failures": ratio(truncated, failed),
        "depth_effect": _depth_effect(part, weights, guess),
        **_boundaries(part.lengths[first], part.depths[first], above, trials),
    }
    sizes = dict.fromkeys(draws, float(of_trials["accuracy"][0]))
    sizes |= {name: float(trials[0]) for name, trials in of_trials.items()}
    sizes |= {"truncated": n[0], "truncated_of_failures": failed[0]}
    return Measured(draws, sizes, partial(_points, part, guess, confidence))


def _boundaries(
    lengths: Integers, depths: Integers, above: Array, trials: Array
) -> dict[str, Array]:
    """What the logistic fit of accuracy on length and depth says."""
    axes = {"length": lengths, "depth": depths}
    varied = {name: axis.astype(np.float64) for name, axis in axes.items() if np.ptp(axis) > 0}
    nothing = np.full(len(above), np.nan)
    results = {f"{kind}_{name}": nothing for name in axes for kind in ("boundary", "slope")}
    if not varied:
        return {**results, "descent": nothing, "relative_fall": nothing}
    numbers = np.column_stack(list(varied.values()))
    intercept, *slopes = firth_fit(numbers, above, trials).T
    middle = numbers.mean(axis=0)
    easy = above.sum(axis=1) > 0.5 * trials.sum(axis=1)
    descent = np.zeros(len(above))
    for place, (name, slope) in enumerate(zip(varied, slopes, strict=True)):
        values = np.unique(varied[name])
        others = sum(
            (each * middle[other] for other, each in enumerate(slopes) if other != place), intercept
        )
        step = float(np.median(np.diff(values)))
        ends = values[0] - step, values[-1] + step
        # where accuracy does not fall, all of it lies on one side of a boundary
        beyond = np.where(easy, ends[1], ends[0])
        at = -others / np.where(slope < 0, slope, -1.0)
        results[f"boundary_{name}"] = np.where(slope < 0, at, beyond).clip(*ends)
        results[f"slope_{name}"] = slope
        descent = descent - slope * (values[-1] - values[0])
    fall = np.full(len(above), LONGEST_FALL)
    np.divide(FALL, descent, out=fall, where=descent > 0)
    return {**results, "descent": descent, "relative_fall": fall.clip(max=LONGEST_FALL)}


def firth_fit(numbers: Array, successes: Array, trials: Array) -> Array:
    """Intercept and slopes of logits, for many resamples at once; no kept library has it.

    Bias reduction of Firth (1993, Biometrika 80) keeps the fit finite at a sharp cliff, where
    shares are 0 on one side and 1 on the other (Heinze and Schemper, 2002, Stat. Med. 21).
    """
    centre, spread = numbers.mean(axis=0), numbers.std(axis=0)
    design = np.column_stack([np.ones(len(numbers)), (numbers - centre) / spread])
    coefficients = np.zeros((len(successes), design.shape[1]))
    for _ in range(STEPS):
        fitted = expit(coefficients @ design.T)
        weights = trials * fitted * (1 - fitted)
        information = np.einsum("dg,gi,gj->dij", weights, design, design)
        inverse = np.linalg.pinv(information, hermitian=True)  # numbers may go together
        leverage = weights * np.einsum("gi,dij,gj->dg", design, inverse, design)
        score = (successes - trials * fitted + leverage * (0.5 - fitted)) @ design
        step = np.einsum("dij,dj->di", inverse, score).clip(-LONGEST_STEP, LONGEST_STEP)
        coefficients = coefficients + step
        if np.abs(step).max() < ENOUGH:
            break
    slopes = coefficients[:, 1:] / spread
    return np.column_stack([coefficients[:, 0] - slopes @ centre, slopes])


def _depth_effect(part: Slice, weights: Array, guess: Array) -> Array:
    """Accuracy at the least depth less that at the greatest, over lengths that have both."""
    shallow, deep = part.depths == part.depths.min(), part.depths == part.depths.max()
    shared = np.intersect1d(part.lengths[shallow], part.lengths[deep])
    if part.depths.min() == part.depths.max() or not len(shared):
        return np.full(len(weights), np.nan)
    group = np.searchsorted(shared, part.lengths).clip(max=len(shared) - 1)
    inside = np.isin(part.lengths, shared)

    def accuracy(chosen: Array) -> Array:
        right = group_sums(weights * chosen * (part.right - guess), group, len(shared))
        return ratio(right, group_sums(weights * chosen * (1.0 - guess), group, len(shared)))

    difference = accuracy((shallow & inside).astype(float)) - accuracy(
        (deep & inside).astype(float)
    )
    return np.asarray(difference.mean(axis=1))


def _points(part: Slice, guess: Array, confidence: float) -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for length in np.unique(part.lengths):
        of_length = part.lengths == length
        for depth in (None, *np.unique(part.depths[of_length])):
            chosen = of_length if depth is None else of_length & (part.depths == depth)
            answered = chosen & (part.truncated == 0)
            rows.append(
                (
                    int(length),
                    None if depth is None else int(depth),
                    int(chosen.sum()),
                    int(part.right[chosen].sum()),
                    int(part.truncated[chosen].sum()),
                    *_share(part.right[chosen], guess[chosen], confidence),
                    *_share(part.right[answered], guess[answered], confidence),
                )
            )
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def _share(right: Array, guess: Array, confidence: float) -> tuple[float | None, ...]:
    """Accuracy beyond guessing and Wilson's interval of the counts so adjusted."""
    trials = float((1.0 - guess).sum())
    if trials <= 0:
        return None, None, None
    share = max(float((right - guess).sum()), 0.0) / trials
    return (share, *wilson(share, trials, confidence))
