from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.studies.gallery.report import report
from failbench.studies.gallery.results import GallerySettings

SETTINGS = GallerySettings(
    run_id="runaway-transformer-adamw-s0",
    architecture="transformer",
    optimizer="adamw",
    seed=0,
    every=2,
)


@pytest.fixture
def published(small_telemetry, small_scenarios):
    return report(small_telemetry, small_scenarios, SETTINGS)


def test_the_outcomes_of_the_runs_on_the_sheet_are_counted_by_category(published):
    assert published.metrics == {
        "runs_drawn": {
            "memory_hardware": {"crash": {"value": 1}},
            "optimization": {"diverged": {"value": 1}},
            "model_software": {"crash": {"value": 1}},
        }
    }


def test_a_run_that_was_not_recorded_is_refused_by_the_parameter_that_names_it(
    small_telemetry, small_scenarios
):
    wrong = SETTINGS.model_copy(update={"run_id": "runaway-transformer-adamw-s0-twin"})
    with pytest.raises(BadInputError, match=r"gallery\.run_id.*no failing run"):
        report(small_telemetry, small_scenarios, wrong)
