from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import UnitCosts, cost_metrics
from failbench.statistics.scenario_values import scenario_answers

COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
SETTINGS = ScenarioIntervalSettings(
    resamples=2000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


def hybrid_cost(predictions, costs, settings):
    metrics = cost_metrics(predictions, costs)
    return scenario_intervals(scenario_answers(predictions), (), settings, metrics)["cost_per_run"]


def answered(routes: dict[str, list[str]]) -> pl.DataFrame:
    """Two categories; of each, scenarios with one run and one repeat, and who answered them."""
    rows = [
        {
            "repeat": 0,
            "scenario": f"{category}_{number}",
            "seed": 0,
            "category": category,
            "prediction": category,
            "route": route,
        }
        for category, taken in routes.items()
        for number, route in enumerate(taken)
    ]
    return pl.DataFrame(rows, schema_overrides={"route": pl.String})


@pytest.mark.parametrize(
    ("costs", "routes", "paid"),
    [
        pytest.param(
            UnitCosts(rules=0.2, classifier=7.0, human=3.0),
            {
                "optimization": ["rules"] * 8 + ["human"] * 2,
                "unknown": ["rules"] * 6 + ["human"] * 4,
            },
            0.2 * 0.7 + 3.0 * 0.3,
            id="without a classifier as the paper has it",
        ),
        pytest.param(
            COSTS,
            {"optimization": ["rules"] * 6 + ["human"] * 4, "unknown": ["rules", "classifier"] * 5},
            0.1 * 5 / 20 + 1.0 * 4 / 20,
            id="a classifier adds its share times its own cost",
        ),
    ],
)
def test_the_cost_of_predictions_is_that_of_the_shares_of_their_routes(costs, routes, paid):
    interval = hybrid_cost(answered(routes), costs, SETTINGS)
    assert interval.value == pytest.approx(paid)
    assert interval.n == 20
    assert interval.ci_low < interval.value < interval.ci_high


def test_the_interval_is_the_bootstrap_of_scenario_costs_within_categories():
    routes = {
        "optimization": ["rules"] * 6 + ["human"] * 4,
        "unknown": ["rules", "classifier"] * 5,
    }
    samples = tuple(
        np.array([COSTS.by_route()[route] for route in taken]) for taken in routes.values()
    )

    def mean(*parts, axis):
        return sum(part.mean(axis=axis) for part in parts) / len(parts)

    expected = stats.bootstrap(
        samples, mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    interval = hybrid_cost(answered(routes), COSTS, SETTINGS)
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=0.02)


def test_a_cost_above_one_is_no_proportion():
    """All runs cost the same, and more than one: there is nothing to resample."""
    predictions = answered({"optimization": ["human"] * 3, "unknown": ["human"] * 3})
    interval = hybrid_cost(predictions, UnitCosts(rules=0, classifier=1, human=40), SETTINGS)
    assert (interval.ci_low, interval.value, interval.ci_high) == (40, 40, 40)


def test_a_method_that_is_no_hybrid_has_no_cost():
    assert cost_metrics(answered({"unknown": [None, None]}), COSTS) == ()
