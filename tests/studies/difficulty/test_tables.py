from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.reporting.cells import percent
from failbench.reporting.table import Table
from failbench.studies.difficulty.figure import difficulty_picture
from failbench.studies.difficulty.measure import (
    Difficulty,
    measure_difficulty,
)
from failbench.studies.difficulty.results import DifficultySettings, difficulty_estimates
from failbench.studies.difficulty.tables import difficulty_points, difficulty_tables
from failbench.vocabulary import CATEGORIES, DIFFICULTIES
from made_up_scenarios import made_up_scenarios, reference_runs
from made_up_studies import ARCHITECTURES, SCENARIOS, made_up_studies
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")

SETTINGS = DifficultySettings(
    feature_set="19",
    left_out=(),
    hard_below=0.45,
    easy_from=0.7,
    hardest=4,
    neighbours=5,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)
METHODS = ("random_forest", "simple_rules")


@pytest.fixture(scope="module")
def difficulty() -> Difficulty:
    defined = made_up_scenarios(SCENARIOS)
    return measure_difficulty(made_up_studies(METHODS), defined, reference_runs(defined), SETTINGS)


@pytest.fixture(scope="module")
def tables(difficulty, reported) -> tuple[Table, ...]:
    estimates = difficulty_estimates(difficulty, SETTINGS, "transformer")
    return difficulty_tables(difficulty, estimates, reported, SETTINGS)


@pytest.fixture(scope="module")
def points(difficulty) -> pl.DataFrame:
    return difficulty_points(difficulty)


def test_levels_are_crossed_and_add_up(difficulty, tables):
    levels, _, _ = tables
    *declared, everything = levels.rows
    assert [row[0] for row in declared] == list(DIFFICULTIES)
    for column in (1, 2, 3, 5):
        assert sum(int(row[column]) for row in declared) == int(everything[column])
    assert int(everything[5]) == SCENARIOS * len(CATEGORIES)
    assert everything[4].startswith(percent(difficulty.scenarios["ease"].mean()))
    assert "Section 3.2" in levels.notes[1]


def test_the_best_on_easy_scenarios_stand_beside_the_papers_best(difficulty, tables):
    easy = difficulty.scenarios.filter(declared="easy")["scenario"].implode()
    rates = difficulty.shares.filter(pl.col("view") == "method", pl.col("scenario").is_in(easy))
    best = rates.group_by("name").agg(pl.col("ease").mean())["ease"].max()
    assert best < 0.957
    note = tables[0].notes[2]
    assert f"{percent(best)} %" in note
    assert "no method reaches the 95.7 %" in note


def test_the_hardest_say_what_they_are_taken_for_and_what_misled(difficulty, tables):
    _, hardest, reasons = tables
    expected = difficulty.scenarios.head(4)
    assert [row[0] for row in hardest.rows] == [
        name.replace("_", " ") for name in expected["scenario"]
    ]
    for row, facts in zip(hardest.rows, expected.iter_rows(named=True), strict=True):
        assert row[4] == facts["instead"].replace("_", " ")
        assert row[7] == f"{round(5 * facts['neighbours_own'])} of 5"
        assert ("surface" in row[9]) == facts["by_surface"]
        assert ("neighbours" in row[9]) == facts["by_neighbours"]
    assert [row[2] for row in reasons.rows] == expected["rationale"].to_list()


def test_points_have_every_scenario_by_every_method_and_architecture_once(points):
    names = len(METHODS) + len(ARCHITECTURES) + 1
    assert points.height == names * SCENARIOS * len(CATEGORIES)
    assert not points.select("scenario", "view", "name").is_duplicated().any()


def test_each_scenario_has_a_row_in_the_figure_the_hardest_of_a_category_first(points):
    figure = assert_printable(difficulty_picture(points))
    drawn = [label.get_text() for axes in figure.axes[:2] for label in axes.get_yticklabels()]
    expected = points.filter(view="all").with_columns(
        label=pl.format("{} {}", "scenario", pl.col("declared").str.head(1)).str.replace_all(
            "_", " "
        )
    )
    assert sorted(drawn) == sorted(expected["label"])
    ordered = expected.filter(category="optimization").sort("ease", "scenario")["label"].to_list()
    assert [label for label in drawn if label.startswith("optimization")] == ordered


def test_cells_are_the_shares_of_the_points(points):
    image = difficulty_picture(points).figure().axes[0].images[0]
    of_category = points.filter(category="memory_hardware")
    order = of_category.filter(view="all").sort("ease", "scenario")["scenario"]
    expected = [
        [
            of_category.filter(scenario=scenario, view="method", name=name)["ease"][0]
            for name in ("simple_rules", "random_forest")
        ]
        for scenario in order
    ]
    assert [list(row) for row in image.get_array()] == expected


def test_the_figure_is_the_same_to_the_byte(points, tmp_path):
    assert_repeats(difficulty_picture(points), tmp_path)


def test_a_method_without_a_label_is_refused(points):
    foreign = points.with_columns(name=pl.col("name").str.replace("simple_rules", "oracle"))
    with pytest.raises(BadInputError, match="has no label"):
        difficulty_picture(foreign)
