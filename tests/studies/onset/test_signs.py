"""What counts as a sign, and what as sudden."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.onset.course import SIGNALS, step_distances
from failbench.studies.onset.signs import (
    Limits,
    first_sign,
    first_signs,
    healthy_reach,
    persisting,
)
from failbench.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry

LIMITS = dict.fromkeys(SIGNALS, Limits(3.0, 3.0))


def recorded(losses, kind="success", start=0):
    """Runs of constant signals but for their losses, a list of each."""
    runs, steps = [], []
    for number, values in enumerate(losses, start=start):
        run_id = f"{kind}-{number}"
        runs.append(
            dict.fromkeys(RUN_SCHEMA)
            | {"run_id": run_id, "kind": kind, "capacity_bytes": 100, "seed": number}
        )
        steps += [
            dict.fromkeys(STEP_SCHEMA)
            | {
                "run_id": run_id,
                "step": step,
                "loss": loss,
                "gradient_norm": 1.0,
                "memory_bytes": 50,
                "step_seconds": 0.1,
            }
            for step, loss in enumerate(values)
        ]
    return Telemetry(pl.DataFrame(runs, schema=RUN_SCHEMA), pl.DataFrame(steps, schema=STEP_SCHEMA))


def together(*parts):
    return Telemetry(pl.concat(p.runs for p in parts), pl.concat(p.steps for p in parts))


def healthy(runs=12, steps=30):
    return recorded([[2.0 + 0.1 * (run % 3)] * steps for run in range(runs)])


def distances_of(losses):
    both = together(healthy(), recorded([losses], "failure"))
    return step_distances(both).filter(pl.col("run_id") == "failure-0")


def test_a_distance_is_in_standard_deviations_of_successful_runs_to_either_side():
    spread = np.std([2.0, 2.1, 2.2] * 4, ddof=1)
    found = distances_of([2.1 + spread, 2.1 - 2 * spread, 2.1])
    np.testing.assert_allclose(found["loss"], [1.0, 2.0, 0.0], atol=1e-5)


def test_what_is_not_finite_is_infinitely_far_and_what_is_missing_says_nothing():
    found = distances_of([float("nan"), float("inf"), None])
    assert found["loss"].to_list() == [np.inf, np.inf, 0.0]


def test_later_steps_are_held_against_the_last_that_half_of_the_successful_runs_reached():
    found = distances_of([2.1] * 40)
    assert found.height == 40
    assert found["loss"].is_finite().all()


def test_too_few_successful_runs_are_refused_by_name():
    with pytest.raises(BadInputError, match="a setting has 3 successful runs"):
        step_distances(healthy(runs=3))


def test_a_step_time_is_relative_to_the_first_steps_of_its_own_run():
    slow = Telemetry(
        *(
            table.with_columns(run_id=pl.format("{}-slow", "run_id"))
            for table in vars(healthy()).values()
        )
    )
    slower = slow.steps.with_columns(step_seconds=pl.col("step_seconds") * 7)
    found = step_distances(together(healthy(), Telemetry(slow.runs, slower)))
    assert found["run_id"].n_unique() == 24
    assert set(found["step_seconds"]) == {0.0}


@pytest.mark.parametrize(
    ("distance", "position"),
    [
        ([0, 4, 4, 0, 4, 4, 4, 0], 4),  # three on end
        ([0, 4, 4, 0, 4, 4, 0, 0], None),  # two on end, twice
        ([0, 0, 0, 0, 0, 0, 4, 4], 6),  # two, and then the failure
        ([4, 4, 4], 0),
        ([4], 0),
        ([0], None),
        ([], None),
    ],
)
def test_a_deviation_persists_for_some_steps_or_up_to_the_failure(distance, position):
    assert persisting(np.array(distance, dtype=float), Limits(3.0, 3.0), 3) == position


def test_a_short_deviation_at_the_end_must_exceed_what_single_healthy_steps_did():
    distance = np.array([0.0, 0.0, 0.0, 4.0])
    assert persisting(distance, Limits(3.0, 5.0), 3) is None
    assert persisting(distance, Limits(3.0, 3.5), 3) == 3


def frame(**signals):
    length = len(next(iter(signals.values())))
    columns = {name: signals.get(name, [0.0] * length) for name in SIGNALS}
    return pl.DataFrame({"run_id": ["a"] * length, "step": range(length), **columns})


def test_the_sign_is_the_first_over_all_signals():
    run = frame(loss=[0.0, 0.0, 0.0, 5.0, 5.0, 5.0], memory=[0.0, 5.0, 5.0, 5.0, 0.0, 0.0])
    sign = first_sign(run, LIMITS, 3)
    assert (sign.signal, sign.step) == ("memory", 1)


def test_the_step_of_the_failure_is_no_sign_of_it():
    run = frame(loss=[0.0, 0.0, 0.0, 9.0])
    ends = pl.DataFrame({"run_id": ["a"], "failure_step": [3]})
    assert first_signs(run, ends, LIMITS, 3)["lead"].to_list() == [None]
    later = ends.with_columns(failure_step=4)
    assert first_signs(run, later, LIMITS, 3)["lead"].to_list() == [1]


def test_a_slow_rise_is_half_as_high_late_and_a_jump_at_once():
    slow, jump = [float(step) for step in range(40)], [0.0] * 10 + [40.0] * 30
    assert first_sign(frame(loss=slow), LIMITS, 3).rise == 16
    assert first_sign(frame(loss=jump), LIMITS, 3).rise == 0


def test_no_successful_run_has_a_sign_in_the_band_of_what_they_reached():
    recordings = recorded(
        [list(2.0 + np.random.default_rng(run).normal(0, 0.1, 60)) for run in range(12)]
    )
    distances = step_distances(recordings)
    limits = healthy_reach(distances, 5)
    ends = recordings.runs.select("run_id", failure_step=pl.lit(60))
    assert first_signs(distances, ends, limits, 5)["lead"].null_count() == 12
