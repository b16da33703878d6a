"""The alarm: distances from the healthy course, and a limit that keeps its promise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.lead_time.alarm import alarm_limit, first_alarms
from failbench.studies.lead_time.healthy_course import healthy_course

SIGNALS = ("max_loss", "oov_rate")


def snapshots(values: dict[str, dict[int, tuple[float | None, float | None]]]) -> pl.DataFrame:
    rows = [
        (f"{run}@{step}", *pair)
        for run, by_step in values.items()
        for step, pair in by_step.items()
    ]
    return pl.DataFrame(rows, schema=["run_id", *SIGNALS], orient="row")


@pytest.fixture
def course():
    # at step 5 max_loss has mean 2 and sd 1, at step 10 mean 4 and sd 2; oov_rate never varies
    return healthy_course(
        snapshots(
            {
                "a": {5: (1.0, 0.5), 10: (2.0, 0.5)},
                "b": {5: (2.0, 0.5), 10: (4.0, 0.5)},
                "c": {5: (3.0, 0.5), 10: (6.0, 0.5)},
            }
        ),
        SIGNALS,
    )


def score(course, step: int, loss: float | None, oov: float | None = 0.5) -> float:
    return course.scores(snapshots({"x": {step: (loss, oov)}}))["score"].item()


def test_the_score_is_the_distance_in_the_furthest_that_a_healthy_run_strayed(course):
    assert score(course, 5, 2.0) == 0.0
    assert score(course, 5, 5.0) == pytest.approx(3.0)
    assert score(course, 5, -1.0) == pytest.approx(3.0)
    assert score(course, 10, 5.0) == pytest.approx(0.5)


def test_what_is_missing_or_never_varies_raises_no_alarm(course):
    assert score(course, 5, None) == 0.0
    assert score(course, 5, 2.0, oov=0.9) == 0.0
    assert score(course, 1, 99.0) == 0.0


def test_steps_that_few_runs_reached_have_no_course():
    short = healthy_course(
        snapshots(
            {"a": {5: (1.0, 0.1), 10: (2.0, 0.2)}, "b": {5: (2.0, 0.2)}, "c": {5: (3.0, 0.3)}}
        ),
        SIGNALS,
    )
    assert short.steps == (5,)


def test_the_limit_is_the_conformal_order_statistic():
    highest = np.arange(99.0)
    assert alarm_limit(highest, 0.05) == 94.0  # rank 95 of 99
    assert alarm_limit(np.arange(49.0), 0.02) == 48.0  # the highest of the fewest that can show it


def test_too_few_healthy_runs_for_the_rate_are_refused():
    with pytest.raises(BadInputError, match="it takes 49"):
        alarm_limit(np.arange(48.0), 0.02)


def test_new_healthy_runs_exceed_the_limit_no_more_often_than_promised():
    rng = np.random.default_rng(0)
    rates = [
        np.mean(rng.standard_cauchy(200) > alarm_limit(rng.standard_cauchy(60), 0.1))
        for _ in range(400)
    ]
    assert 0.08 < np.mean(rates) <= 0.1 + 3 * np.std(rates) / np.sqrt(len(rates))


def test_the_first_alarm_is_the_first_step_above_the_limit():
    scores = pl.DataFrame(
        {
            "run_id": ["a", "a", "a", "b"],
            "step": [5, 10, 15, 5],
            "score": [1.0, 2.1, 3.0, 2.0],
        }
    )
    assert first_alarms(scores, 2.0).rows() == [("a", 10), ("b", None)]
