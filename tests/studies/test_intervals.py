"""The best classifier is a classifier; a trade-off counts conditions of held-out methods alone."""

from __future__ import annotations

import copy

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.methods import FEATURE_METHODS
from failbench.base.records import kept_by_hand
from failbench.study.captions import Captions
from failbench.study.estimates import Estimates
from failbench.study.labels import is_blind, method_label
from failbench.study.paper_numbers import Reported
from intervals import KEYS, best_classifier, majority, method_rows, printed
from tradeoff import numbers, tradeoff


def frame(measured) -> Estimates:
    return Estimates.of(
        pl.DataFrame(
            [
                {"feature_set": name, "method": method, "metric": metric, **estimate}
                for name, methods in measured.items()
                for method, metrics in methods.items()
                for metric, estimate in metrics.items()
            ]
        )
    )


def test_neither_a_person_nor_a_hybrid_nor_a_baseline_of_ours_is_a_classifier(measured, reported):
    best = best_classifier(frame(measured), reported)
    assert best["method"] == "logistic_regression"
    for method in ("simulated_human", "hybrid", "symptom_baseline", "improved_rules"):
        measured["19"][method]["accuracy"]["value"] = 0.99
    assert best_classifier(frame(measured), reported) == best


def test_what_was_not_measured_is_not_mentioned(measured, reported, repository, monkeypatch):
    monkeypatch.chdir(repository)

    def finding() -> str:
        found = frame(measured)
        named = {"confidence": 0.95, "best": best_classifier(found, reported)}
        of_paper = found.plus(*printed(reported)).nested(*KEYS)
        return Captions.read("intervals", of_paper, named).text("finding", "text")

    assert "; simple rules, which read the error text as well, in 59.2 [49.2, 69.2] %" in finding()
    del measured["19"]["simple_rules"]
    assert "simple rules" not in finding()
    del measured["19"]
    assert finding() == "No classifier was measured."


def test_naming_the_most_frequent_category_is_right_as_often_as_it_occurs():
    rows = {"category": ["unknown", "unknown", "optimization"] * 2, "scenario": ["a", "b", "c"] * 2}
    for row in majority(pl.DataFrame(rows)):
        assert (row["value"], row["n"]) == (2 / 3, 3)


def test_a_claim_that_is_gone_and_a_method_without_a_label_are_named(
    raw_reported, measured, reported
):
    raw = copy.deepcopy(raw_reported)
    del raw["claims"]["hybrid_accuracy"]
    without = kept_by_hand(Reported, raw, "data/reported/paper.yaml")
    with pytest.raises(BadInputError, match=r"claims\.hybrid_accuracy"):
        [*printed(without)]
    with pytest.raises(BadInputError, match="oracle"):
        [*method_rows(frame(measured).plus(*printed(reported)), reported, ["oracle"])]
    assert all(map(method_label, FEATURE_METHODS))


def test_the_trade_off_counts_conditions_of_held_out_methods_alone(measured, reported):
    measured["19"]["invariants"] = measured["19"]["ebm"]
    points = tradeoff(measured, reported)
    of_measured = points.filter(source="measured")
    assert {"invariants", "simulated_human"} < set(of_measured["method"])
    counted = of_measured.drop_nulls("conditions").sort("accuracy")
    assert all(map(is_blind, counted["method"]))
    assert "random_forest" in set(counted["method"])
    best = counted["accuracy"][-1]
    assert numbers(points)["best"]["accuracy"] == best
    assert of_measured["accuracy"].max() > best  # by a method that is not held out
    (tree,) = points.filter(source="reported", method="decision_tree").to_dicts()
    assert (tree["score_low"], tree["score_high"], tree["conditions"]) == (60, 80, None)
