from __future__ import annotations

import pytest

from failbench.base.errors import BadInputError
from failbench.study.run_curves import sheet_runs
from gallery import counts_of, run_of


def test_the_outcomes_of_the_runs_on_the_sheet_are_counted_by_category(
    small_telemetry, small_scenarios
):
    assert counts_of(sheet_runs(small_telemetry, small_scenarios)).rows() == [
        ("memory_hardware", "crash", 1),
        ("optimization", "diverged", 1),
        ("model_software", "crash", 1),
    ]


def test_a_run_that_was_not_recorded_is_refused_by_the_parameter_that_names_it(small_telemetry):
    with pytest.raises(BadInputError, match=r"gallery\.run_id.*no failing run"):
        run_of(small_telemetry, "runaway-transformer-adamw-s0-twin")
