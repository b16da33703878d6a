"""The detector: when and how a run failed, from telemetry alone, against healthy runs."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.telemetry import Ending

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
    """A run's measurements; in the series over steps what is missing or not finite is infinite."""

    # The gradient norm is not among them: it may be large in a run that learns, and is evidence for
    # a diagnosis rather than a failure.

    loss: Series
    rise: Series
    smooth_rise: float
    final_validation: float
    worsening: float
    slowdown: float


@dataclass(frozen=True)
class HealthyLimits:
    """Upper limits of the signals of successful runs; see :class:`Signals`."""

    loss: float
    rise: float
    final_validation: float
    worsening: float
    slowdown: float


@dataclass(frozen=True)
class Detection:
    """The outcome of a run, and the step from which snapshots are counted back."""

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
    with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN, and counts as infinite
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


def _sustained(series: Series, steps: int) -> Series:
    """The minimum of a series over each window of consecutive steps."""
    if len(series) < steps:
        return np.zeros(0)
    minima: Series = sliding_window_view(series, steps).min(-1)
    return minima


def healthy_limits(runs: list[Signals], params: DetectorParams) -> HealthyLimits:
    """Mean plus ``deviations`` standard deviations over successful runs."""
    # Of a run, for the loss its maximum, for the rise that of its trailing mean: single steps of a
    # healthy run may exceed a limit, many consecutive ones do not.
    if len(runs) < 10:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "kind",
            f"there are {len(runs)} successful runs to learn healthy limits from; it takes 10.",
            "Raise its successes in record.settings of params.yaml, and run `failbench record`.",
        )

    def limit(values: list[float]) -> float:
        return float(np.mean(values) + params.deviations * np.std(values, ddof=1))

    return HealthyLimits(
        loss=limit([float(run.loss.max()) for run in runs]),
        rise=limit([run.smooth_rise for run in runs]),
        final_validation=limit([run.final_validation for run in runs]),
        # A held-out loss that hardly changes is no failure, however fast healthy runs improve.
        worsening=max(params.worse_nats, limit([run.worsening for run in runs])),
        slowdown=max(params.slow_factor, limit([run.slowdown for run in runs])),
    )


def detect(
    ending: Ending, steps: pl.DataFrame, limits: HealthyLimits, params: DetectorParams
) -> Detection:
    """The outcome of a run: where it was ended, or began to exceed limits, or at its last step."""
    # Of the last, *degraded* if the held-out loss was lower before, *stalled* if it never fell,
    # *slow* if only the step time is unhealthy.
    last = int(steps["step"][-1]) if steps.height else 0
    if ending != "completed":
        ended = {"exception": "crash", "signal": "killed", "timeout": "hung"}
        return Detection(ended[ending], last)
    signals = measure(steps, params)
    window = params.consecutive_steps
    outside = (_sustained(signals.loss, window) > limits.loss) | (
        _sustained(signals.rise, window) > limits.rise
    )
    if outside.any():
        return Detection("diverged", int(steps["step"][int(outside.argmax())]))
    if signals.worsening > limits.worsening:
        return Detection("degraded", last)
    if signals.final_validation > limits.final_validation:
        return Detection("stalled", last)
    if signals.slowdown > limits.slowdown:
        return Detection("slow", last)
    return Detection("completed", last)
