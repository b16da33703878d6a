from __future__ import annotations

from itertools import combinations

import pytest

from failbench.reporting.cells import signed
from failbench.reporting.labels import METHOD_LABELS
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.figure import contrasts_picture, difference_map_picture
from printed_pictures import assert_printable, assert_repeats, marks_of

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
            ci_low=-0.5,
            ci_high=0.5,
            **values,
        )

    return [
        one(*CONTRAST, family="contrast", p=0.04, p_holm=0.08),
        one("simple_rules", "ebm", p=0.06),
        one("simple_rules", "random_forest", p=0.04),
    ]


@pytest.fixture
def settings():
    return SignificanceSettings(
        feature_set="19",
        contrasts=(CONTRAST,),
        resamples=1000,
        confidence=0.95,
        practical_equivalence=0.05,
        equivalence_margin=0.10,
        power=0.80,
        seed=0,
    )


def cells(figure) -> dict[tuple[int, int], str]:
    """What the cells of the map say, by row and column."""
    return {
        (int(text.get_position()[1]), int(text.get_position()[0])): text.get_text()
        for text in figure.axes[0].texts
        if text.get_text().isdigit()
    }


def test_contrasts_have_a_row_each_and_a_panel_per_feature_set_the_primary_first(
    compared, settings
):
    contrasts = [
        compared(
            *CONTRAST,
            family="contrast",
            feature_set=name,
            difference=difference,
            ci_low=difference - 0.1,
            ci_high=difference + 0.1,
        )
        for name, difference in (("19+keywords", -0.02), ("19", 0.04))
    ]
    first, second = assert_printable(contrasts_picture(contrasts, settings)).axes
    assert first.get_title(loc="left") == "features: 19 (primary)"
    assert [label.get_text() for label in first.get_yticklabels()] == ["EBM\n− random forest"]
    for axes, difference in ((first, 4), (second, -2)):
        (line,), (bars,) = marks_of(axes), axes.collections
        assert line.get_xdata() == pytest.approx([difference])
        assert len(bars.get_segments()) == 1
        (band,) = axes.patches
        assert (band.get_x(), band.get_width()) == (-10, 20)


def test_pairs_that_are_no_contrast_are_not_drawn(comparisons, settings):
    (axes,) = contrasts_picture(comparisons, settings).figure().axes
    assert len(axes.get_yticklabels()) == 1
    (p,) = axes.texts
    assert p.get_text() == "p = 0.080"


def test_the_finding_counts_differences_equivalences_and_what_is_open(compared, settings):
    def one(left, **values):
        return compared(left, "simple_rules", family="contrast", feature_set="19", **values)

    contrasts = [
        one("ebm", p=0.01, p_holm=0.04, equivalent=False),
        one("lightgbm", p=0.01, p_holm=0.06, equivalent=False),
        one("random_forest", p=0.9, p_holm=0.9, equivalent=True),
        one("decision_tree", p=0.01, p_holm=0.01, equivalent=True),
    ]
    assert contrasts_picture(contrasts, settings).title == (
        "Of 4 named contrasts, 2 are differences, 1 equivalent within 10 points, and 1 undecided "
        "(features: 19)"
    )


def test_a_contrast_without_an_interval_is_a_mark_alone(compared, settings):
    alone = compared(*CONTRAST, family="contrast", feature_set="19", ci_low=None, ci_high=None)
    (axes,) = contrasts_picture([alone], settings).figure().axes
    assert len(marks_of(axes)) == 1


def test_the_map_has_each_pair_once_the_best_first(comparisons):
    figure = difference_map_picture(comparisons).figure()
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "EBM, 70.0 %",
        "Simple rules, 50.0 %",
    ]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Random forest", "EBM"]
    assert cells(figure) == {(0, 0): "2", (1, 0): "22", (1, 1): "20"}


def test_nothing_on_the_map_is_starred(comparisons):
    texts = difference_map_picture(comparisons).figure().axes[0].texts
    assert not [text for text in texts if "*" in text.get_text()]


def test_what_is_handed_the_true_category_is_no_rank_of_the_map(compared):
    pairs = [
        compared("ebm", "simple_rules", accuracy_left=0.7, accuracy_right=0.5),
        compared("ebm", "simulated_human", accuracy_left=0.7, accuracy_right=0.9),
        compared("simulated_human", "simple_rules", accuracy_left=0.9, accuracy_right=0.5),
    ]
    picture = difference_map_picture(pairs)
    assert "by up to 20.0 points" in picture.title
    assert cells(picture.figure()) == {(0, 0): "20"}


def test_all_methods_at_the_same_accuracy_can_be_drawn(compared):
    alike = [compared(*CONTRAST, accuracy_left=0.5, accuracy_right=0.5)]
    assert set(cells(difference_map_picture(alike).figure()).values()) == {"0"}


def test_all_methods_are_readable_at_the_width_of_a_page(compared):
    methods = [name for name in METHOD_LABELS if name not in {"mistral_7b", "llama_3_8b"}]
    accuracies = {method: 0.99 - 0.05 * rank for rank, method in enumerate(methods)}
    pairs = [
        compared(
            left, right, accuracy_left=accuracies[left], accuracy_right=accuracies[right], p=0.01
        )
        for left, right in combinations(methods, 2)
    ]
    assert_printable(difference_map_picture(pairs))


@pytest.mark.parametrize(
    ("points", "text"),
    [(12.34, "+12.3"), (-5, "−5.0"), (-0.04, "0.0"), (0.0, "0.0"), (10, "+10.0")],
)
def test_signed_differences(points, text):
    assert signed(points) == text


def test_the_same_comparisons_give_the_same_bytes(comparisons, settings, tmp_path):
    assert_repeats(contrasts_picture(comparisons, settings), tmp_path)
    assert_repeats(difference_map_picture(comparisons), tmp_path)
