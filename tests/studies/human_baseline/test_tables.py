from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.cells import percent
from failbench.studies.human_baseline.figure import PERSON, human_baseline_picture
from failbench.studies.human_baseline.published_studies import DESIGNS
from failbench.studies.human_baseline.tables import human_tables, study_points
from made_up_people import LEVELS, SETTINGS, made_up_baseline
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture(scope="module")
def baseline():
    return made_up_baseline()


@pytest.fixture(scope="module")
def tables(baseline, reported):
    return human_tables(baseline, SETTINGS, reported)


def test_both_captions_say_that_it_is_a_simulation(tables):
    for table in tables:
        assert table.caption.startswith("A simulation of people")
        assert table.notes[0].startswith("Simulation: nobody was asked.")


def test_the_reported_figure_stands_above_the_simulated_ones(tables, baseline):
    table, _ = tables
    assert table.rows[0][:6] == ("Reported", "–", "–", "72.0", "–", "12.0")
    assert len(table.rows) == 1 + len(DESIGNS) * len(SETTINGS.couplings)
    assert [row[3] for row in table.rows[1:]] == [
        percent(studies.accuracy.value) for studies in baseline.studies
    ]


def test_the_note_says_what_the_reported_figure_may_be(tables):
    note = tables[0].notes[1]
    assert "The mixture does not give 72.0 but 70.5; the plain mean" in note
    assert "is 71.7" in note
    # three people before 30 scenarios spread by 9.6, one person by 16.6, folds of six by 18.6
    assert "between panels that answer all 30 scenarios (9.6)" in note
    assert "their skills alone have 14.6" in note


def test_groups_stand_side_by_side_over_couplings(tables, baseline):
    _, groups = tables
    assert [row[0] for row in groups.rows] == [
        "all",
        "measured easy",
        "measured medium",
        "measured hard",
        "handed over by the hybrid",
    ]
    assert groups.rows[3][2].startswith(percent(baseline.groups[1.0]["hard"].value))


def draw(baseline):
    return human_baseline_picture(study_points(baseline), baseline.curves, (0.72, 0.12))


def test_every_design_has_a_row_and_every_level_a_curve(baseline):
    left, right = assert_printable(draw(baseline)).axes
    assert len(left.get_yticklabels()) == len(DESIGNS)
    assert {text.get_text() for text in right.texts} == set(LEVELS)
    marks = [line for line in left.lines if line.get_marker() == PERSON.marker]
    assert all(line.get_markerfacecolor() == "white" for line in marks)
    weakest = study_points(baseline).filter(pl.col("coupling") == min(SETTINGS.couplings))
    assert sorted(line.get_xdata()[0] for line in marks) == pytest.approx(
        sorted(100 * weakest["accuracy"].to_numpy())
    )


def test_the_title_names_the_design_whose_spread_is_nearest(baseline):
    studies = study_points(baseline).with_columns(
        deviation=pl.when(pl.col("design") == "panel").then(0.121).otherwise(0.5)
    )
    title = human_baseline_picture(studies, baseline.curves, (0.72, 0.12)).title
    assert "panels that answer all" in title
    assert "(12.1 points)" in title


def test_the_figure_is_the_same_to_the_byte(baseline, tmp_path):
    assert_repeats(draw(baseline), tmp_path)
