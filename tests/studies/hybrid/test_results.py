from __future__ import annotations

from itertools import product

import polars as pl
import pytest

from failbench.methods.hybrid import Hybrid, HybridSettings
from failbench.prediction.hybrids import compose
from failbench.statistics.commitment import at_threshold
from failbench.statistics.costs import UnitCosts
from failbench.statistics.method_intervals import IntervalSettings, method_intervals
from failbench.studies.hybrid.results import (
    BEST,
    RoutingSettings,
    hybrid_metrics,
    prices_key,
    study_hybrids,
)
from failbench.studies.hybrid.routing import routed_grid
from failbench.studies.hybrid.threshold_choice import cost_at
from failbench.vocabulary import CATEGORIES
from made_up import made_up_predictions, small_predictions

COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
INTERVALS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
SETTINGS = RoutingSettings(
    feature_set="19", step=0.25, human_costs=(0.2, 1.0), wrong_answer_costs=(0.0, 3.0), halves=200
)
THRESHOLDS = HybridSettings(rules_from=0.75, classifier_from=0.5)
EXPENSIVE = prices_key(1.0, 3.0)


def study(rules, members):
    hybrid = Hybrid(None, None, None, **THRESHOLDS.model_dump())
    composed = compose("hybrid", hybrid, rules, members)
    results = study_hybrids(
        {"hybrid": composed}, rules, members, THRESHOLDS, COSTS, SETTINGS, INTERVALS
    )
    rows = {
        (part, key, metric): estimate
        for part, keys in hybrid_metrics(results).items()
        for key, metrics in keys.items()
        for metric, estimate in metrics.items()
    }
    return composed, rows


def predicted(accuracy: float, seed: int) -> pl.DataFrame:
    return made_up_predictions(accuracy, repeats=2, scenarios=8, seed=seed).with_columns(
        study=pl.lit("nested_cv")
    )


def made_up_answers():
    rules = at_threshold(predicted(0.7, seed=0), 0.5)
    return rules, {"classifier": predicted(0.5, seed=1), "human": predicted(0.9, seed=2)}


def made_up_study():
    return study(*made_up_answers())


@pytest.fixture(scope="module")
def made_up():
    return made_up_study()


def telling(surely_right: bool) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Rules that are right above 0.5, and below it wrong or right; a person is always right."""
    category = [name for name in CATEGORIES for _ in range(8)]
    confidence = [0.9, 0.3] * 20
    wrong = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))
    prediction = [
        name if surely_right or sure > 0.5 else wrong[name]
        for name, sure in zip(category, confidence, strict=True)
    ]
    rules = small_predictions(category=category, prediction=prediction, confidence=confidence)
    human = small_predictions(category=category, prediction=category, confidence=[0.9] * 40)
    classifier = human.with_columns(prediction=pl.col("category").replace(wrong))
    study = pl.lit("nested_cv").alias("study")
    members = {"classifier": classifier.with_columns(study), "human": human.with_columns(study)}
    return rules.with_columns(study), members


def costs_of_halves(rows) -> tuple[float, float]:
    """On the half that chose the thresholds, and on the other."""
    return tuple(
        rows[BEST, EXPENSIVE, metric]["value"] for metric in ("cost_own_half", "cost_other_half")
    )


def test_routes_and_totals_are_those_of_the_predictions(made_up):
    composed, rows = made_up
    expected = method_intervals(composed, INTERVALS, COSTS)
    for metric in ("accuracy", "cost_per_run"):
        row = rows["hybrid", "all", metric]
        same = expected[metric]
        assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx(
            (same.value, same.ci_low, same.ci_high)
        )
    for route, part in composed.group_by("route"):
        right = (part["prediction"] == part["category"]).mean()
        assert rows["hybrid", route[0], "precision"]["value"] == pytest.approx(right)
        share = expected[f"route_{route[0]}"].value
        assert rows["hybrid", route[0], "share"]["value"] == pytest.approx(share)


def test_the_measured_cost_without_mistakes_is_the_hybrids_own(made_up):
    _, rows = made_up
    measured = rows[BEST, prices_key(1.0, 0.0), "cost_measured"]
    same = rows["hybrid", "all", "cost_per_run"]
    for name in ("value", "ci_low", "ci_high"):
        assert measured[name] == pytest.approx(same[name])
    assert rows[BEST, prices_key(1.0, 0.0), "cost_person_alone"]["value"] == 1


def test_the_cheapest_pair_is_the_cheapest_of_the_grid(made_up):
    _, rows = made_up
    steps = (THRESHOLDS.classifier_from, THRESHOLDS.rules_from)
    grid = routed_grid(*made_up_answers(), SETTINGS.step, steps)
    for human, wrong in product(SETTINGS.human_costs, SETTINGS.wrong_answer_costs):
        key = prices_key(human, wrong)
        cheapest = cost_at(grid.shares(), COSTS, human, wrong).min()
        assert rows[BEST, key, "cost_best"]["value"] == pytest.approx(cheapest)
        assert rows[BEST, key, "cost_best"]["value"] <= rows[BEST, key, "cost_measured"]["value"]


def test_a_clear_optimum_is_found_in_every_resample_and_holds_on_the_other_half():
    _, rows = study(*telling(surely_right=False))
    low, high = (rows[BEST, EXPENSIVE, name] for name in ("classifier_from", "rules_from"))
    assert (low["value"], low["ci_low"], low["ci_high"]) == (0.75, 0.75, 0.75)
    assert (high["value"], high["ci_low"], high["ci_high"]) == (0.75, 0.75, 0.75)
    assert rows[BEST, EXPENSIVE, "agreement"]["value"] == 1
    promised, paid = costs_of_halves(rows)
    assert promised == pytest.approx(paid, abs=0.01) == pytest.approx(0.5, abs=0.01)


def test_what_a_half_promises_is_on_average_no_dearer_than_what_the_other_pays(made_up):
    _, rows = made_up
    promised, paid = costs_of_halves(rows)
    assert promised < paid
