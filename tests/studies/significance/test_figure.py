from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from failbench.reporting.cells import signed
from failbench.reporting.labels import METHOD_LABELS
from failbench.reporting.style import save_svg
from failbench.studies.significance.figure import CELL_FONT, WIDTH, difference_map

pytestmark = pytest.mark.usefixtures("project_style")

ACCURACIES = {"simple_rules": 0.50, "ebm": 0.70, "random_forest": 0.72}
CONTRAST = ("ebm", "random_forest")


@pytest.fixture
def comparisons(compared):
    def one(left: str, right: str, **values: object):
        return compared(
            left,
            right,
            accuracy_left=ACCURACIES[left],
            accuracy_right=ACCURACIES[right],
            difference=ACCURACIES[left] - ACCURACIES[right],
            **values,
        )

    return [
        one(*CONTRAST, family="contrast", p=0.04, p_holm=0.08),
        one("simple_rules", "ebm", p=0.06),
        one("simple_rules", "random_forest", p=0.04),
    ]


def cells(figure) -> dict[tuple[int, int], str]:
    """What the cells say, by row and column."""
    return {
        (int(text.get_position()[1]), int(text.get_position()[0])): text.get_text()
        for text in figure.axes[0].texts
    }


def test_the_best_method_comes_first_with_its_accuracy(comparisons):
    axes = difference_map(comparisons, 0.05).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "Random forest, 72.0 %",
        "EBM, 70.0 %",
        "Simple rules, 50.0 %",
    ]


def test_a_cell_is_its_row_less_its_column_and_the_diagonal_is_empty(comparisons):
    found = {
        place: text.strip("*") for place, text in cells(difference_map(comparisons, 0.05)).items()
    }
    assert found == {
        (0, 1): "+2.0",
        (0, 2): "+22.0",
        (1, 0): "−2.0",
        (1, 2): "+20.0",
        (2, 0): "−22.0",
        (2, 1): "−20.0",
    }


def test_stars_go_by_the_adjusted_p_of_contrasts_and_by_the_plain_p_of_others(comparisons):
    found = cells(difference_map(comparisons, 0.05))
    assert {place for place, text in found.items() if text.endswith("*")} == {(0, 2), (2, 0)}


def test_the_contrasts_are_framed_where_left_is_the_row(comparisons):
    axes = difference_map(comparisons, 0.05).axes[0]
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [(frame.get_y(), frame.get_x()) for frame in frames] == [(1, 0)]


def test_no_difference_has_the_middle_colour_and_opposites_mirror_each_other(comparisons):
    mesh = difference_map(comparisons, 0.05).axes[0].collections[0]
    assert mesh.norm(0) == 0.5
    assert mesh.norm(22) - 0.5 == pytest.approx(0.5 - mesh.norm(-22))


def test_all_methods_at_the_same_accuracy_can_be_drawn(compared):
    alike = [compared(*CONTRAST, accuracy_left=0.5, accuracy_right=0.5)]
    assert set(cells(difference_map(alike, 0.05)).values()) == {"0.0*"}


def test_fifteen_methods_are_readable_at_the_width_of_a_page(compared):
    methods = [name for name in METHOD_LABELS if name not in {"mistral_7b", "llama_3_8b"}]
    accuracies = {method: 0.99 - 0.05 * rank for rank, method in enumerate(methods)}
    figure = difference_map(
        [
            compared(
                left,
                right,
                accuracy_left=accuracies[left],
                accuracy_right=accuracies[right],
                p=0.01,
            )
            for left, right in combinations(methods, 2)
        ],
        0.05,
    )
    assert len(methods) == 15
    assert figure.get_figwidth() == WIDTH
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    cell = axes.get_window_extent().width / len(methods)
    assert max(text.get_window_extent().width for text in axes.texts) < cell
    assert min(CELL_FONT, *(label.get_size() for label in axes.get_xticklabels())) >= 6


@pytest.mark.parametrize(
    ("points", "text"),
    [(12.34, "+12.3"), (-5, "−5.0"), (-0.04, "0.0"), (0.0, "0.0"), (10, "+10.0")],
)
def test_signed_differences(points, text):
    assert signed(points) == text


def test_the_same_comparisons_give_the_same_bytes(comparisons, tmp_path):
    for name in ("first.svg", "second.svg"):
        save_svg(difference_map(comparisons, 0.05), tmp_path / name)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()
