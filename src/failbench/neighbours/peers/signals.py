"""Signals: the series of a recorded run that documented rules read, and what they make of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from failbench.base.arrays import Array

Steps = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Signal:
    """Values of a run in the order of its steps; what a step did not reach is left out."""

    steps: Steps
    values: Array


SIGNALS: Final[Mapping[str, str]] = {
    "loss": "training loss of a step",
    "gradient_norm": "norm of all gradients, before clipping",
    "gradient_rms": "the same over the root of the number of parameters",
    "learning_rate": "of a step",
    "step_seconds": "duration of a step",
    "padding_share": "share of places of a batch that hold no token",
    "validation_loss": "held-out loss, every few steps",
    "epoch_loss": "mean training loss since the validation before, at each validation",
    "epoch_gradient_norm": "norm of all gradients, at each validation",
    "epoch_gradient_rms": "the same over the root of the number of parameters",
    "validation_gap": "held-out less mean training loss, as a share of the latter",
    "validation_rise": "change of the held-out loss where the training loss did not rise",
}
"""By name what they are. An epoch stands for the steps from one validation to the next."""


def rule_signals(steps: pl.DataFrame, parameters: int | None) -> dict[str, Signal]:
    """The signals of one run."""
    root = math.sqrt(parameters) if parameters else math.nan
    places = pl.col("sequences") * pl.col("max_length")
    is_epoch = pl.col("validation_loss").is_not_null()
    epoch = is_epoch.shift(1, fill_value=False).cum_sum()
    table = steps.with_columns(
        padding_share=1 - pl.col("tokens") / pl.when(places > 0).then(places),
        epoch_loss=pl.col("loss").mean().over(epoch),
        gradient_rms=pl.col("gradient_norm").cast(pl.Float64) / root,
    )
    epochs = table.filter(is_epoch).with_columns(
        epoch_gradient_norm="gradient_norm",
        epoch_gradient_rms="gradient_rms",
        validation_gap=(pl.col("validation_loss") - pl.col("epoch_loss")) / pl.col("epoch_loss"),
        validation_rise=pl.when(pl.col("epoch_loss").diff() <= 0).then(
            pl.col("validation_loss").diff()
        ),
    )
    return {
        name: _signal(epochs if name.startswith(("epoch", "validation")) else table, name)
        for name in SIGNALS
    }


def _signal(table: pl.DataFrame, name: str) -> Signal:
    known = table.select("step", pl.col(name).cast(pl.Float64)).drop_nulls()
    return Signal(known["step"].to_numpy().astype(np.int64), known[name].to_numpy())


Statistic = Callable[[Array, int, float], Array]
"""From values ``[n_values]``, a window (in values) and a margin to a number for each value: of the
values so far, and NaN, which is beyond no threshold, where there are too few of them."""


def _of_last(values: Array, window: int, of: Callable[[Array], Array]) -> Array:
    """A figure of the last values; NaN before there is a whole window."""
    if values.size < window:
        return np.full(values.size, np.nan)
    figures = of(np.lib.stride_tricks.sliding_window_view(values, window))
    return np.concatenate([np.full(window - 1, np.nan), figures])


def _mean_of_last(values: Array, window: int) -> Array:
    return _of_last(values, window, lambda last: last.mean(axis=1))


def _mean_so_far(values: Array) -> Array:
    mean: Array = np.cumsum(values) / np.arange(1, values.size + 1)
    return mean


def _shifted(values: Array) -> Array:
    """Each value's predecessor."""
    return np.append(np.nan, values[:-1])


def _jump(values: Array, window: int, _margin: float) -> Array:
    """Distance of a value above the one before from the mean before it, as a share of that mean.

    The mean is over a window, or over as many values as there are.
    """
    means = np.array([values[max(at - window, 0) : at].mean() for at in range(1, values.size)])
    distance = np.abs(values[1:] - means) / np.abs(means)
    return np.append(np.nan, np.where(values[1:] > values[:-1], distance, np.nan))


def _share_above_first(values: Array, window: int, margin: float) -> Array:
    """Share of the window before a value above what the first window's largest value was.

    No more than the margin counts as the largest. Nothing is said before the second window ends.
    """
    if values.size < 2 * window:
        return np.full(values.size, np.nan)
    cap = min(float(values[:window].max()), margin)
    shares = _shifted(_mean_of_last((values > cap).astype(np.float64), window))
    shares[: 2 * window - 1] = np.nan
    return shares


def _looks_since_best(values: Array, _window: int, margin: float) -> Array:
    """Values since the last one that was lower than all before it by more than a margin."""
    since = np.zeros(values.size)
    best, count = np.inf, 0
    for at, each in enumerate(values):
        if each < best - margin:
            best, count = float(each), 0
        elif at:
            count += 1
        since[at] = count
    return since


def _increase_percent(values: Array, window: int, _margin: float) -> Array:
    """How far the value is above the one a window before, in percent of that."""
    changes = 100 * (values[window:] - values[:-window]) / values[:-window]
    return np.concatenate([np.full(min(window, values.size), np.nan), changes])


def _decrease_percent(values: Array, window: int, margin: float) -> Array:
    fall = -_increase_percent(values, window, margin)
    return np.where(fall >= 0, fall, np.nan)


def _step_ratio(values: Array, _window: int, _margin: float) -> Array:
    """The larger over the smaller of a value and the one before, if both are above zero."""
    before = _shifted(values)
    ratio = np.maximum(values / before, before / values)
    return np.where((values > 0) & (before > 0), ratio, np.nan)


def _outliers(values: Array, _window: int, margin: float) -> Array:
    """How many of the values so far are further from their mean than a number of deviations."""
    means = _mean_so_far(values)
    deviations = np.sqrt(np.fmax(_mean_so_far(values**2) - means**2, 0.0))
    outside = np.abs(values[None, :] - means[:, None]) > (margin * deviations)[:, None]
    so_far = np.tri(values.size, dtype=bool)
    counts: Array = (outside & so_far).sum(axis=1).astype(np.float64)
    return counts


STATISTICS: Final[dict[str, Statistic]] = {
    "value": lambda values, *_: values,
    "positive": lambda values, *_: np.where(values > 0, values, np.nan),
    "not_finite": lambda values, *_: (~np.isfinite(values)).astype(np.float64),
    "is_nan": lambda values, *_: np.isnan(values).astype(np.float64),
    "not_finite_so_far": lambda values, *_: np.maximum.accumulate(~np.isfinite(values)).astype(
        np.float64
    ),
    "largest_so_far": lambda values, *_: np.fmax.accumulate(values),
    "smallest_so_far": lambda values, *_: np.fmin.accumulate(values),
    # told of zeros alone
    "share_zero": lambda values, *_: np.where(values == 0, _mean_so_far(values == 0), np.nan),
    "range": lambda values, window, _: _of_last(values, window, lambda last: np.ptp(last, axis=1)),
    # beyond a margin, as a share of the smallest of the last values
    "relative_range": lambda values, window, margin: _of_last(
        values, window, lambda last: (np.ptp(last, axis=1) - margin) / np.abs(last).min(axis=1)
    ),
    # of the values before it, of which there must be a whole window
    "over_mean": lambda values, window, _: values / _shifted(_mean_of_last(values, window)),
    "over_all_before": lambda values, *_: values / _shifted(_mean_so_far(values)),
    "jump": _jump,
    "share_above_first": _share_above_first,
    "looks_since_best": _looks_since_best,
    "increase_percent": _increase_percent,
    "decrease_percent": _decrease_percent,
    "step_ratio": _step_ratio,
    "outliers": _outliers,
}
