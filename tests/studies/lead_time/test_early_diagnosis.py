"""Early diagnosis: the first right answer that stays, after an alarm and before the failure."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.lead_time.early_diagnosis import lead_times, shares
from failbench.studies.lead_time.looks import looks, spread_over_fault

RUNS = pl.DataFrame(
    {
        "run_id": ["r"],
        "category": ["optimization"],
        "scenario": ["s"],
        "onset_step": [20],
        "failure_step": [43],
    }
)


def lead(right: list[bool], alarm: int | None) -> tuple[int | None, int | None]:
    """Looks at 20, 25, 30, 35 and 40."""
    answers = pl.DataFrame(
        {
            "run_id": "r",
            "step": [20, 25, 30, 35, 40][: len(right)],
            "repeat": 0,
            "category": "optimization",
            "prediction": ["optimization" if is_right else "unknown" for is_right in right],
        }
    )
    alarms = pl.DataFrame({"run_id": ["r"], "alarm": [alarm]}, schema_overrides={"alarm": pl.Int64})
    return lead_times(RUNS, alarms, answers).select("lead", "delay").row(0)


def test_the_diagnosis_must_stay_right_until_the_failure():
    assert lead([True, False, True, True, True], alarm=20) == (13, 10)
    assert lead([True, True, True, True, False], alarm=20) == (None, None)
    assert lead([True, True, True, True, True], alarm=20) == (23, 0)


def test_it_counts_from_the_alarm_on():
    assert lead([True, True, True, True, True], alarm=35) == (8, 15)
    assert lead([False, False, False, True, True], alarm=25) == (8, 15)
    assert lead([True, True, True, True, True], alarm=None) == (None, None)


def test_an_alarm_before_the_onset_is_false():
    assert lead([True, True, True, True, True], alarm=15) == (None, None)


def test_a_run_without_a_look_is_in_the_denominator():
    runs = pl.concat(
        [RUNS, RUNS.with_columns(run_id=pl.lit("early"), failure_step=pl.lit(20).cast(pl.Int64))]
    )
    alarms = pl.DataFrame({"run_id": ["r", "early"], "alarm": [20, None]})
    answers = pl.DataFrame(
        {
            "run_id": ["r"],
            "step": [40],
            "repeat": [0],
            "category": ["optimization"],
            "prediction": ["optimization"],
        }
    )
    figures = shares((3, 5))
    chosen = [
        figures[key].alias("_".join(map(str, key)))
        for key in (("ahead", 3), ("ahead", 5), ("within", 5))
    ]
    assert lead_times(runs, alarms, answers).sort("run_id").select("run_id", *chosen).rows() == [
        ("early", False, False, False),
        ("r", True, False, False),
    ]


def test_looks_are_at_multiples_between_onset_and_failure():
    runs = pl.DataFrame(
        {"run_id": ["a", "b", "c"], "from": [0, 7, 11], "to": [12, 9, 14]},
        schema_overrides={"from": pl.Int32, "to": pl.Int32},
    )
    assert looks(runs, 5, pl.col("from"), pl.col("to")).rows() == [("a", 5), ("a", 10)]


@pytest.mark.parametrize(
    ("onset", "failure", "steps"), [(10, 14, [10, 12, 13]), (10, 11, [10] * 3)]
)
def test_training_snapshots_are_spread_from_onset_to_before_the_failure(onset, failure, steps):
    runs = pl.DataFrame({"run_id": ["a"], "onset_step": [onset], "failure_step": [failure]})
    assert spread_over_fault(runs, 3)["last_step"].to_list() == steps


def test_a_run_that_fails_at_its_onset_is_not_trained_on():
    runs = pl.DataFrame({"run_id": ["a"], "onset_step": [10], "failure_step": [10]})
    assert spread_over_fault(runs, 3).is_empty()
