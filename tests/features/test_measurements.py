"""Step times and endings of one run, which the paper's features leave out."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.measurements import MEASUREMENTS, measurements


def measured(
    seconds: list[float | None], ending: str = "completed", failure_step: int | None = None
) -> dict[str, float | None]:
    """Of one run whose steps took so long."""
    last = len(seconds) - 1 if failure_step is None else failure_step
    run = {"run_id": "one", "ending": ending, "failure_step": last}
    steps = [
        dict.fromkeys(STEP_SCHEMA) | {"run_id": "one", "step": step, "step_seconds": taken}
        for step, taken in enumerate(seconds)
    ]
    telemetry = Telemetry(
        pl.DataFrame([dict.fromkeys(RUN_SCHEMA) | run], schema=RUN_SCHEMA),
        pl.DataFrame(steps, schema=STEP_SCHEMA),
    )
    actual = measurements(telemetry)
    assert actual.columns == ["run_id", *MEASUREMENTS]
    return actual.drop("run_id").row(0, named=True)


RATIOS = ("step_seconds_ratio", "slowest_step_ratio", "slow_step_share")


@pytest.mark.parametrize(
    ("seconds", "ratios"),
    [([0.25] * 150, (1, 1, 0)), ([0.25] * 120 + [0.75] * 20, (3, 3, 20 / 140))],
    ids=["steady", "three times as slow at its end"],
)
def test_ratios_are_to_what_the_run_took_before_on_any_machine(seconds, ratios):
    actual = measured(seconds)
    assert [actual[name] for name in RATIOS] == pytest.approx(ratios)
    assert (actual["step_seconds_trend"] == pytest.approx(0, abs=1e-12)) == (ratios[0] == 1)
    slow = measured([4 * second for second in seconds])
    assert list(slow.values()) == pytest.approx(list(actual.values()), rel=1e-5, abs=1e-9)
    assert measured([*seconds, *[9.0] * 30], failure_step=len(seconds) - 1) == actual


@pytest.mark.parametrize("seconds", [[], [0.3], [None, None, 0.3]])
def test_a_run_that_died_before_two_timed_steps_has_no_step_times(seconds):
    actual = measured(seconds, "exception")
    names = ("ended_exception", "step_seconds_ratio", "step_seconds_trend")
    assert [actual[name] for name in names] == [1.0, None, None]


@pytest.mark.parametrize("ending", ["completed", "exception", "signal", "timeout"])
def test_each_ending_has_a_column_but_completion(ending):
    actual = measured([0.25] * 10, ending)
    for each in ("exception", "signal", "timeout"):
        assert actual[f"ended_{each}"] == float(each == ending)
