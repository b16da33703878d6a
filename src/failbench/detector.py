"""When did a run fail, and how: one detector that knows nothing but telemetry.

It is blind to scenario, expected outcome and twin. Every threshold is the mean plus some standard
deviations of a statistic over successful runs of the same architecture and optimizer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from pydantic import Field

from failbench.errors import BadInputError
from failbench.records import Record
from failbench.telemetry import Ending

Series = NDArray[np.float64]


class DetectorParams(Record):
    """The section ``detector`` of params.yaml."""

    deviations: float = Field(gt=0)
    consecutive_steps: int = Field(gt=1)
    head_steps: int = Field(gt=1)
    tail_steps: int = Field(gt=1)
    validations: int = Field(gt=0)
    slow_factor: float = Field(gt=1)
    worse_nats: float = Field(ge=0)


@dataclass(frozen=True)
class Signals:
    """What the detector measures of one run that was not ended from without.

    The first two are series over steps, in which missing and non-finite values count as infinite.
    A gradient norm is not among them: it may be large in a run that learns, and is evidence for a
    diagnosis and no failure in itself.

    Attributes
    ----------
    rise
        The loss above the lowest trailing mean that was reached before.
    smooth_rise
        The highest that the trailing mean itself ever stood above a lower one before it.
    final_validation
        Mean of the last held-out losses.
    worsening
        ``final_validation`` minus the lowest such mean before; negative while a run improves.
    slowdown
        Mean seconds of the last steps over the median of the first.
    """

    loss: Series
    rise: Series
    smooth_rise: float
    final_validation: float
    worsening: float
    slowdown: float


@dataclass(frozen=True)
class HealthyBand:
    """Upper limits of what successful runs do; see :class:`Signals`."""

    loss: float
    rise: float
    final_validation: float
    worsening: float
    slowdown: float


@dataclass(frozen=True)
class Detection:
    """What became of a run, and the step from which snapshots are taken back."""

    outcome: str
    failure_step: int


def _finite_or_infinite(values: Series) -> Series:
    return np.where(np.isfinite(values), values, np.inf)


def measure(steps: pl.DataFrame, params: DetectorParams) -> Signals:
    """Measure the signals of one run from its step rows (sorted by step)."""
    loss = _finite_or_infinite(steps["loss"].cast(pl.Float64).fill_null(np.nan).to_numpy())
    seconds = steps["step_seconds"].cast(pl.Float64).to_numpy()
    validation = _finite_or_infinite(
        steps["validation_loss"].drop_nulls().cast(pl.Float64).to_numpy()
    )
    with np.errstate(invalid="ignore"):  # infinity minus infinity is no number, and counts as one
        smooth = sliding_window_view(loss, min(params.consecutive_steps, len(loss))).mean(-1)
        lowest = np.minimum.accumulate(smooth)
        # The trailing mean that ends at step t is known from step t + 1 on.
        known_from = len(loss) - len(lowest) + 1
        rise = np.zeros_like(loss)
        rise[known_from:] = loss[known_from:] - lowest[:-1]
        smooth_rise = float(_finite_or_infinite(smooth - lowest).max())
        means = sliding_window_view(validation, min(params.validations, len(validation))).mean(-1)
        before = means[: -params.validations]
        worsening = means[-1] - before.min() if len(before) else 0.0
    head = float(np.median(seconds[: params.head_steps]))
    return Signals(
        loss=loss,
        rise=_finite_or_infinite(rise),
        smooth_rise=smooth_rise,
        final_validation=float(means[-1]),
        worsening=float(worsening) if np.isfinite(worsening) else np.inf,
        slowdown=float(seconds[-params.tail_steps :].mean()) / head,
    )


def _held(series: Series, steps: int) -> Series:
    """The level that a series holds over each window of so many consecutive steps."""
    if len(series) < steps:
        return np.zeros(0)
    held: Series = sliding_window_view(series, steps).min(-1)
    return held


def healthy_band(runs: list[Signals], params: DetectorParams) -> HealthyBand:
    """Mean plus ``deviations`` standard deviations of each statistic over successful runs.

    Of the loss the statistic is the highest value of the run, and of the rise that of its trailing
    mean: single steps of a healthy run may leave the band, many in a row do not.

    Raises
    ------
    BadInputError
        If fewer than ten successful runs were given.
    """
    if len(runs) < 10:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "kind",
            f"there are {len(runs)} successful runs to learn the healthy band from; it takes 10.",
            "Raise its successes in record.settings of params.yaml, and run `failbench record`.",
        )

    def limit(values: list[float]) -> float:
        return float(np.mean(values) + params.deviations * np.std(values, ddof=1))

    return HealthyBand(
        loss=limit([float(run.loss.max()) for run in runs]),
        rise=limit([run.smooth_rise for run in runs]),
        final_validation=limit([run.final_validation for run in runs]),
        # A held-out loss that all but stands still is no worse, however fast healthy runs improve.
        worsening=max(params.worse_nats, limit([run.worsening for run in runs])),
        slowdown=max(params.slow_factor, limit([run.slowdown for run in runs])),
    )


def detect(
    ending: Ending, steps: pl.DataFrame, band: HealthyBand, params: DetectorParams
) -> Detection:
    """What became of a run.

    A run that was ended (by an exception, a signal, or for its silence) failed there. Otherwise the
    first of ``consecutive_steps`` steps in a row outside the healthy band is where it diverged.
    What is left failed, if at all, at its last step, where a person would look: *degraded* if the
    held-out loss was lower before, *stalled* if it never came down, *slow* if only time is amiss.
    """
    last = int(steps["step"][-1]) if steps.height else 0
    if ending != "completed":
        ended = {"exception": "crash", "signal": "killed", "timeout": "hung"}
        return Detection(ended[ending], last)
    signals = measure(steps, params)
    window = params.consecutive_steps
    outside = (_held(signals.loss, window) > band.loss) | (_held(signals.rise, window) > band.rise)
    if outside.any():
        return Detection("diverged", int(steps["step"][int(outside.argmax())]))
    if signals.worsening > band.worsening:
        return Detection("degraded", last)
    if signals.final_validation > band.final_validation:
        return Detection("stalled", last)
    if signals.slowdown > band.slowdown:
        return Detection("slow", last)
    return Detection("completed", last)
