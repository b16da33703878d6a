"""Noise: telemetry as it would read, were its measurements less exact."""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.telemetry import STEP_SCHEMA, Telemetry

MEASURED = ("loss", "gradient_norm", "validation_loss", "memory_bytes", "step_seconds")
"""Step columns that a run measures; the others are counted or set, and so known exactly."""


def with_noise(telemetry: Telemetry, level: float, generator: np.random.Generator) -> Telemetry:
    """Multiply every measurement of every step by a factor of its own.

    The factors are log-normal with a median of one, the distribution of errors that are a share of
    a positive quantity (Limpert, Stahel and Abbt, 2001, "Log-normal distributions across the
    sciences", BioScience 51): what is small stays small, and no measurement changes its sign. What
    was not measured, or is not finite, stays so.
    """
    factors = generator.lognormal(0.0, level, (len(MEASURED), telemetry.steps.height))
    noisy = []
    for name, factor in zip(MEASURED, factors, strict=True):
        changed = pl.col(name).cast(pl.Float64) * pl.Series(factor)
        whole = STEP_SCHEMA[name].is_integer()
        noisy.append((changed.round() if whole else changed).cast(STEP_SCHEMA[name]).alias(name))
    return Telemetry(telemetry.runs, telemetry.steps.with_columns(noisy))
