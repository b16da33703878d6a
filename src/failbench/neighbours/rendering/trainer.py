"""The Trainer of Hugging Face's transformers: its state, and the dicts that it prints."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from failbench.neighbours.rendering.run import Files, Writer
from failbench.neighbours.rendering.tracebacks import declared

SAVE_STEPS: Final = (10, 20, 50, 100)  # steps between checkpoints, with which the state is written
_SHORTEST: Final = 1e-3  # seconds, so that nothing is divided by a time that a clock did not see
_ROUNDED: Final = 0.5  # share of states that version 4 wrote, which rounds losses to four digits


def history(log: Writer, *, rounded: bool) -> Iterator[dict[str, Any]]:
    """``log_history`` as ``Trainer._maybe_log_save_evaluate`` and its loop make it."""
    run = log.run
    losses = run.signals["loss"]  # those that are not finite: ``logging_nan_inf_filter``
    total, last, upto, whole = np.float32(0), 0, 0, 0.0
    for entry in log.entries(first=1):
        for index in range(upto, entry.index + 1):
            total = added(total, losses[index], run.steps[index] - last)
        upto = entry.index + 1
        step = entry.step + 1
        if entry.values:
            loss = float(total) / (step - last)
            whole += float(total)
            total, last = np.float32(0), step
            yield {
                "loss": round(loss, 4) if rounded else loss,
                "grad_norm": entry.values.get("grad_norm", math.nan),
                "learning_rate": entry.values.get("learning_rate", 0.0),
                "epoch": entry.epoch,
                "step": step,
            }
        if entry.validation is not None:
            seconds = max(run.seconds[entry.index], _SHORTEST)
            yield {
                "eval_loss": entry.validation,
                "eval_runtime": round(seconds, 4),
                "eval_samples_per_second": round(run.sequences / seconds, 3),
                "eval_steps_per_second": round(1 / seconds, 3),
                "epoch": entry.epoch,
                "step": step,
            }
    if run.ending.kind == "completed" and run.steps:
        for index in range(upto, len(losses)):
            total = added(total, losses[index], run.steps[index] - last)
        steps, seconds = len(run.steps), max(sum(run.seconds), _SHORTEST)
        yield {
            "train_runtime": round(seconds, 4),
            "train_samples_per_second": round(run.sequences * steps / seconds, 3),
            "train_steps_per_second": round(steps / seconds, 3),
            "total_flos": 0.0,
            "train_loss": (whole + float(total)) / steps,
            "epoch": steps / run.steps_per_epoch,
            "step": steps,
        }


def added(total: np.float32, loss: float | None, steps_since_log: int) -> np.float32:
    """The sum of losses since the last log with another step's.

    >>> float(added(np.float32(6), float("nan"), 1))
    9.0
    """
    with np.errstate(all="ignore"):
        if loss is None or not math.isfinite(loss):
            return np.float32(total + total / np.float32(1 + steps_since_log))
        return np.float32(total + np.float32(loss))


def printed(row: dict[str, Any], *, rounded: bool) -> str:
    """A row as version 4 prints it, floats as Python shows them, or 5, with four digits as text."""
    shown = {name: value for name, value in row.items() if name not in ("step", "total_flos")}
    if rounded:
        return str({**shown, "epoch": round(row["epoch"], 2)})
    return str({name: f"{value:.4g}" for name, value in shown.items()})


def trainer_lines(log: Writer, *, rounded: bool) -> list[str]:
    """What is printed of a training."""
    return [printed(row, rounded=rounded) for row in history(log, rounded=rounded)]


def trainer_state(log: Writer) -> Files:
    """``trainer_state.json`` of the last checkpoint, and of the folder itself at the end."""
    run = log.run
    rounded = bool(log.rng.random() < _ROUNDED)
    every = SAVE_STEPS[log.rng.integers(len(SAVE_STEPS))]
    completed = run.ending.kind == "completed"
    saved = len(run.steps) if completed else len(run.steps) // every * every
    files = log.beside(trainer_lines(log, rounded=rounded))
    if not saved:
        return files
    state = {
        **declared("trainer_state.json"),
        "epoch": saved / run.steps_per_epoch,
        "global_step": saved,
        "log_history": [row for row in history(log, rounded=rounded) if row["step"] <= saved],
        "logging_steps": log.shape.every,
        "max_steps": run.planned_steps,
        "num_train_epochs": math.ceil(run.planned_steps / run.steps_per_epoch),
        "save_steps": every,
        "train_batch_size": run.sequences,
    }
    folder = "" if completed else f"checkpoint-{saved}/"
    text = json.dumps(state, indent=2, sort_keys=True) + "\n"
    return {f"{folder}trainer_state.json": text.encode(), **files}
