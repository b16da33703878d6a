import numpy as np
import polars as pl

from failbench.base.telemetry import STEP_SCHEMA

PARAMETERS = 200_000
STEPS = 300
NAN = float("nan")


def healthy(steps=STEPS, **changes):
    """A smooth run: every signal as a training that goes well has it."""
    at = np.arange(steps)
    loss = 3.0 + 3.0 * np.exp(-at / 80)
    usual = {"clip_norm": 1.0, "memory_bytes": 10_000_000, "sequences": 16, "tokens": 16 * 34}
    usual |= {"unknown_tokens": 0, "covered_tokens": 16 * 34, "max_token_id": 500}
    usual |= {"mean_length": 34.0, "max_length": 40}
    table = {"run_id": ["run"] * steps, "step": at, "loss": loss}
    table |= {name: np.full(steps, value) for name, value in usual.items()}
    table |= {"gradient_norm": 0.8 + 0.01 * (at % 7), "step_seconds": 0.02 + 0.0001 * (at % 5)}
    table["learning_rate"] = 4e-3 * (1 - at / (2 * steps))
    table["validation_loss"] = [None if step % 10 else float(loss[step]) + 0.05 for step in at]
    for name, change in changes.items():
        table[name] = change(np.array(table[name], dtype=object))
    return pl.DataFrame({name: list(table[name]) for name in STEP_SCHEMA}).cast(STEP_SCHEMA)


def from_step(step, value):
    """Set a signal from a step on, where it is measured."""

    def change(values):
        return [
            each if at < step or each is None else value(at) if callable(value) else value
            for at, each in enumerate(values)
        ]

    return change


def only_at(step, value):
    return lambda values: [value if at == step else each for at, each in enumerate(values)]
