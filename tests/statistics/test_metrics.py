from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss

from failbench.base.predictions import DECIMALS
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BATCH, BootstrapSettings, resample, single_seeds
from failbench.statistics.intervals import (
    IntervalSettings,
    ScenarioIntervalSettings,
    method_intervals,
    scenario_intervals,
)
from failbench.statistics.metrics import UnitCosts, ValueMetric, cost_metrics
from failbench.statistics.scenario_values import (
    RESOLUTION,
    over_committed,
    over_scenarios,
    ratio,
    scenario_answers,
    weighted_mean,
)
from failbench.statistics.scenario_values import right as right_answer
from made_up import completed, made_up_predictions, small_predictions

SETTINGS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
PROBABILITIES = [f"p_{category}" for category in CATEGORIES]


def with_abstentions(predictions: pl.DataFrame, below: float = 0.5) -> pl.DataFrame:
    return predictions.with_columns(
        prediction=pl.when(pl.col("confidence") < below)
        .then(pl.lit("abstain"))
        .otherwise("prediction")
    )


def with_probabilities(predictions: pl.DataFrame) -> pl.DataFrame:
    drawn = np.random.default_rng(3).dirichlet(np.ones(5), predictions.height)
    return predictions.with_columns(
        pl.Series(name, drawn[:, column]) for column, name in enumerate(PROBABILITIES)
    )


def test_brier_and_log_loss_equal_scikit_learn():
    predictions = with_probabilities(made_up_predictions())
    probabilities = predictions.select(sorted(PROBABILITIES)).to_numpy()
    labels = predictions["category"].to_list()
    intervals = method_intervals(predictions, SETTINGS)
    expected = brier_score_loss(
        labels, probabilities, labels=sorted(CATEGORIES), scale_by_half=False
    )
    assert intervals["brier"].value == pytest.approx(expected)
    assert intervals["log_loss"].value == pytest.approx(
        log_loss(labels, probabilities, labels=sorted(CATEGORIES))
    )


def test_being_certain_and_wrong_costs_two_and_the_resolution_of_the_files():
    predictions = small_predictions(
        category=["optimization", "optimization", "unknown", "unknown"],
        prediction=["unknown", "unknown", "optimization", "optimization"],
        confidence=[1.0] * 4,
    )
    intervals = method_intervals(predictions, SETTINGS)
    assert intervals["brier"].value == pytest.approx(2.0)
    assert intervals["log_loss"].value == pytest.approx(-np.log(10.0**-DECIMALS))
    assert pytest.approx(10.0**-DECIMALS) == RESOLUTION


def test_a_number_of_which_all_resamples_agree_is_a_point():
    certain = completed(made_up_predictions(accuracy=1.0).with_columns(confidence=pl.lit(1.0)))
    intervals = method_intervals(certain, SETTINGS)
    for name in ("brier", "log_loss", "calibration_error"):
        interval = intervals[name]
        assert (interval.ci_low, interval.value, interval.ci_high, interval.method) == (
            0,
            0,
            0,
            "point",
        )


def test_the_interval_of_the_brier_score_equals_scipy_over_scenario_means():
    predictions = with_probabilities(made_up_predictions())
    probabilities = predictions.select(PROBABILITIES).to_numpy()
    is_category = predictions["category"].to_numpy()[:, None] == np.array(CATEGORIES)
    means = (
        predictions.with_columns(
            squared=pl.Series(((probabilities - is_category) ** 2).sum(axis=1))
        )
        .group_by("category", "scenario")
        .agg(pl.col("squared").mean())
        .sort("scenario")
    )
    samples = [
        means.filter(pl.col("category") == category)["squared"].to_numpy()
        for category in CATEGORIES
    ]
    expected = stats.bootstrap(
        samples,
        lambda *parts, axis: np.mean([part.mean(axis=axis) for part in parts], axis=0).round(12),
        n_resamples=SETTINGS.resamples,
        batch=BATCH,
        method="BCa",
        rng=np.random.default_rng(SETTINGS.seed),
    ).confidence_interval
    interval = method_intervals(predictions, SETTINGS)["brier"]
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=1e-9)


