"""The report: its tables say whose groups they are, and its sentence has the table's numbers."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from failbench.external.tables import DETECTION, POSITIVES
from failbench.reporting.cells import percent
from failbench.studies.external_default.report import report
from failbench.studies.external_default.results import ACCURACY, cell
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    HOST_COLUMNS,
    PRINTED,
    THEIR_FOREST,
)


@pytest.fixture(scope="module")
def shown(measured, tables, small):
    return report(measured.answers, measured.groups, tables, small)


@pytest.fixture(scope="module")
def by_name(shown):
    return {table.name: table for table in shown.tables}


def value(shown, protocol, columns):
    key = {"protocol": protocol, "columns": columns, "method": THEIR_FOREST, "metric": ACCURACY}
    return percent(cell(shown.points["external_default"], task=DETECTION, **key)["value"])


def test_every_table_says_that_the_groups_are_ours(shown):
    for table in shown.tables:
        notes = " ".join(table.notes)
        assert "the groups are ours" in notes
        assert "intervals by resampling groups" in notes


def test_the_printed_figure_stands_in_the_row_of_the_authors_protocol_alone(by_name):
    printed = [row[1] for row in by_name["external_default"].rows if row[1]]
    assert printed[0] == "90.0"
    assert set(printed[1:]) == {"–"}


def test_every_category_stands_beside_what_is_printed(by_name):
    table = by_name["external_default_categories"]
    assert [row[0] for row in table.rows] == list(POSITIVES.values())
    assert {row[1] for row in table.rows} == {"90.0"}


def test_rules_that_cannot_be_asked_are_counted(by_name):
    notes = " ".join(by_name["external_default_methods"].notes)
    assert "Of 23 simple rules 16 read error text and 5 a feature" in notes
    assert "Not applicable" in notes


def test_all_numbers_of_groups_have_a_row(by_name, small):
    rows = by_name["external_default_groups"].rows
    assert [row[0] for row in rows] == ["8", "16"]


def test_the_sentence_and_the_title_have_the_numbers_of_the_table(shown, small):
    (sentence,) = shown.sentences.values()
    assert sentence.count("\n") == 1
    blocks = f"blocks_{small.groups}"
    for protocol, columns in (
        (PRINTED, ALL_COLUMNS),
        (PRINTED, HOST_COLUMNS),
        (blocks, ALL_COLUMNS),
    ):
        assert f"{value(shown, protocol, columns)} [" in sentence
    assert "where they print 90.0 %" in sentence
    title = shown.figures["external_default"].title
    assert value(shown, PRINTED, HOST_COLUMNS) in title
    assert value(shown, blocks, ALL_COLUMNS) in title


@pytest.mark.usefixtures("project_style")
def test_the_figure_has_a_panel_for_each_task_and_a_row_for_each_protocol(shown):
    figure = shown.figures["external_default"].figure()
    assert isinstance(figure, Figure)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "faulty or correct",
        "which of seven categories",
    ]
    assert len(figure.axes[0].get_yticks()) == 5
