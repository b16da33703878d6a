from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.studies.architectures.noise import MEASURED, with_noise
from failbench.telemetry import STEP_SCHEMA, Telemetry


def noisy(telemetry: Telemetry, level: float = 0.05, seed: int = 0) -> Telemetry:
    return with_noise(telemetry, level, np.random.default_rng(seed))


def test_only_measurements_change_and_runs_and_types_stay(small_telemetry):
    noised = noisy(small_telemetry)
    assert_frame_equal(noised.runs, small_telemetry.runs)
    assert noised.steps.schema == STEP_SCHEMA
    assert_frame_equal(noised.steps.drop(MEASURED), small_telemetry.steps.drop(MEASURED))
    for name in ("loss", "gradient_norm", "memory_bytes", "step_seconds"):
        assert not noised.steps[name].equals(small_telemetry.steps[name])


def test_factors_have_a_median_of_one_and_the_level_as_deviation_of_their_logarithm():
    many = pl.DataFrame(
        {name: [1.0] * 20_000 for name in STEP_SCHEMA if name != "run_id"}
    ).with_columns(run_id=pl.lit("a"), memory_bytes=pl.lit(10**9))
    telemetry = Telemetry(pl.DataFrame(), many.select(STEP_SCHEMA.names()).cast(STEP_SCHEMA))
    noised = noisy(telemetry, level=0.2).steps
    logarithms = np.log(noised["loss"].cast(pl.Float64).to_numpy())
    assert np.median(logarithms) == pytest.approx(0, abs=0.005)
    assert logarithms.std() == pytest.approx(0.2, rel=0.02)
    memory = np.log(noised["memory_bytes"].to_numpy() / 1e9)
    assert abs(np.corrcoef(logarithms, memory)[0, 1]) < 0.03  # each column has factors of its own
