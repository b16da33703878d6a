"""Pretraining from scratch: what nanoGPT, Megatron, torchtitan and llm.c print."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np

from failbench.neighbours.rendering.entries import entries, mean_since
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import terminal

_WINDOW: Final = 128
"""Values of which llm.c takes mean and spread (``llmc/outlier_detector.h``)."""

_LARGEST_PPL: Final = 20
"""Losses above it give the perplexity of this one in Megatron."""

_GIBIBYTE: Final = 2**30
_CAPACITY: Final = 16 * _GIBIBYTE
"""Of the device of which torchtitan prints the share."""


def nanogpt(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """An estimate of both losses before the step, then the loss of the step."""
    lines = []
    for entry in entries(run, shape):
        loss = run.signals["loss"][entry.index]
        if entry.validation is not None and loss is not None:
            both = f"train loss {loss:.4f}, val loss {entry.validation:.4f}"
            lines.append(f"step {entry.step}: {both}")
        if entry.values:
            share = "-100.00" if entry.step < 5 else "1.27"
            milliseconds = 1000 * run.seconds[entry.index]
            lines.append(
                f"iter {entry.step}: loss {loss:.4f}, time {milliseconds:.2f}ms, mfu {share}%"
            )
    return terminal(lines, run, shape, rng)


def megatron(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """Means since the last line; a mean that is not above 0, NaN among them, is left out."""
    lines, last = [], -1
    for entry in entries(run, shape, first=1):
        step = entry.step + 1
        if entry.values:
            seconds = mean_since(run.seconds, last, entry.index)
            loss = mean_since(run.signals["loss"], last, entry.index)
            last = entry.index
            shown = f" lm loss: {loss:.6E} |" if loss > 0 else ""
            lines.append(
                f" [2026-03-14 10:41:07] iteration {step:8d}/{run.planned_steps:8d} |"
                f" consumed samples: {step * run.sequences:12d} |"
                f" elapsed time per iteration (ms): {1000 * seconds:.1f} |"
                f" learning rate: {entry.values['learning_rate']:.6E} |"
                f" global batch size: {run.sequences:5d} |{shown} loss scale: 1.0 |"
                f" grad norm: {entry.values['grad_norm']:.3f} |"
                " number of skipped iterations:   0 | number of nan iterations:   0 |"
            )
        if entry.validation is not None:
            ppl = math.exp(min(_LARGEST_PPL, entry.validation))
            text = (
                f" validation loss at iteration {step} | lm loss value: {entry.validation:.6E} | "
                f"lm loss PPL: {ppl:.6E} | "
            )
            rule = "-" * (len(text) + 1)
            lines += [rule, text, rule]
    return terminal(lines, run, shape, rng)


def torchtitan(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """A line of its logger, with the share of memory and of the device's speed."""
    head = "[titan] 2026-03-14 10:41:07,110 - root - INFO - "
    lines = []
    for entry in entries(run, shape, first=1):
        step, values = entry.step + 1, entry.values
        if values:
            memory = values["memory"]
            lines.append(
                f"{head}step: {step:2}  loss: {values['loss']:7.4f}  "
                f"grad_norm: {values['grad_norm']:7.4f}  "
                f"memory: {memory / _GIBIBYTE:5.2f}GiB({100 * memory / _CAPACITY:.2f}%)  "
                f"tps: {round(values.get('throughput', 0)):,}  tflops: 0.31  mfu: 0.10%"
            )
        if entry.validation is not None:
            lines.append(f"{head}validate step: {step:2}  loss: {entry.validation:7.4f}")
    return terminal(lines, run, shape, rng)


def llm_c(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """Each step with how far loss and norm lie from the mean of the last, in deviations."""
    lines = []
    of_loss, of_norm = Outliers(), Outliers()
    for entry in entries(run, shape):
        values = entry.values
        if values:
            loss, norm = values["loss"], values["grad_norm"]
            milliseconds = 1000 * run.seconds[entry.index]
            lines.append(
                f"step {entry.step + 1:4d}/{run.planned_steps} | "
                f"loss {loss:7.6f} ({of_loss.score(loss):+.2f}z)| "
                f"norm {norm:6.4f} ({of_norm.score(norm):+.2f}z)| "
                f"lr {values['learning_rate']:.2e} | {milliseconds:.2f} ms | "
                f"0.9% bf16 MFU | {values.get('throughput', 0):.0f} tok/s"
            )
        if entry.validation is not None:
            lines.append(f"val loss {entry.validation:f}")
    return terminal(lines, run, shape, rng)


def llm_c_log(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``main.log``, which the process writes itself and which says nothing of its end."""
    del rng
    lines = []
    for entry in entries(run, shape):
        values = entry.values
        if entry.validation is not None:
            lines.append(f"s:{entry.step} tel:{entry.validation:.4f}")
        if values:
            lines.append(
                f"s:{entry.step} trl:{values['loss']:.4f} lr:{values['learning_rate']:.6f} "
                f"norm:{values['grad_norm']:.2f}"
            )
    return {"main.log": "".join(f"{line}\n" for line in lines).encode()}


class Outliers:
    """How far a value lies from the last ones; not a number until there are enough of them."""

    def __init__(self) -> None:
        self._values: deque[float] = deque()
        self._sum = self._squares = 0.0

    def score(self, value: float) -> float:
        """The value's distance from the mean, in standard deviations."""
        if math.isnan(value):
            return math.nan
        if len(self._values) == _WINDOW:
            old = self._values.popleft()
            self._sum -= old
            self._squares -= old * old
        self._values.append(value)
        self._sum += value
        self._squares += value * value
        if len(self._values) < _WINDOW:
            return math.nan
        mean = self._sum / _WINDOW
        variance = self._squares / _WINDOW - mean * mean
        return (value - mean) / math.sqrt(variance) if variance > 0 else 0.0
