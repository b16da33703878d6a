import numpy as np
import polars as pl
import pytest

from failbench.neighbours.lenses.hazard import course_of
from failbench.neighbours.lenses.looking import look
from failbench.neighbours.lenses.slices import Scale, Slice
from made_up_traces import SETTINGS, made_up_slice


def slice_of(tokens, outcomes):
    part, _ = made_up_slice(lengths=[2], depths=[1], items=len(tokens))
    rows = part.rows.with_columns(
        tokens=pl.Series(tokens, dtype=pl.Int64), outcome=pl.Series(outcomes)
    )
    return Slice("m", "t", "char", None, None, rows)


def exponential(right_mean, wrong_mean, n=3000, budget=64, seed=0):
    rng = np.random.default_rng(seed)
    right, wrong = rng.exponential(right_mean, n), rng.exponential(wrong_mean, n)
    first = np.minimum(right, wrong)
    outcomes = np.where(first > budget, "truncated", np.where(right < wrong, "correct", "wrong"))
    return slice_of(np.ceil(np.minimum(first, budget)).astype(int), outcomes.tolist())


SCALE = Scale(spectrum=256, bucket=4)
TOKENS = [1, 2, 2, 3, 4, 4]
OUTCOMES = ["correct", "wrong", "correct", "truncated", "wrong", "truncated"]


def test_incidences_are_those_calculated_by_hand():
    # open: 6, 5, 3, 2; unanswered before: 1, 5/6, 1/2, 1/2
    right, wrong = course_of(slice_of(TOKENS, OUTCOMES), np.ones((1, 6))).incidence
    assert right[0, 1:] == pytest.approx([1 / 6, 1 / 6 + 1 / 6, 1 / 3, 1 / 3])
    assert wrong[0, 1:] == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6 + 1 / 4])


def test_exponential_times_have_a_constant_hazard_and_their_own_rate():
    part = exponential(right_mean=40, wrong_mean=20)
    seen = look("hazard", part, SCALE, SETTINGS)
    assert seen.verdict == "constant_hazard"
    assert seen.measures["front_loading"].value == pytest.approx(0.5, abs=0.06)
    whole = seen.points.filter(pl.col("open") > 200, pl.col("first_token") > 0)  # none ends at 0
    hazards = whole["wrong_hazard"].to_numpy() / SCALE.bucket
    # of a bucket those also leave who answer rightly, so that its share is below the rate
    assert hazards == pytest.approx(np.full(len(hazards), 0.05), rel=0.3)


@pytest.mark.parametrize(
    ("verdict", "accuracy", "right", "wrong"),
    [
        ("early_hazard", 0.3, (1, 60), (1, 12)),
        ("delayed_hazard", 0.3, (1, 60), (50, 60)),
        ("delayed_hazard", 0.5, (1, 20), (20, 40)),
    ],
)
def test_wrong_answers_that_come_early_or_late_are_told_and_where_they_become_likelier(
    verdict, accuracy, right, wrong
):
    part, scale = made_up_slice(
        accuracy=lambda length: accuracy,
        right_tokens=lambda n, rng: int(rng.integers(*right)),
        wrong_tokens=lambda n, rng: int(rng.integers(*wrong)),
        items=30,
    )
    seen = look("hazard", part, scale, SETTINGS)
    assert seen.verdict == verdict
    if accuracy == 0.5:
        assert seen.measures["overtaking"].value == 20
        assert seen.measures["wrong_ahead"].value == pytest.approx(0.5, abs=0.05)
