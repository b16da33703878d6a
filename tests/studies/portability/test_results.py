"""Results of portability: conditions of a method are compared, and reports outlive the memory."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.portability.results import portability_metrics, portability_results
from made_up_portability import portability_settings

INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
TESTS = SignificanceSettings(
    feature_set="19",
    contrasts=(("a", "b"),),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.1,
    power=0.8,
    seed=0,
)


def test_the_study_compares_conditions_of_each_method_on_the_same_scenarios(predictions):
    contrasts = portability_settings().contrasts
    results = portability_results(predictions, contrasts, INTERVALS, TESTS)
    assert set(results.rates["n"]) == {20}
    named = results.contrasts
    assert [(pair.left, pair.right) for pair in named] == [("fixed", "home"), ("adaptive", "home")]
    accuracy = dict(
        results.rates.filter(metric="accuracy").select("condition", "value").iter_rows()
    )
    assert named[0].difference == pytest.approx(accuracy["fixed"] - accuracy["home"])
    leaves = portability_metrics(results)
    assert leaves["rates"]["simple_rules"]["home"]["accuracy"]["value"] == accuracy["home"]
    assert set(leaves["contrasts"]["simple_rules"]) == {"fixed_less_home", "adaptive_less_home"}


def test_methods_of_the_monitor_carry_bounds_over_and_adapt_to_no_history(of_monitor, predictions):
    both = pl.concat([predictions, of_monitor])
    results = portability_results(both, portability_settings().contrasts, INTERVALS, TESTS)
    rates = results.rates.filter(metric="accuracy", method="invariants")
    accuracy = dict(rates.select("condition", "value").iter_rows())
    # waiting is bounded where bounds are fitted or lent, and SGD has none of its own
    assert accuracy == {"home": 1.0, "fixed": 1.0, "recalibrated": pytest.approx(0.8)}
    of_invariants = [pair for pair in results.contrasts if pair.feature_set == "invariants"]
    assert [(pair.left, pair.right) for pair in of_invariants] == [("fixed", "home")]
