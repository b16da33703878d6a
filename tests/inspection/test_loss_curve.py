import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import theilslopes

from failbench.diagnose.inspection.loss_curve import Place, course, loss_curves, slope_of
from failbench.diagnose.readers.opening import read_log


def curve(values, steps=True):
    places = [
        Place(float(value), 10 * place if steps else None, place + 2)
        for place, value in enumerate(values)
    ]
    return course("loss", "train", places)


def test_best_last_and_half_have_their_steps_and_lines_whatever_is_no_number():
    found = curve([4, 3, 2, 1, 2, 2])
    assert (found.best, found.highest) == (Place(1.0, 30, 5), Place(4.0, 0, 2))
    assert (found.half, found.last) == (Place(2.0, 20, 4), Place(2.0, 50, 7))
    assert (found.since_best, found.repeated, found.not_finite) == (2, 0.2, 0)
    found = curve([4, 3, math.nan, 2, math.inf, math.nan])
    assert (found.best.value, found.since_best, found.repeated, found.not_finite) == (2, 2, 0, 3)
    assert (found.first_not_finite.step, found.first_not_finite.line) == (20, 4)
    nothing = curve([math.nan, math.nan])
    assert (nothing.best, nothing.trend, nothing.jump, nothing.half) == (None,) * 4


def test_a_trend_is_not_moved_by_single_values():
    values = 5 - 0.01 * np.arange(100.0)
    values[[7, 50, 51]] = 1e6
    found = curve(values)
    assert found.unit == "step"
    assert found.trend.slope == pytest.approx(-0.001, rel=0.05)
    assert found.trend.low <= found.trend.slope <= found.trend.high
    assert curve(values, steps=False).unit == "value"
    assert curve(values, steps=False).trend.slope == pytest.approx(-0.01, rel=0.05)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(-5, 5)), min_size=2, max_size=60))
def test_a_trend_is_scipy_s_with_ties_in_either(points):
    places, values = np.array(points, dtype=float).T
    trend = slope_of(places, values)
    if trend is None:
        assert len(set(places)) == 1
    else:
        with np.errstate(invalid="ignore"):
            known = theilslopes(values, places, 0.95)
        expected = [known.slope, known.low_slope, known.high_slope]
        assert [trend.slope, trend.low, trend.high] == pytest.approx(expected, nan_ok=True)


def test_the_largest_jump_is_measured_in_deviations_of_the_usual_change():
    noise = np.random.default_rng(0).normal(0, 0.01, 200)
    values = 3 + noise
    values[120:] += 1
    jump = curve(values).jump
    assert (jump.before.step, jump.after.step) == (1190, 1200)
    assert jump.deviations > 50
    assert curve([3, 2, 1]).jump is None
    assert curve([3, 2, 1, 5]).jump.deviations is None  # all other changes are equal


def log_of(folder, lines):
    path = folder / "train.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return read_log(path)


def test_the_gap_compares_a_validation_with_the_training_since_the_one_before(tmp_path):
    lines = []
    for step in range(1, 21):
        lines.append(f'{{"step": {step}, "loss": {2.0 if step <= 10 else 1.0}}}')
        if step % 10 == 0:
            lines.append(f'{{"step": {step}, "val_loss": {2.5 if step == 10 else 3.0}}}')
    found = loss_curves(log_of(tmp_path, lines))
    assert found.train.values == 20
    assert (found.last_gap.train, found.last_gap.difference) == (1.0, 2.0)
    assert found.last_gap.validation.step == 20
    assert found.last_gap.validation.line == 22
    assert found.widest_gap == found.last_gap
