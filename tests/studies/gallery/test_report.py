from __future__ import annotations

import polars as pl
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


def test_points_are_those_of_one_run_and_of_every_run_of_the_slice(published):
    assert set(published.points["dashboard"]["role"]) == {"failing", "twin"}
    sheet = published.points["gallery"]
    assert set(sheet["scenario"]) == {"late_crash", "runaway", "no_start"}
    healthy = sheet.filter(pl.col("role") == "twin", pl.col("scenario") == "runaway")
    assert healthy["step"].to_list() == [0, 2, 4, 6, 8, 9]


def test_runs_of_another_seed_are_not_on_the_sheet(small_telemetry, small_scenarios):
    other = SETTINGS.model_copy(update={"seed": 1})
    sheet = report(small_telemetry, small_scenarios, other)
    assert sheet.metrics == {"runs_drawn": {}}
    assert sheet.points["gallery"].is_empty()
    assert sheet.points["dashboard"].height > 0


def test_figures_say_which_runs_they_draw(published):
    drawn = "(transformer, adamw, seed 0)"
    assert {name: picture.title for name, picture in published.figures.items()} == {
        "dashboard": "A title for runaway: diverged 1 step after the fault was switched on",
        "gallery_memory_hardware": f"Memory hardware, 1 failure: 1 crash {drawn}",
        "gallery_optimization": f"Optimization, 1 failure: 1 diverged {drawn}",
        "gallery_model_software": f"Model software, 1 failure: 1 crash {drawn}",
    }


def test_a_run_that_was_not_recorded_is_refused_by_the_parameter_that_names_it(
    small_telemetry, small_scenarios
):
    wrong = SETTINGS.model_copy(update={"run_id": "runaway-transformer-adamw-s0-twin"})
    with pytest.raises(BadInputError, match=r"gallery\.run_id.*no failing run"):
        report(small_telemetry, small_scenarios, wrong)
