"""The trade-off: whose conditions are counted, what is drawn apart, and what the title claims."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.reporting.labels import is_blind, method_label
from failbench.studies.tradeoff.figure import DEVELOPMENT, HELD_OUT, TOLD, tradeoff_picture
from failbench.studies.tradeoff.results import tradeoff_points
from failbench.studies.tradeoff.tables import tradeoff_table
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture
def points(measured, reported):
    measured["19"]["invariants"] = measured["19"]["ebm"]
    return tradeoff_points(measured, reported)


def test_conditions_are_those_of_held_out_methods_alone(points):
    of_measured = points.filter(source="measured")
    assert {"invariants", "simulated_human"} < set(of_measured["method"])
    counted = of_measured.drop_nulls("conditions")["method"]
    assert all(map(is_blind, counted))
    assert "random_forest" in counted


def test_a_reported_point_has_a_score_and_no_conditions(points):
    tree = points.row(
        by_predicate=(pl.col("source") == "reported") & (pl.col("method") == "decision_tree"),
        named=True,
    )
    assert (tree["score_low"], tree["score_high"], tree["conditions"]) == (60, 80, None)


def test_a_mark_is_filled_where_a_method_is_held_out_and_every_name_is_written(points):
    left, right = assert_printable(tradeoff_picture(points)).axes
    fills = {
        (axes, line.get_marker()): line.get_markerfacecolor()
        for axes in (left, right)
        for line in axes.lines
        if line.get_marker() in {mark.marker for mark in (HELD_OUT, DEVELOPMENT, TOLD)}
    }
    assert fills.pop((left, HELD_OUT.marker)) == HELD_OUT.colour
    assert set(fills.values()) == {"white"}
    named = {text.get_text() for axes in (left, right) for text in axes.texts if text.get_text()}
    assert named == {method_label(name) for name in points.filter(source="measured")["method"]}


def test_the_title_is_of_the_most_accurate_held_out_method(points):
    title = tradeoff_picture(points).title
    best = points.drop_nulls("conditions").sort("accuracy").row(-1, named=True)
    assert f"{100 * best['accuracy']:.1f} %, {best['conditions']:.0f} conditions" in title
    every = points.filter(source="measured")
    assert every["accuracy"].to_numpy().max() > best["accuracy"]  # a method that is not held out


def test_every_method_has_a_definition_of_its_conditions(points):
    text = " ".join(row[0] for row in tradeoff_table(points).rows)
    assert all(method_label(name) in text for name in points.filter(source="measured")["method"])


def test_a_method_without_a_label_is_refused_by_name(measured, reported):
    measured["19"]["oracle"] = measured["19"]["ebm"]
    with pytest.raises(BadInputError, match="oracle"):
        tradeoff_picture(tradeoff_points(measured, reported)).figure()


def test_methods_that_give_no_conditions_at_all_can_be_drawn(measured, reported):
    bare = {"19": {"simulated_human": measured["19"]["simulated_human"]}}
    left, _ = tradeoff_picture(tradeoff_points(bare, reported)).figure().axes
    assert left.get_xlim() == (1.0, 10.0)


def test_the_same_points_give_the_same_bytes(points, tmp_path):
    assert_repeats(tradeoff_picture(points), tmp_path)
