from __future__ import annotations

import pytest

from failbench.reporting.cells import signed
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.figure import contrasts_picture
from printed_pictures import assert_printable, assert_repeats, marks_of

pytestmark = pytest.mark.usefixtures("project_style")

CONTRAST = ("ebm", "random_forest")


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


def test_an_in_sample_difference_is_drawn_apart_and_has_no_p(compared, settings):
    contrasts = [
        compared(*CONTRAST, family="contrast", p=0.04, p_holm=0.08),
        compared("invariants", "random_forest", family="contrast", p=0.001, p_holm=0.001).untested,
    ]
    picture = contrasts_picture(contrasts, settings)
    (axes,) = picture.figure().axes
    assert len(axes.get_yticklabels()) == 2
    (p,) = axes.texts
    assert p.get_text() == "p = 0.080"
    assert picture.title.startswith("Of 1 contrasts that are tested, 0 are differences")


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
        "Of 4 contrasts that are tested, 2 are differences, 1 equivalent within 10 points, and 1 "
        "undecided (features: 19)"
    )


def test_a_contrast_without_an_interval_is_a_mark_alone(compared, settings):
    alone = compared(*CONTRAST, family="contrast", feature_set="19", ci_low=None, ci_high=None)
    (axes,) = contrasts_picture([alone], settings).figure().axes
    assert len(marks_of(axes)) == 1


@pytest.mark.parametrize(
    ("points", "text"),
    [(12.34, "+12.3"), (-5, "−5.0"), (-0.04, "0.0"), (0.0, "0.0"), (10, "+10.0")],
)
def test_signed_differences(points, text):
    assert signed(points) == text


def test_the_same_comparisons_give_the_same_bytes(compared, settings, tmp_path):
    alone = compared(*CONTRAST, family="contrast")
    assert_repeats(contrasts_picture([alone], settings), tmp_path)
