"""The table and the figure of lead time, from made-up rates."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.lead_time.figure import ReportedLeadTime, lead_time_picture
from failbench.studies.lead_time.results import (
    ALARM,
    MAIN_STUDY,
    MAIN_STUDY_EQUAL_REPEATS,
    POSSIBLE,
)
from failbench.studies.lead_time.tables import lead_time_table
from printed_pictures import assert_printable


@pytest.fixture
def rates() -> pl.DataFrame:
    rows = [
        ("alarm", 0, "false_alarms", 38),
        ("simple_rules", 0, MAIN_STUDY, 76),
        ("simple_rules", 0, MAIN_STUDY_EQUAL_REPEATS, 76),
    ]
    for step, past in ((0, 74), (10, 40), (50, 27), (100, 25)):
        for method in ("simple_rules", "improved_rules"):
            rows += [
                (method, step, "accuracy", 76),
                (method, step, "accuracy_past_onset", past),
                (method, step, "twin_accuracy", 67),
            ]
        if step:
            rows += [(name, step, "diagnosed_ahead", 76) for name in (ALARM, POSSIBLE)]
    table = pl.DataFrame(rows, schema=["method", "steps", "metric", "n"], orient="row")
    return table.with_columns(
        value=0.5 - pl.col("steps") / 1000, ci_low=pl.lit(0.25), ci_high=pl.lit(0.625)
    )


@pytest.fixture
def table(rates, reported):
    return lead_time_table(
        rates,
        reported,
        calibration_runs=76,
        limits=(2.5, 9.0),
        repeats=(10, 1),
        false_alarms=0.02,
        confidence=0.95,
    )


PRINTED = ReportedLeadTime({0: 0.618, 100: 0.553}, 0.53, (10, 50))


def test_the_paper_stands_beside_its_own_method_alone(table):
    given = {(row[0], row[1]): row[2] for row in table.rows}
    assert given["Improved rules", "100"] == "55.3"
    assert given["Improved rules", "10"] == given["Improved rules", "50"] == "> 53.0"
    assert given["Improved rules", "0"] == given["Simple rules", "100"] == "–"


def test_rows_have_their_rate_and_the_sizes_that_fall_with_the_steps(table):
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["Simple rules", "100"][5] == "40.0 [25.0, 62.5]"
    assert rows["Simple rules", "100"][-3:] == ("76", "25", "67")
    assert rows["Simple rules", "0"][-3:] == ("76", "74", "67")


def test_the_main_study_stands_beside_the_failure_itself_alone(table):
    rows = {(row[0], row[1]): row[3:5] for row in table.rows}
    assert rows["Simple rules", "0"] == ("50.0 [25.0, 62.5]",) * 2
    assert rows["Simple rules", "10"] == rows["Improved rules", "0"] == ("–", "–")
    assert "over its 10 repeats" in table.notes[1]
    assert "have (1)" in table.notes[1]


def test_the_note_says_how_often_the_alarm_was_false(table):
    assert "is meant for 2 % false alarms" in table.notes[2]
    assert "50.0 [25.0, 62.5] % (n = 38 scenarios)" in table.notes[2]
    assert "drawn 2 times" in table.notes[2]
    assert "from 2.5 to 9.0 times" in table.notes[2]


def test_the_figure_draws_every_panel_with_its_sizes(rates, project_style):
    figure = assert_printable(lead_time_picture(rates, PRINTED))
    names = [[label.get_text() for label in axes.get_xticklabels()] for axes in figure.axes]
    assert names[1] == ["100\n25", "50\n27", "10\n40", "0\n74"]
    assert names[2] == ["100\n76", "50\n76", "10\n76"]
    (legend,) = figure.legends
    texts = {text.get_text() for text in legend.get_texts()}
    assert {"Simple rules", "fault switched on", "reported (arrow: above)"} <= texts


def test_no_interval_is_cut_off(rates, project_style):
    figure = lead_time_picture(rates, PRINTED).figure()
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert (low, high > 62.5) == (0.0, True)


def test_the_papers_snapshots_are_ticks_and_those_without_a_number_arrows(rates, project_style):
    axes = lead_time_picture(rates, PRINTED).figure().axes[0]
    ticks = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "_"]
    assert sorted(ticks) == pytest.approx([53, 53, 55.3, 61.8])
    arrows = [text for text in axes.texts if text.arrow_patch is not None]
    assert [arrow.xyann[1] for arrow in arrows] == [53, 53]
    assert all(arrow.xy[1] > 53 for arrow in arrows)
