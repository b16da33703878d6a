from __future__ import annotations

from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D

from failbench.study.picture import (
    POINTS,
    Picture,
    legend_outside,
    save_picture,
    wrapped,
)
from failbench.study.style import FULL_WIDTH, HALF_WIDTH

pytestmark = pytest.mark.usefixtures("project_style")

TITLE = "Rules & trees are right on 57.1 % of the scenarios, forests on more of them than that"
DESCRIPTION = "A line from below < on the left to above > on the right."


def draw_line(figure):
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1])
    axes.set_xlabel("across")


def draw_with_legends(figure):
    draw_line(figure)
    figure.axes[0].set_title("a panel")
    handles = [Line2D([], [], label=f"line {number}") for number in range(6)]
    legend_outside(figure, handles, columns=3)
    legend_outside(figure, handles, above=False, columns=6)


def picture(draw=draw_line, width=FULL_WIDTH):
    return Picture(TITLE, DESCRIPTION, width, 2.0, draw)


@pytest.mark.parametrize("width", [FULL_WIDTH, HALF_WIDTH])
def test_the_title_stands_above_the_panels_and_within_the_width(width):
    figure = picture(width=width).figure()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    (title,) = figure.texts
    assert " ".join(title.get_text().split()) == " ".join(TITLE.split())
    box = title.get_window_extent(renderer)
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1
    assert figure.axes[0].get_tightbbox(renderer).y1 <= box.y0
    assert figure.get_figwidth() == width


def test_legends_outside_overlap_neither_panels_nor_the_title():
    figure = picture(draw_with_legends).figure()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    above, below = (legend.get_window_extent(renderer) for legend in figure.legends)
    panel = figure.axes[0].get_tightbbox(renderer)
    title = figure.texts[0].get_window_extent(renderer)
    assert title.y0 >= above.y1 > above.y0 >= panel.y1
    assert panel.y0 >= below.y1 > below.y0 >= 0


def test_words_are_set_in_lines_and_numbers_keep_their_percent_sign():
    lines = wrapped("one two 57.1 % three", 60.0)
    assert [line.replace("\u00a0", " ") for line in lines] == ["one two", "57.1 %", "three"]


def test_a_saved_picture_has_its_title_and_description_first(tmp_path):
    path = tmp_path / "new" / "picture.svg"
    save_picture(picture(), path)
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert [child.text for child in list(root)[:2]] == [TITLE, DESCRIPTION]
    assert root.get("width") == f"{POINTS * FULL_WIDTH:g}pt"
    assert "Matplotlib" not in text
    assert "date" not in text


def test_the_same_picture_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        save_picture(picture(draw_with_legends), tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
