from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.cells import percent
from failbench.reporting.markup import markdown
from failbench.studies.unknown_anatomy.added_measurements_table import SET_LABELS
from failbench.studies.unknown_anatomy.feature_sets import MEASURED_SETS
from failbench.studies.unknown_anatomy.figure import SHOWN, unknown_anatomy_picture
from failbench.studies.unknown_anatomy.results import anatomy_points
from failbench.studies.unknown_anatomy.tables import LETTERS, anatomy_tables
from failbench.vocabulary import CATEGORIES
from made_up_anatomy import COUNT, SETTINGS
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture(scope="module")
def tables(results, reported):
    return {table.name: table for table in anatomy_tables(results, SETTINGS, reported)}


def test_every_feature_set_has_a_label():
    assert list(SET_LABELS) == list(MEASURED_SETS)


def test_each_scenario_has_a_row_with_every_methods_answer(tables, results):
    table = tables["unknown_answers"]
    assert [column.heading for column in table.columns] == ["Scenario", "Random forest", "EBM"]
    assert len(table.rows) == COUNT
    answers = {(row["scenario"], row["method"]): row for row in results.answers.to_dicts()}
    for scenario, *cells in table.rows:
        for method, cell in zip(("random_forest", "ebm"), cells, strict=True):
            row = answers[scenario.replace(" ", "_"), method]
            assert cell == f"{LETTERS[row['answer']]} {100 * row['share']:.0f}"


def test_the_papers_counts_stand_beside_what_is_measured(tables, results):
    rows = {row[0]: row[1:] for row in tables["unknown_methods"].rows}
    assert rows["Improved rules"] == ("5 of 8", *["–"] * 5)
    assert rows["Mistral 7B"][0] == "1 of 8"
    assert rows["Llama 3 8B"][0] == "2 of 8"
    assert rows["EBM"][0] == "–"
    assert rows["EBM"][1].startswith(percent(results.methods["ebm"]["recall"].value))


def test_what_is_not_recorded_is_said_not_to_be(tables):
    assert "not recorded" in tables["unknown_scenarios"].columns[2].heading
    for row in tables["unknown_scenarios"].rows:
        assert row[1:4] == (
            "truly ambiguous",
            "kernel log, records of the scheduler",
            "how the run ended",
        )
    assert "truly ambiguous 37.5 and 100.0" in tables["unknown_scenarios"].notes[0]
    assert "Not recorded: waits for input and output" in tables["unknown_measurements"].notes[0]


def test_measurements_stand_below_the_features_they_are_added_to(tables, results):
    base, _, ending, _ = tables["unknown_measurements"].rows
    assert base[2:5] == ("–", "–", "–")
    assert ending[1].startswith(percent(results.rates["19+ending"]["recall_unknown"].value))
    assert ending[5].startswith(percent(results.rates["19+ending"]["accuracy"].value))
    assert ending[2] == str(results.signs["19+ending"].better)
    assert "no fewer than 6 better ones" in tables["unknown_measurements"].notes[0]


def test_look_alikes_are_named_with_their_category(tables, results):
    first = tables["unknown_neighbours"].rows[0]
    assert first[1].count("(") == SETTINGS.neighbours
    assert first[2].count("(D)") == COUNT
    assert markdown(tables["unknown_neighbours"])


def test_bars_are_the_probabilities_of_two_feature_sets(results):
    points = anatomy_points(results)
    panels = assert_printable(unknown_anatomy_picture(points)).axes
    assert [len(axes.patches) for axes in panels] == [COUNT * len(CATEGORIES)] * len(SHOWN)
    first = points.filter(scenario=points["scenario"][0], feature_set="19").row(0, named=True)
    widths = [bar.get_width() for bar in panels[0].patches[: len(CATEGORIES)]]
    assert widths == pytest.approx([100 * first[f"p_{category}"] for category in CATEGORIES])


def test_the_title_counts_what_is_called_unknown_in_most_repeats(results):
    points = anatomy_points(results).with_columns(
        right=pl.when(pl.col("feature_set") == "19").then(0.5).otherwise(0.6)
    )
    title = unknown_anatomy_picture(points).title
    assert f"calls 0 of the {COUNT} unknown scenarios" in title
    assert f"and {COUNT} when" in title


def test_the_figure_is_the_same_to_the_byte(results, tmp_path):
    assert_repeats(unknown_anatomy_picture(anatomy_points(results)), tmp_path)
