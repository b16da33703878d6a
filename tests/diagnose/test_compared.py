import math

import numpy as np
import pytest

from failbench.diagnose.series import (
    FROM_SCRATCH,
    WINDOW,
    CheckedSeries,
    checks,
    compared,
    fitted_bounds,
)

STEADY = np.full(20, 2.0)


def amounts(values, against):
    return compared(np.array(values, float), against).amounts


def test_a_value_is_held_against_those_before_or_the_start_or_the_best():
    values = [*STEADY, 6.0]
    assert amounts(values, "past_difference")[-1] == pytest.approx(4.0)
    assert amounts(values, "past_ratio")[-1] == pytest.approx(math.log(3))
    ratios = amounts([*[2.0] * WINDOW, *[4.0] * (2 * WINDOW)], "start_ratio")
    assert np.isnan(ratios[:WINDOW]).all()
    assert ratios[-1] == pytest.approx(math.log(2))
    one_outlier = [*STEADY, 50.0, *STEADY]
    assert np.nanmax(amounts(one_outlier, "best_difference")) == 0
    assert np.nanmax(amounts([*STEADY, *[50.0] * 5], "best_difference")) == pytest.approx(48.0)
    broken = [*STEADY, math.nan, math.inf, 2.0]
    assert amounts(broken, "past_difference")[-1] == 0
    assert amounts(broken, "not_finite").tolist() == [*[0.0] * 20, 1.0, 1.0, 0.0]


def test_a_rate_that_is_printed_with_few_digits_is_not_zero():
    printed = [0.006, 0.003, 0.001, *[0.0] * 30]
    assert not (amounts(printed, "zero_inside") > 0).any()
    assert not (amounts(printed, "faded_share") > 0).any()
    exact = [0.006, 0.003, 0.0001, *[0.0] * 30]
    assert amounts(exact, "zero_inside")[-1] == 1
    assert amounts(exact, "faded_share")[-1] == pytest.approx(30 / 33)


def test_a_warm_up_is_no_new_peak_and_a_jump_after_it_is():
    warm_up = [*np.linspace(1e-6, 1e-3, 20), *np.linspace(1e-3, 1e-4, 30)]
    assert np.nanmax(amounts(warm_up, "new_peak")) < 0
    assert amounts([*warm_up, 1e-2], "new_peak")[-1] == pytest.approx(math.log(10))


def test_a_rise_since_the_best_a_fall_from_scratch_and_a_climb_with_time():
    assert amounts([*range(20, 5, -1), *range(5, 15)], "since_best")[-1] == 1
    assert np.isnan(amounts(range(20, 0, -1), "since_best")[-1])
    falling = np.linspace(2 * FROM_SCRATCH, FROM_SCRATCH, 30)
    assert amounts(falling, "progress")[-1] == pytest.approx(0.4, abs=0.05)
    assert np.isnan(amounts(falling / 10, "progress")).all()
    assert amounts(range(50), "climb")[-1] == 1
    assert amounts(range(50, 0, -1), "climb")[-1] == -1
    assert abs(amounts(np.random.default_rng(0).random(500), "climb")[-1]) < 0.2


@pytest.mark.parametrize("check", checks().values(), ids=lambda check: check.id)
@pytest.mark.parametrize("count", [1, 2, 9])
def test_short_and_broken_series_are_compared_too(check, count):
    for value in (1.0, 0.0, -1.0, math.nan, math.inf, 1e308):
        held = compared(np.full(count, value), check.against)
        assert len(held.amounts) == len(held.references) == count
        assert len(CheckedSeries(check, None, held).lasting()) == count


def test_a_bound_lies_beyond_the_most_extreme_healthy_log():
    check = checks()["loss_jumps"]
    of_logs = np.array([0.1, 0.2, 0.5, 9.0])
    healthy = np.array([True, True, True, False])
    (bound,) = fitted_bounds({check.id: check}, {check.id: of_logs}, healthy, 1.0).values()
    assert (bound.usual, bound.limit) == (0.2, pytest.approx(0.8))
    assert fitted_bounds({check.id: check}, {check.id: of_logs}, healthy[::-1] & False, 1.0) == {}
