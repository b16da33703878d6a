"""The tables and the figure of portability, from made-up rates."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.method_styles import METHOD_STYLES
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.portability.figure import CONDITIONS, portability_picture
from failbench.studies.portability.settings import FIXED
from failbench.studies.portability.tables import (
    condition_label,
    portability_contrasts_table,
    portability_table,
)
from made_up_portability import portability_settings
from printed_pictures import assert_printable, marks_of

SETTINGS = portability_settings(own_history_steps=100)
HOME, AWAY = SETTINGS.home, SETTINGS.away
TESTS = SignificanceSettings(
    feature_set="19",
    contrasts=SETTINGS.contrasts,
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.1,
    power=0.8,
    seed=0,
)


@pytest.fixture
def rates() -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "method": method,
                "condition": condition,
                "metric": "accuracy",
                "value": 0.25 + number / 10,
                "ci_low": 0.125,
                "ci_high": 0.75,
                "n": 76,
                "runs": 228,
            }
            for method in ("simple_rules", "random_forest")
            for number, condition in enumerate(CONDITIONS)
        ]
    )


def test_conditions_name_the_optimizer_and_how_thresholds_came_to_it():
    assert condition_label("home", HOME, AWAY) == "AdamW, as tuned"
    assert condition_label("recalibrated", HOME, AWAY) == "SGD, recalibrated"
    elsewhere = AWAY.model_copy(update={"architecture": "t5"})
    assert condition_label("fixed", HOME, elsewhere) == "T5 with SGD, fixed"


def test_the_paper_stands_above_what_was_measured(rates, reported):
    table = portability_table(rates, reported, SETTINGS, confidence=0.95)
    columns = [column.heading for column in table.columns]
    first, rules, forest = (dict(zip(columns, row, strict=True)) for row in table.rows)
    assert (first["AdamW, as tuned"], first["SGD, fixed"]) == ("> 50.0", "20.0")
    assert rules["AdamW, as tuned"] == "25.0 [12.5, 75.0]"
    assert (forest["Method"], forest["Scenarios"], forest["Runs"]) == ("Random forest", "76", "228")


def test_each_contrast_has_both_verdicts_and_what_could_have_been_shown(compared):
    facts = {"feature_set": "simple_rules", "family": "contrast", "p_holm": 0.04}
    table = portability_contrasts_table(
        [
            compared("adaptive", "home", equivalent=True, p_equivalence=0.012, **facts),
            compared("fixed", "home", detectable_difference=None, ci_low=None, **facts),
            compared("recalibrated", "fixed", feature_set="simple_rules"),
        ],
        SETTINGS,
        TESTS,
    )
    shown, hidden = table.rows
    assert shown[1:] == (
        "SGD, adaptive",
        "AdamW, as tuned",
        "10.0 [1.2, 20.0]",
        "0.040",
        "0.012",
        "shown",
        "16.7",
        "11.5",
    )
    assert (hidden[3], hidden[6], hidden[8]) == ("10.0", "not shown", "–")


def test_the_figure_has_a_panel_per_condition_and_the_methods_own_marks(rates, project_style):
    picture = portability_picture(rates, 0.2, home=HOME, away=AWAY)
    figure = assert_printable(picture)
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "Simple rules",
        "Random forest",
    ]
    assert len(figure.axes) == rates["condition"].n_unique()
    for axes in figure.axes:
        markers = [line.get_marker() for line in marks_of(axes)]
        assert markers == [METHOD_STYLES[name].marker for name in ("simple_rules", "random_forest")]
    assert figure.get_supxlabel() == "accuracy, percent of n = 76 scenarios, with interval"


@pytest.mark.parametrize(("fixed", "words"), [(0.1, "largest loss"), (0.9, "no method loses")])
def test_the_title_says_loss_only_where_there_is_one(rates, fixed, words):
    changed = rates.with_columns(
        value=pl.when(pl.col("condition") == FIXED).then(fixed).otherwise(0.5)
    )
    assert words in portability_picture(changed, 0.2, home=HOME, away=AWAY).title
