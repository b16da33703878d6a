"""A run as a log could tell of it: what was measured up to a step, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.diagnose.readers.names import SignalName
from failbench.neighbours.rendering.tracebacks import Ending, neutral_traceback

_COLUMNS: Final[dict[SignalName, str]] = {
    "loss": "loss",
    "grad_norm": "gradient_norm",
    "learning_rate": "learning_rate",
    "memory": "memory_bytes",
}


@dataclass(frozen=True)
class LoggedRun:
    """What a log could say of a run."""

    steps: tuple[int, ...]
    signals: Mapping[SignalName, Sequence[float | None]]
    validation: tuple[float | None, ...]
    seconds: tuple[float, ...]
    sequences: int
    steps_per_epoch: int
    planned_steps: int
    ending: Ending


def logged_run(
    telemetry_run: Mapping[str, Any], steps: pl.DataFrame, last_step: int | None
) -> LoggedRun:
    """What a log could say of a recorded run.

    A loop logs a step when it is over, so that the step in which an exception was raised is not
    among those that are logged, nor one in which a run was killed or hung.
    """
    ending = _ending(telemetry_run)
    if last_step is not None:
        if ending.kind == "completed" and telemetry_run["steps"] > last_step + 1:  # under way
            ending = Ending("silence")
        steps = steps.filter(pl.col("step") <= last_step)
    if ending.kind == "exception":
        steps = steps.head(steps.height - 1)
    if ending.kind != "completed":
        steps = steps.filter(pl.col("loss").is_not_null(), pl.col("gradient_norm").is_not_null())
    signals: dict[SignalName, Sequence[float | None]] = {
        signal: steps[column].to_list() for signal, column in _COLUMNS.items()
    }
    seconds = tuple(steps["step_seconds"].fill_null(0.0).to_list())
    signals["throughput"] = [
        count / time if time > 0 else None
        for count, time in zip(steps["tokens"].fill_null(0), seconds, strict=True)
    ]
    signals["perplexity"] = [perplexity(loss) for loss in signals["loss"]]
    return LoggedRun(
        steps=tuple(steps["step"].to_list()),
        signals=signals,
        validation=tuple(steps["validation_loss"].to_list()),
        seconds=seconds,
        sequences=telemetry_run["nominal_batch_size"],
        steps_per_epoch=_steps_per_epoch(telemetry_run),
        planned_steps=telemetry_run["planned_steps"],
        ending=ending,
    )


def perplexity(loss: float | None) -> float | None:
    """The exponential of a loss in nats, infinite where it is too large for a number.

    >>> perplexity(0.0), perplexity(1e4), perplexity(None)
    (1.0, inf, None)
    """
    if loss is None:
        return None
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


def _steps_per_epoch(run: Mapping[str, Any]) -> int:
    """Batches, as they were planned, that hold the tokens of the corpus once."""
    batch = run["nominal_batch_size"] * run["nominal_sequence_length"]
    tokens = run["corpus_tokens"]
    return max(1, round(tokens / batch)) if tokens else int(run["planned_steps"])


def _ending(run: Mapping[str, Any]) -> Ending:
    if run["ending"] == "exception":
        text = run["error_traceback"] or f"{run['error_type']}: {run['error_message'] or ''}"
        return Ending("exception", neutral_traceback(text))
    if run["ending"] == "signal":
        return Ending("death", signal=run["exit_signal"])
    return Ending("silence" if run["ending"] == "timeout" else "completed")
