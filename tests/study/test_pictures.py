from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D

from failbench.base.errors import BadInputError
from failbench.study.picture import (
    POINTS,
    Picture,
    legend_outside,
    save_picture,
)
from failbench.study.publication import check_style
from failbench.study.style import FULL_WIDTH, HALF_WIDTH

pytestmark = pytest.mark.usefixtures("project_style")

TITLE = "Rules & trees are right on 57.1 % of the scenarios, forests on more of them than that"
DESCRIPTION = "A line from below < on the left to above > on the right."


def draw_with_legends(figure):
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1])
    axes.set_xlabel("across")
    axes.set_title("a panel")
    handles = [Line2D([], [], label=f"line {number}") for number in range(6)]
    legend_outside(figure, handles, columns=3)
    legend_outside(figure, handles, above=False, columns=6)


def picture(width=FULL_WIDTH):
    return Picture(TITLE, DESCRIPTION, width, 2.0, draw_with_legends)


@pytest.mark.parametrize("width", [FULL_WIDTH, HALF_WIDTH])
def test_title_legends_and_panels_stand_above_one_another_within_the_width(width):
    figure = picture(width).figure()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    (title,) = figure.texts
    assert " ".join(title.get_text().split()) == " ".join(TITLE.split())
    box = title.get_window_extent(renderer)
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert figure.get_figwidth() == width
    above, below = (legend.get_window_extent(renderer) for legend in figure.legends)
    panel = figure.axes[0].get_tightbbox(renderer)
    assert figure.bbox.y1 >= box.y1 > box.y0 >= above.y1 > above.y0 >= panel.y1
    assert panel.y0 >= below.y1 > below.y0 >= 0


def test_a_saved_picture_has_its_title_and_description_first_and_the_same_bytes(tmp_path):
    paths = [tmp_path / "new" / name for name in ("first.svg", "second.svg")]
    for path in paths:
        save_picture(picture(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    text = paths[0].read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert [child.text for child in list(root)[:2]] == [TITLE, DESCRIPTION]
    assert root.get("width") == f"{POINTS * FULL_WIDTH:g}pt"
    assert "Matplotlib" not in text
    assert "date" not in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("font.size: 9\nfont.size 9\n", 2),
        ("font.size: 9\n\nfont.sise: 9\n", 3),
        ("axes.grid: perhaps\nfont.size: large and bold\n", 1),
        ("font.size: 9\naxes.grid: False\nfont.size: 8\n", 3),
    ],
)
def test_a_line_that_would_be_skipped_is_refused_by_its_number(tmp_path, text, line):
    path = tmp_path / "matplotlibrc"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        check_style(path)
    assert (error.value.place, error.value.field) == (str(path), f"line {line}")
    assert repr(text.splitlines()[line - 1]) in error.value.problem
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"", b"# nothing\n"])
def test_a_file_that_is_missing_or_no_text_or_empty_is_refused(tmp_path, content):
    path = tmp_path / "matplotlibrc"
    if content is not None:
        path.write_bytes(content)
    problem = r"\(file\): (is missing or is not text|has no settings)"
    with pytest.raises(BadInputError, match=problem):
        check_style(path)
