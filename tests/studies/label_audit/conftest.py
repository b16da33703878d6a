"""Made-up ratings: labels as told, but for a few."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from failbench.scenarios import Scenario
from failbench.statistics.intervals import ScenarioIntervalSettings
from made_up_scenarios import made_up_scenarios

Row = dict[str, object]


@pytest.fixture(scope="session")
def settings() -> ScenarioIntervalSettings:
    return ScenarioIntervalSettings(
        resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
    )


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    """Four of each category."""
    return made_up_scenarios(4)


@pytest.fixture(scope="session")
def rows(scenarios) -> dict[str, Row]:
    """By scenario a row of the file; both raters miss one unknown, rater 1 one more."""
    ratings: dict[str, Row] = {
        scenario.id: {
            "scenario": scenario.id,
            "rater_1": scenario.category,
            "contest_1": 0,
            "second_1": "",
            "rater_2": scenario.category,
            "contest_2": 0,
            "second_2": "",
        }
        for scenario in scenarios
    }
    ratings["unknown_0"] |= {"rater_1": "memory_hardware", "rater_2": "memory_hardware"}
    ratings["unknown_0"] |= {"contest_2": 1, "second_2": "unknown"}
    ratings["data_pipeline_2"] |= {"rater_1": "model_software"}
    ratings["data_pipeline_2"] |= {"contest_1": 2, "second_1": "data_pipeline"}
    ratings["optimization_3"] |= {"contest_2": 2, "second_2": "model_software"}
    ratings["memory_hardware_1"] |= {"contest_1": 1, "second_1": "unknown"}
    return ratings


@pytest.fixture
def written(tmp_path) -> Callable[[Mapping[str, Row]], Path]:
    """Writes rows as the file of ratings."""

    def write(ratings: Mapping[str, Row]) -> Path:
        path = tmp_path / "label_raters.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, next(iter(ratings.values())))
            writer.writeheader()
            writer.writerows(ratings.values())
        return path

    return write
