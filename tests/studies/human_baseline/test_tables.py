from __future__ import annotations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from failbench.reporting.cells import percent
from failbench.reporting.style import save_svg
from failbench.studies.human_baseline.figure import FONT, WIDTH, draw_human_baseline
from failbench.studies.human_baseline.published_studies import DESIGNS
from failbench.studies.human_baseline.tables import human_tables, study_points
from made_up_people import LEVELS, SETTINGS, made_up_baseline

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
    return draw_human_baseline(study_points(baseline), baseline.curves, (0.72, 0.12))


def test_every_design_has_a_row_and_every_level_a_curve(baseline):
    figure = draw(baseline)
    left, right = figure.axes
    assert len(left.get_yticklabels()) == len(DESIGNS)
    assert {text.get_text() for text in right.texts} == set(LEVELS)
    markers = [line for line in left.lines if line.get_marker() not in ("None", None)]
    assert len(markers) == len(DESIGNS) * len(SETTINGS.couplings)
    assert sorted(line.get_xdata()[0] for line in markers) == pytest.approx(
        sorted(studies.accuracy.value for studies in baseline.studies)
    )


def test_letters_are_large_enough_and_stay_inside(baseline):
    figure = draw(baseline)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.get_figwidth() == WIDTH
    width, height = canvas.get_width_height()
    for axes in figure.axes:
        for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()):
            box = text.get_window_extent()
            assert text.get_fontsize() >= FONT
            assert (box.x0 >= 0, box.x1 <= width) == (True, True), text
            assert (box.y0 >= 0, box.y1 <= height) == (True, True), text


def test_the_figure_is_the_same_to_the_byte(baseline, tmp_path):
    for name in ("first", "second"):
        save_svg(draw(baseline), tmp_path / f"{name}.svg")
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
