"""The Trainer of Hugging Face's transformers: its state, and the dicts that it prints."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from failbench.neighbours.rendering.entries import entries
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import beside, terminal

SAVE_STEPS: Final = (10, 20, 50, 100)
"""Steps between checkpoints, with which the state is written; of runs of 300 steps."""

_SHORTEST: Final = 1e-3
"""Seconds, so that nothing is divided by a time that a clock did not see."""

_UNPRINTED: Final = ("step", "total_flos")
_ROUNDED: Final = 0.5
"""Share of states that version 4 wrote, which rounds losses to four digits."""


def history(run: LoggedRun, shape: LogShape, rounded: bool) -> Iterator[dict[str, Any]]:
    """``log_history`` as ``Trainer._maybe_log_save_evaluate`` and its loop make it.

    The logged loss is the mean since the last log. With ``logging_nan_inf_filter``, which is the
    default, a loss that is not finite is not added to it: the mean of those before it since then
    is, so that losses that are all NaN are logged as 0. A run that came to its planned end has a
    summary as its last row.
    """
    losses = run.signals["loss"]
    total, last, upto, whole = np.float32(0), 0, 0, 0.0
    for entry in entries(run, shape, first=1):
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
    for index in range(upto, len(losses)):
        total = added(total, losses[index], run.steps[index] - last)
    if run.ending.kind == "completed" and run.steps:
        yield _summary(run, whole + float(total))


def added(total: np.float32, loss: float | None, steps_since_log: int) -> np.float32:
    """The sum of losses since the last log with another step's.

    >>> float(added(np.float32(6), float("nan"), 1))
    9.0
    """
    with np.errstate(all="ignore"):
        if loss is None or not math.isfinite(loss):
            return np.float32(total + total / np.float32(1 + steps_since_log))
        return np.float32(total + np.float32(loss))


def trainer_state(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``trainer_state.json`` of the last checkpoint, and of the folder itself at the end."""
    rounded = bool(rng.random() < _ROUNDED)
    every = SAVE_STEPS[rng.integers(len(SAVE_STEPS))]
    rows = list(history(run, shape, rounded))
    done = len(run.steps)
    saved = done if run.ending.kind == "completed" else done // every * every
    printed = tuple(_printed_v4(row) if rounded else _printed_v5(row) for row in rows)
    files = beside(run, shape, rng, printed)
    if not saved:
        return files
    kept = [row for row in rows if row["step"] <= saved]
    state: dict[str, Any] = {
        "best_global_step": None,
        "best_metric": None,
        "best_model_checkpoint": None,
        "epoch": saved / run.steps_per_epoch,
        "eval_steps": 10,
        "global_step": saved,
        "is_hyper_param_search": False,
        "is_local_process_zero": True,
        "is_world_process_zero": True,
        "log_history": kept,
        "logging_steps": shape.every,
        "max_steps": run.planned_steps,
        "num_input_tokens_seen": 0,
        "num_train_epochs": math.ceil(run.planned_steps / run.steps_per_epoch),
        "save_steps": every,
        "stateful_callbacks": {},
        "total_flos": 0.0,
        "train_batch_size": run.sequences,
        "trial_name": None,
        "trial_params": None,
    }
    folder = "" if run.ending.kind == "completed" else f"checkpoint-{saved}/"
    text = json.dumps(state, indent=2, sort_keys=True) + "\n"
    return {f"{folder}trainer_state.json": text.encode(), **files}


def _summary(run: LoggedRun, total: float) -> dict[str, Any]:
    """The last row of a training that came to its end, with the mean of all losses."""
    steps, seconds = len(run.steps), max(sum(run.seconds), _SHORTEST)
    return {
        "train_runtime": round(seconds, 4),
        "train_samples_per_second": round(run.sequences * steps / seconds, 3),
        "train_steps_per_second": round(steps / seconds, 3),
        "total_flos": 0.0,
        "train_loss": total / steps,
        "epoch": steps / run.steps_per_epoch,
        "step": steps,
    }


def trainer_v4(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """What version 4 prints: floats as Python shows them."""
    return terminal([_printed_v4(row) for row in history(run, shape, True)], run, shape, rng)


def trainer_v5(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """What version 5 prints: floats with four digits, as text."""
    return terminal([_printed_v5(row) for row in history(run, shape, False)], run, shape, rng)


def _printed_v4(row: dict[str, Any]) -> str:
    shown = {name: value for name, value in row.items() if name not in _UNPRINTED}
    return str({**shown, "epoch": round(row["epoch"], 2)})


def _printed_v5(row: dict[str, Any]) -> str:
    return str({name: f"{value:.4g}" for name, value in row.items() if name not in _UNPRINTED})
