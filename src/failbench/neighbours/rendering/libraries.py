"""Libraries with loggers of their own: what fairseq, Composer, torchtune and Keras print."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from failbench.diagnose.readers.names import SignalName
from failbench.neighbours.rendering.entries import Entry, entries, mean_since
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import bar, terminal

_NAT: Final = math.log(2)
"""Nats of a bit: fairseq logs losses in bits."""

_GIBIBYTE: Final = 2**30
_GIGABYTE: Final = 1e9
_COMPOSER: Final[tuple[tuple[SignalName, str, float], ...]] = (
    ("loss", "loss/train/total", 1.0),
    ("perplexity", "metrics/train/LanguagePerplexity", 1.0),
    ("grad_norm", "l2_norm/grad/global", 1.0),
    ("learning_rate", "lr-DecoupledAdamW/group0", 1.0),
    ("memory", "memory/peak_allocated_mem", 1 / _GIGABYTE),
    ("throughput", "throughput/tokens_per_sec", 1.0),
)
"""What Composer's callbacks call what they measure, and what they multiply it by."""

_SMALL: Final = 1e-3
"""Below it Keras writes powers of ten."""

_WIDTH: Final = 20
"""Letters of the bar of Keras."""


def fairseq(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """Means since the last line; losses in bits, and their perplexity by powers of two."""
    lines, last = [], -1
    size = run.steps_per_epoch
    for entry in entries(run, shape, first=1):
        updates = entry.step + 1
        epoch, within = divmod(entry.step, size)
        if entry.values:
            loss = mean_since(run.signals["loss"], last, entry.index) / _NAT
            norm = mean_since(run.signals["grad_norm"], last, entry.index)
            speed = mean_since(run.signals["throughput"], last, entry.index)
            last = entry.index
            lines.append(
                f"2026-03-14 10:41:07 | INFO | train_inner | epoch {epoch + 1:03d}:  "
                f"{within + 1:5d} / {size:d} loss={round(loss, 3):g}, "
                f"ppl={_perplexity(loss):g}, wps={round(speed, 1):g}, "
                f"num_updates={updates}, lr={entry.values['learning_rate']:g}, "
                f"gnorm={round(norm, 3):g}, gb_free=9.7, wall={sum(run.seconds[:updates]):.0f}"
            )
        if entry.validation is not None:
            loss = entry.validation / _NAT
            lines.append(
                f"2026-03-14 10:41:07 | INFO | valid | epoch {epoch + 1:03d} | valid on 'valid' "
                f"subset | loss {round(loss, 3):g} | ppl {_perplexity(loss):g} | "
                f"num_updates {updates}"
            )
    return terminal(lines, run, shape, rng)


def _perplexity(bits: float) -> float:
    """Two to the power of a loss, in two digits behind the point; infinite if too large."""
    try:
        return round(math.pow(2, round(bits, 3)), 2)
    except OverflowError:
        return math.inf


def composer(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """A heading for each batch, and what was measured in lines below it."""
    lines: list[str] = []
    for entry in entries(run, shape, first=1):
        if entry.values:
            batch = entry.step + 1
            lines += [f"[batch={batch}/{run.planned_steps}]:", f"\t Train time/batch: {entry.step}"]
            lines += [
                f"\t Train {name}: {factor * entry.values[signal]:.4f}"
                for signal, name, factor in _COMPOSER
                if signal in entry.values
            ]
        if entry.validation is not None:
            lines += [
                "[Eval batch=1/1] Eval on eval data:",
                f"\t Eval metrics/eval/LanguageCrossEntropy: {entry.validation:.4f}",
            ]
    return terminal(lines, run, shape, rng)


def torchtune(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """All values of a step after its number, in all their digits."""
    lines = []
    speed = float(rng.uniform(1, 20))
    for entry in entries(run, shape, first=1):
        step, values = entry.step + 1, entry.values
        if values:
            measured = {
                "loss": values["loss"],
                "lr": values["learning_rate"],
                "tokens_per_second_per_gpu": values.get("throughput", 0.0),
                "peak_memory_active": values["memory"] / _GIBIBYTE,
            }
            if "grad_norm" in values:
                measured["grad_norm"] = values["grad_norm"]
            if shape.bars:
                lines.append(_torchtune_bar(run, entry, speed))
            pairs = "".join(f"{name}:{value} " for name, value in measured.items())
            lines.append(f"Step {step} | {pairs}")
        if entry.validation is not None:
            lines.append(f"Step {step} | val_loss:{entry.validation} ")
    return terminal(lines, run, shape, rng)


def _torchtune_bar(run: LoggedRun, entry: Entry, speed: float) -> str:
    epoch, within = divmod(entry.step, run.steps_per_epoch)
    state = bar(within + 1, run.steps_per_epoch, speed)
    return f"{epoch + 1}|{entry.step + 1}|Loss: {entry.values['loss']}: {state}"


def keras(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """Bars of epochs, with the mean of the epoch so far; what was held out at its end."""
    size = run.steps_per_epoch
    epochs = math.ceil(run.planned_steps / size)
    lines: list[str] = []
    total, count, held_out = 0.0, 0, None
    for entry in _every_step(run, shape):
        epoch, within = divmod(entry.step, size)
        if within == 0 or not lines:
            lines.append(f"Epoch {epoch + 1}/{epochs}")
            total, count, held_out = 0.0, 0, None
        total, count = total + entry.values.get("loss", math.nan), count + 1
        held_out = held_out if entry.validation is None else entry.validation
        over = within + 1 == size
        if not over and (within + 1) % shape.every:
            continue
        shown = [("loss", total / count)]
        if "perplexity" in shape.signals:
            shown.append(("perplexity", _exponential(total / count)))
        if over and held_out is not None:
            shown.append(("val_loss", held_out))
        if over and "learning_rate" in entry.values:
            shown.append(("learning_rate", entry.values["learning_rate"]))
        milliseconds = 1000 * run.seconds[entry.index]
        full = _WIDTH * (within + 1) // size
        state = f"\x1b[32m{'━' * full}\x1b[0m\x1b[37m{'━' * (_WIDTH - full)}\x1b[0m"
        values = "".join(f" - {name}: {_keras_number(value)}" for name, value in shown)
        lines.append(
            f"\x1b[1m{within + 1}/{size}\x1b[0m {state} \x1b[1m{count // 30}s\x1b[0m "
            f"{milliseconds:.0f}ms/step{values}"
        )
    return terminal(lines, run, shape, rng)


def _every_step(run: LoggedRun, shape: LogShape) -> list[Entry]:
    """All steps, whichever the bar shows: its means are over all."""
    columns = [(name, run.signals[name]) for name in shape.signals]
    return [
        Entry(
            index,
            step,
            (step + 1) / run.steps_per_epoch,
            {name: value for name, column in columns if (value := column[index]) is not None},
            run.validation[index] if shape.validation else None,
        )
        for index, step in enumerate(run.steps)
    ]


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _keras_number(value: float) -> str:
    return f"{value:.4f}" if abs(value) > _SMALL else f"{value:.4e}"
