import polars as pl

from failbench.study.estimates import Estimates
from failbench.study.labels import is_blind
from intervals import best_classifier, majority
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


def test_naming_the_most_frequent_category_is_right_as_often_as_it_occurs():
    rows = {"category": ["unknown", "unknown", "optimization"] * 2, "scenario": ["a", "b", "c"] * 2}
    for row in majority(pl.DataFrame(rows)):
        assert (row["value"], row["n"]) == (2 / 3, 3)


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
