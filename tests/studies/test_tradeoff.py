"""The trade-off: whose conditions are counted, and what the title claims."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.study.labels import is_blind
from tradeoff import numbers, tradeoff


@pytest.fixture
def points(measured, reported):
    measured["19"]["invariants"] = measured["19"]["ebm"]
    return tradeoff(measured, reported)


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


def test_the_title_is_of_the_most_accurate_held_out_method(points):
    best = points.drop_nulls("conditions").sort("accuracy").row(-1, named=True)
    assert numbers(points)["best"]["accuracy"] == best["accuracy"]
    every = points.filter(source="measured")
    assert every["accuracy"].to_numpy().max() > best["accuracy"]  # a method that is not held out


def test_a_method_without_a_label_is_refused_by_name(measured, reported):
    measured["19"]["oracle"] = measured["19"]["ebm"] | {
        "accuracy": {"value": 1.0, "ci_low": 1.0, "ci_high": 1.0, "n": 76}
    }
    with pytest.raises(BadInputError, match="oracle"):
        numbers(tradeoff(measured, reported))
