from __future__ import annotations

import copy
from itertools import product

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import HybridSettings
from failbench.base.records import kept_by_hand
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.hybrid import Hybrid
from failbench.prediction.hybrids import compose
from failbench.statistics.intervals import IntervalSettings, method_intervals
from failbench.statistics.metrics import UnitCosts
from failbench.statistics.thresholds import at_threshold, price, routed_grid
from failbench.study import Estimates
from failbench.study.paper_numbers import Reported
from hybrid import RoutingSettings, best_thresholds, printed, routes
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
EXPENSIVE = {"human": "1", "wrong": "3"}


def predicted(accuracy: float, seed: int) -> pl.DataFrame:
    table = made_up_predictions(accuracy, repeats=2, scenarios=8, seed=seed)
    return table.with_columns(study=pl.lit("nested_cv"))


@pytest.fixture(scope="module")
def answers():
    rules = at_threshold(predicted(0.7, seed=0), 0.5)
    return rules, {"classifier": predicted(0.5, seed=1), "human": predicted(0.9, seed=2)}


@pytest.fixture(scope="module")
def composed(answers) -> pl.DataFrame:
    return compose("hybrid", Hybrid(None, None, None, **THRESHOLDS.model_dump()), *answers)


@pytest.fixture(scope="module")
def of_routes(composed) -> Estimates:
    return Estimates(pl.concat(routes("hybrid", composed, COSTS, INTERVALS)))


@pytest.fixture(scope="module")
def cheapest(answers) -> Estimates:
    return Estimates(best_thresholds(*answers, THRESHOLDS, COSTS, SETTINGS, INTERVALS))


def telling() -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Rules that are right above 0.5 and wrong below it; a person is always right."""
    category = [name for name in CATEGORIES for _ in range(8)]
    confidence = [0.9, 0.3] * 20
    wrong = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))
    prediction = [
        name if sure > 0.5 else wrong[name] for name, sure in zip(category, confidence, strict=True)
    ]
    rules = small_predictions(category=category, prediction=prediction, confidence=confidence)
    human = small_predictions(category=category, prediction=category, confidence=[0.9] * 40)
    classifier = human.with_columns(prediction=pl.col("category").replace(wrong))
    study = pl.lit("nested_cv").alias("study")
    members = {"classifier": classifier.with_columns(study), "human": human.with_columns(study)}
    return rules.with_columns(study), members


def test_routes_and_totals_are_those_of_the_predictions(composed, of_routes):
    expected = method_intervals(composed, INTERVALS, COSTS)
    for metric in ("accuracy", "cost_per_run"):
        row, same = of_routes.row(route="all", metric=metric), expected[metric]
        assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx(
            (same.value, same.ci_low, same.ci_high)
        )
    for (route,), part in composed.group_by("route"):
        right = (part["prediction"] == part["category"]).mean()
        assert of_routes.value(route=route, metric="precision") == pytest.approx(right)
        share = of_routes.value(route=route, metric="share")
        assert share == pytest.approx(expected[f"route_{route}"].value)


def test_the_measured_cost_without_mistakes_is_the_hybrids_own(of_routes, cheapest):
    prices = {"human": "1", "wrong": "0"}
    measured = cheapest.row(metric="cost_measured", **prices)
    same = of_routes.row(route="all", metric="cost_per_run")
    for name in ("value", "ci_low", "ci_high"):
        assert measured[name] == pytest.approx(same[name])
    assert cheapest.value(metric="cost_person_alone", **prices) == 1


def test_the_cheapest_pair_is_the_cheapest_of_the_grid(answers, cheapest):
    grid = routed_grid(*answers, SETTINGS.step, (0.5, 0.75))
    for human, wrong in product(SETTINGS.human_costs, SETTINGS.wrong_answer_costs):
        at = cheapest.where(human=f"{human:g}", wrong=f"{wrong:g}")
        least = price(grid.shares(), COSTS.model_copy(update={"human": human}), wrong).min()
        assert at.value(metric="cost_best") == pytest.approx(least)
        assert at.value(metric="cost_best") <= at.value(metric="cost_measured")


def test_a_clear_optimum_is_found_in_every_resample_and_holds_on_the_other_half():
    found = Estimates(best_thresholds(*telling(), THRESHOLDS, COSTS, SETTINGS, INTERVALS))
    at = found.where(**EXPENSIVE)
    for name in ("classifier_from", "rules_from"):
        row = at.row(metric=name)
        assert (row["value"], row["ci_low"], row["ci_high"]) == (0.75, 0.75, 0.75)
    assert at.value(metric="agreement") == 1
    promised, paid = (at.value(metric=f"cost_{half}_half") for half in ("own", "other"))
    assert promised == pytest.approx(paid, abs=0.01) == pytest.approx(0.5, abs=0.01)


def test_what_a_half_promises_is_on_average_no_dearer_than_what_the_other_pays(cheapest):
    at = cheapest.where(**EXPENSIVE)
    assert at.value(metric="cost_own_half") < at.value(metric="cost_other_half")


@pytest.mark.parametrize("claim", ["hybrid_shares", "hybrid_parts", "hybrid_rules_precision"])
def test_a_claim_that_is_gone_is_named(raw_reported, claim):
    raw = copy.deepcopy(raw_reported)
    del raw["claims"][claim]
    with pytest.raises(BadInputError, match=rf"claims\.{claim}"):
        list(printed(kept_by_hand(Reported, raw, "data/reported/paper.yaml")))