def test_committed_accuracy_is_the_ratio_of_right_to_committed():
    predictions = with_abstentions(made_up_predictions())
    committed = predictions.filter(pl.col("prediction") != "abstain")
    interval = method_intervals(predictions, SETTINGS)["accuracy_when_committed"]
    expected = (committed["prediction"] == committed["category"]).mean()
    assert interval.value == pytest.approx(expected)
    assert interval.ci_low < expected < interval.ci_high
    assert interval.n == 60
    assert "ratio" in interval.estimand


def test_wilsons_interval_of_committed_accuracy_counts_what_was_committed():
    predictions = with_abstentions(made_up_predictions(accuracy=1.0, repeats=1))
    committed = int((predictions["prediction"] != "abstain").sum())
    interval = method_intervals(predictions, SETTINGS)["accuracy_when_committed"]
    expected = stats.binomtest(committed, committed).proportion_ci(0.95, method="wilson")
    assert committed < 50
    assert (interval.method, interval.ci_low) == ("Wilson", pytest.approx(expected.low))


def test_a_resample_that_commits_to_nothing_counts_as_nothing_right():
    assert ratio(np.array([[0.0, 0.0], [1.0, 4.0]])).tolist() == [0.0, 0.25]


def test_the_sensitivity_row_counts_abstaining_on_unknown_alone_as_right():
    predictions = made_up_predictions(accuracy=1.0).with_columns(
        prediction=pl.when(pl.col("category").is_in(["unknown", "optimization"]))
        .then(pl.lit("abstain"))
        .otherwise("prediction")
    )
    intervals = method_intervals(predictions, SETTINGS)
    assert intervals["accuracy"].value == pytest.approx(0.6)
    assert intervals["accuracy_abstaining_on_unknown"].value == pytest.approx(0.8)


def test_conditions_are_averaged_over_scenarios_that_have_any():
    predictions = made_up_predictions().with_columns(
        conditions=pl.when(pl.col("category") == "unknown")
        .then(None)
        .when(pl.col("category") == "optimization")
        .then(pl.when(pl.col("repeat") == 0).then(8).otherwise(None))
        .otherwise(3)
        .cast(pl.Int32)
    )
    interval = method_intervals(predictions, SETTINGS)["conditions_to_read"]
    assert interval.value == pytest.approx((8 + 3 * 3) / 4)
    # Categories keep their sizes in every resample, and here they decide on everything.
    assert (interval.ci_low, interval.ci_high, interval.method) == (
        interval.value,
        interval.value,
        "point",
    )


def test_reasons_of_abstention_add_up_to_the_abstention_rate():
    predictions = with_abstentions(made_up_predictions()).with_columns(
        reason=pl.when(pl.col("prediction") == "abstain").then(
            pl.when(pl.col("repeat") == 0).then(pl.lit("conflict")).otherwise(pl.lit("missing"))
        )
    )
    intervals = method_intervals(predictions, SETTINGS)
    parts = [
        intervals[f"abstained_{reason}"] for reason in ("missing", "conflict", "low_confidence")
    ]
    assert sum(part.value for part in parts) == pytest.approx(intervals["abstention_rate"].value)
    assert 0 < parts[1].value < parts[0].value
    assert (parts[2].value, parts[2].method) == (0, "Wilson")
    assert all(part.ci_low <= part.value < part.ci_high for part in parts)


def test_routes_add_up_to_one_and_only_hybrids_have_them():
    predictions = made_up_predictions().with_columns(
        route=pl.when(pl.col("confidence") > 0.7)
        .then(pl.lit("rules"))
        .when(pl.col("confidence") > 0.4)
        .then(pl.lit("classifier"))
        .otherwise(pl.lit("human"))
    )
    intervals = method_intervals(predictions, SETTINGS)
    routes = {
        name: interval.value for name, interval in intervals.items() if name.startswith("route_")
    }
    assert set(routes) == {"route_rules", "route_classifier", "route_human"}
    assert sum(routes.values()) == pytest.approx(1)
    assert routes["route_rules"] == pytest.approx((predictions["confidence"] > 0.7).mean())
    plain = method_intervals(made_up_predictions(), SETTINGS)
    assert not [name for name in plain if name.startswith(("route_", "abstained_"))]


