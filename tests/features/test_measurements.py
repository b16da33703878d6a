from __future__ import annotations

import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.measurements import MEASUREMENTS, measurements


def recorded(
    seconds: list[float | None], ending: str = "completed", failure_step: int | None = None
) -> Telemetry:
    """One run whose steps took so long."""
    run = dict.fromkeys(RUN_SCHEMA) | {
        "run_id": "one",
        "ending": ending,
        "failure_step": len(seconds) - 1 if failure_step is None else failure_step,
    }
    steps = [
        dict.fromkeys(STEP_SCHEMA) | {"run_id": "one", "step": step, "step_seconds": taken}
        for step, taken in enumerate(seconds)
    ]
    return Telemetry(
        pl.DataFrame([run], schema=RUN_SCHEMA), pl.DataFrame(steps, schema=STEP_SCHEMA)
    )


def measured(*arguments: object, **keywords: object) -> dict[str, float | None]:
    actual = measurements(recorded(*arguments, **keywords))  # type: ignore[arg-type]
    assert actual.columns == ["run_id", *MEASUREMENTS]
    return actual.drop("run_id").row(0, named=True)


def test_a_steady_run_has_ratios_of_one_and_no_trend():
    actual = measured([0.25] * 150)
    assert actual["step_seconds_ratio"] == 1.0
    assert actual["slowest_step_ratio"] == 1.0
    assert actual["slow_step_share"] == 0.0
    assert actual["step_seconds_trend"] == pytest.approx(0.0, abs=1e-12)


def test_a_run_that_becomes_three_times_as_slow_shows_it():
    actual = measured([0.25] * 120 + [0.75] * 20)
    assert actual["step_seconds_ratio"] == pytest.approx(3.0)
    assert actual["slowest_step_ratio"] == pytest.approx(3.0)
    assert actual["slow_step_share"] == pytest.approx(20 / 140)


def test_nothing_depends_on_the_speed_of_the_machine():
    seconds = [0.25 + 0.01 * (step % 7) for step in range(150)]
    slow, fast = measured([4 * second for second in seconds]), measured(seconds)
    assert list(slow.values()) == pytest.approx(list(fast.values()), rel=1e-5, abs=1e-9)


def test_steps_after_the_failure_are_not_seen():
    cut = measured([0.25] * 120 + [9.0] * 30, failure_step=119)
    assert cut == measured([0.25] * 120)


@pytest.mark.parametrize("seconds", [[], [0.3], [None, None, 0.3]])
def test_a_run_that_died_before_two_timed_steps_has_no_step_times(seconds):
    actual = measured(seconds, "exception")
    assert actual["ended_exception"] == 1.0
    assert actual["step_seconds_ratio"] is None
    assert actual["step_seconds_trend"] is None


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("completed", (0.0, 0.0, 0.0)),
        ("exception", (1.0, 0.0, 0.0)),
        ("signal", (0.0, 1.0, 0.0)),
        ("timeout", (0.0, 0.0, 1.0)),
    ],
)
def test_each_ending_has_a_column_but_completion(ending, expected):
    actual = measured([0.25] * 10, ending)
    names = ("ended_exception", "ended_signal", "ended_timeout")
    assert tuple(actual[name] for name in names) == expected
