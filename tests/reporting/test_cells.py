from __future__ import annotations

import pytest

from failbench.statistics.bootstrap import Interval
from failbench.study.cells import interval_cell, signed, two_decimals, words


def test_a_name_is_written_in_words_and_a_figure_with_its_bounds():
    interval = Interval(
        value=0.5,
        ci_low=0.25,
        ci_high=0.625,
        n=8,
        method="Wilson",
        resampling_unit="scenario",
        estimand="a share",
    )
    assert words("memory_hardware") == "memory hardware"
    assert interval_cell(interval) == "50.0 [25.0, 62.5]"
    assert interval_cell(interval, two_decimals) == "0.50 [0.25, 0.62]"


@pytest.mark.parametrize(
    ("points", "text"), [(12.34, "+12.3"), (-5, "−5.0"), (-0.04, "0.0"), (0.0, "0.0")]
)
def test_a_difference_has_its_sign_and_nothing_has_none(points, text):
    assert signed(points) == text
