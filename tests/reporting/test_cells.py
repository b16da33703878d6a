from __future__ import annotations

from failbench.reporting.cells import interval_cell, two_decimals, words
from failbench.statistics.bootstrap import Interval


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
