"""Smooth run: telemetry of a training that goes well, and ways to spoil a signal of it."""

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
    table = {
        "run_id": ["run"] * steps,
        "step": at,
        "loss": loss,
        "gradient_norm": np.full(steps, 0.8) + 0.01 * (at % 7),
        "learning_rate": 4e-3 * (1 - at / (2 * steps)),
        "clip_norm": np.ones(steps),
        "memory_bytes": np.full(steps, 10_000_000),
        "step_seconds": 0.02 + 0.0001 * (at % 5),
        "sequences": np.full(steps, 16),
        "tokens": np.full(steps, 16 * 34),
        "unknown_tokens": np.zeros(steps),
        "covered_tokens": np.full(steps, 16 * 34),
        "max_token_id": np.full(steps, 500),
        "mean_length": np.full(steps, 34.0),
        "max_length": np.full(steps, 40),
        "validation_loss": [
            float(value) + 0.05 if step % 10 == 0 else None for step, value in enumerate(loss)
        ],
    }
    for name, change in changes.items():
        table[name] = change(np.array(table[name], dtype=object))
    return pl.DataFrame({name: list(values) for name, values in table.items()}).cast(STEP_SCHEMA)


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
