from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.run_curves import run_curves
from failbench.studies.case_studies.figure import last_losses
from failbench.telemetry import Telemetry

RUN = "runaway-transformer-adamw-s0"


def with_remedy(telemetry: Telemetry) -> Telemetry:
    """The run once more, as if recorded with a remedy."""
    named = f"{RUN}-clipped"
    run = telemetry.runs.filter(pl.col("run_id") == RUN)
    steps = telemetry.steps.filter(pl.col("run_id") == RUN)
    changed = run.with_columns(run_id=pl.lit(named), kind=pl.lit("remedy"), twin_of=pl.lit(RUN))
    return Telemetry(
        pl.concat([telemetry.runs, changed]),
        pl.concat([telemetry.steps, steps.with_columns(run_id=pl.lit(named))]),
    )


def test_curves_of_a_run_have_its_remedies_as_roles_of_their_own(small_telemetry):
    plain = run_curves(small_telemetry, RUN)
    remedied = run_curves(with_remedy(small_telemetry), RUN)
    assert set(remedied["role"]) == {"failing", "twin", "clipped"}
    assert remedied.filter(pl.col("role") != "clipped").equals(plain)


def test_last_losses_are_means_of_the_last_finite_steps(small_telemetry):
    ends = last_losses(run_curves(small_telemetry, RUN), 2)
    rows = {role: (value, step) for role, value, step in ends.iter_rows()}
    assert rows["twin"] == (pytest.approx((5.1 + 5.2) / 2), 9)
    assert rows["failing"] == (pytest.approx((9 + 40) / 2), 9)