def test_where_bca_has_no_answer_quantiles_of_the_resamples_take_its_place():
    """A figure that resampling can only raise: how many scenarios were not drawn."""
    settings = BootstrapSettings(resamples=1000, confidence=0.95, seed=0)
    resampled = resample(
        single_seeds((20, 20)),
        lambda weights: sum((counts == 0.0).sum(axis=-1) for counts in weights)[None] * 1.0,
        settings,
    )
    low, high, method = resampled.number(0, 0.0)
    assert method == "percentile bootstrap"
    assert low == 0
    assert 10 < high < 25


def test_sums_with_weights_are_those_of_rows_repeated():
    predictions = made_up_predictions(repeats=1, scenarios=3)
    values = over_scenarios(predictions, pl.col("confidence"))
    weights = tuple(np.array([2.0, 0.0, 1.0]) for _ in CATEGORIES)
    repeated = [part[[0, 0, 2]].sum(axis=0) for part in values.values.values()]
    assert values.sums(weights) == pytest.approx(np.sum(repeated, axis=0))
    assert values.sums()[1] == 15


@pytest.mark.long
def test_bca_covers_the_true_committed_accuracy():
    """150 studies of 76 scenarios, each with its own chances of an answer and of a right one."""
    rng = np.random.default_rng(0)
    truth, covered = 0.75, []
    for _ in range(150):
        rows = []
        for category, count in COUNTS.items():
            commits, rights = rng.beta(2.1, 0.9, count), rng.beta(3.0, 1.0, count)
            for number, (commit, skill) in enumerate(zip(commits, rights, strict=True)):
                for repeat in range(10):
                    right = category if rng.random() < skill else "none of them"
                    answer = right if rng.random() < commit else "abstain"
                    rows.append((repeat, 0, f"{category}_{number}", category, answer))
        predictions = pl.DataFrame(
            rows, schema=["repeat", "seed", "scenario", "category", "prediction"], orient="row"
        )
        committed = ValueMetric(
            "committed", over_committed(predictions, right_answer()), "", kind="proportion"
        )
        intervals = scenario_intervals(scenario_answers(predictions), (), SETTINGS, (committed,))
        covered.append(intervals["committed"].ci_low <= truth <= intervals["committed"].ci_high)
    assert 0.90 <= np.mean(covered) <= 0.99


def test_a_weighted_mean_is_that_of_numpy_whatever_the_order_of_scenarios():
    rows = [("unknown", "b", 0.2, 1.0), ("optimization", "a", 0.8, 3.0), ("unknown", "c", 0.5, 0.0)]
    table = pl.DataFrame(rows, schema=["category", "scenario", "value", "weight"], orient="row")
    for ordered in (table, table.reverse()):
        sums = weighted_mean(ordered, pl.col("value"), pl.col("weight")).sums()
        assert ratio(sums) == pytest.approx(np.average([0.2, 0.8, 0.5], weights=[1, 3, 0]))
    chosen = weighted_mean(table, pl.col("value") > 0.4, pl.col("scenario") != "a").sums()
    assert chosen.tolist() == [1.0, 2.0]


COSTS = UnitCosts(rules=0.0, classifier=0.1, human=1.0)
COST_SETTINGS = ScenarioIntervalSettings(
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
    interval = hybrid_cost(answered(routes), costs, COST_SETTINGS)
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
    interval = hybrid_cost(answered(routes), COSTS, COST_SETTINGS)
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=0.02)


def test_a_cost_above_one_is_no_proportion():
    """All runs cost the same, and more than one: there is nothing to resample."""
    predictions = answered({"optimization": ["human"] * 3, "unknown": ["human"] * 3})
    interval = hybrid_cost(predictions, UnitCosts(rules=0, classifier=1, human=40), COST_SETTINGS)
    assert (interval.ci_low, interval.value, interval.ci_high) == (40, 40, 40)


def test_a_method_that_is_no_hybrid_has_no_cost():
    assert cost_metrics(answered({"unknown": [None, None]}), COSTS) == ()
