from itertools import product

import polars as pl
import pytest

from failbench.base.method_settings import HybridSettings
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.hybrid import Hybrid
from failbench.prediction.hybrids import compose
from failbench.statistics.metrics import UnitCosts
from failbench.statistics.thresholds import at_threshold, price, routed_grid
from failbench.study.estimates import Estimates
from hybrid import RoutingSettings, best_thresholds, routes
from made_up import made_up_predictions, small_predictions
from study_settings import METHOD_INTERVALS

COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
INTERVALS = METHOD_INTERVALS.model_copy(update={"wilson_below": 10})
SETTINGS = RoutingSettings(
    feature_set="19", step=0.25, human_costs=(0.2, 1.0), wrong_answer_costs=(0.0, 3.0), halves=200
)
THRESHOLDS = HybridSettings(rules_from=0.75, classifier_from=0.5)
BOUNDS = ("value", "ci_low", "ci_high")


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


def cheapest(answers) -> Estimates:
    return Estimates(best_thresholds(*answers, THRESHOLDS, COSTS, SETTINGS, INTERVALS))


def test_the_cheapest_pair_is_the_cheapest_of_the_grid(answers, of_routes):
    found = cheapest(answers)
    grid = routed_grid(*answers, SETTINGS.step, (0.5, 0.75))
    for human, wrong in product(SETTINGS.human_costs, SETTINGS.wrong_answer_costs):
        at = found.where(human=f"{human:g}", wrong=f"{wrong:g}")
        least = price(grid.shares(), COSTS.model_copy(update={"human": human}), wrong).min()
        assert at.value(metric="cost_best") == pytest.approx(least)
        assert at.value(metric="cost_best") <= at.value(metric="cost_measured")
    # what is measured without mistakes is the hybrid's own cost
    without = found.where(human="1", wrong="0")
    measured, same = (
        each.row(metric=metric)
        for each, metric in (
            (without, "cost_measured"),
            (of_routes.where(route="all"), "cost_per_run"),
        )
    )
    assert [measured[b] for b in BOUNDS] == pytest.approx([same[b] for b in BOUNDS])
    assert without.value(metric="cost_person_alone") == 1
    # what a half promises is on average no dearer than what the other pays
    dear = found.where(human="1", wrong="3")
    assert dear.value(metric="cost_own_half") < dear.value(metric="cost_other_half")


def test_a_clear_optimum_is_found_in_every_resample_and_holds_on_the_other_half():
    """Rules are right above 0.5 and wrong below it; a person is always right."""
    category = [name for name in CATEGORIES for _ in range(8)]
    wrong = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))
    mistaken = [name if row % 2 == 0 else wrong[name] for row, name in enumerate(category)]
    rules, human = (
        small_predictions(category=category, prediction=given, confidence=sure * 20).with_columns(
            study=pl.lit("nested_cv")
        )
        for given, sure in ((mistaken, [0.9, 0.3]), (category, [0.9, 0.9]))
    )
    classifier = human.with_columns(prediction=pl.col("category").replace(wrong))
    members = {"classifier": classifier, "human": human}
    at = cheapest((rules, members)).where(human="1", wrong="3")
    for name in ("classifier_from", "rules_from"):
        assert [at.row(metric=name)[b] for b in BOUNDS] == [0.75] * 3
    assert at.value(metric="agreement") == 1
    promised, paid = (at.value(metric=f"cost_{half}_half") for half in ("own", "other"))
    assert promised == pytest.approx(paid, abs=0.01) == pytest.approx(0.5, abs=0.01)
