import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss

from failbench.base.predictions import DECIMALS
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics import scenario_values
from failbench.statistics.bootstrap import resample, single_seeds
from failbench.statistics.intervals import method_intervals, scenario_intervals
from failbench.statistics.metrics import OVERALL, UnitCosts, ValueMetric, cost_metrics
from made_up import completed, made_up_predictions, small_predictions
from study_settings import BOOTSTRAP, INTERVALS, METHOD_INTERVALS, scipy_bootstrap

PROBABILITIES = [f"p_{category}" for category in CATEGORIES]
ABSTAIN = pl.lit("abstain")


def intervals_of(predictions: pl.DataFrame):
    return method_intervals(predictions, METHOD_INTERVALS)


def abstaining(predictions: pl.DataFrame, where: pl.Expr | None = None) -> pl.DataFrame:
    """From some, or where confidence is low."""
    silent = pl.when(pl.col("confidence") < 0.5 if where is None else where)
    return predictions.with_columns(prediction=silent.then(ABSTAIN).otherwise("prediction"))


def mean(*parts, axis):
    return np.mean([part.mean(axis=axis) for part in parts], axis=0).round(12)


def test_brier_and_log_loss_equal_scikit_learn_and_the_interval_scipy_over_scenario_means():
    predictions = made_up_predictions()
    drawn = np.random.default_rng(3).dirichlet(np.ones(5), predictions.height)
    predictions = predictions.with_columns(
        pl.Series(name, drawn[:, column]) for column, name in enumerate(PROBABILITIES)
    )
    intervals = intervals_of(predictions)
    asked = predictions["category"].to_list(), predictions.select(sorted(PROBABILITIES)).to_numpy()
    labels = sorted(CATEGORIES)
    expected = brier_score_loss(*asked, labels=labels, scale_by_half=False)
    assert intervals["brier"].value == pytest.approx(expected)
    assert intervals["log_loss"].value == pytest.approx(log_loss(*asked, labels=labels))
    is_category = predictions["category"].to_numpy()[:, None] == np.array(CATEGORIES)
    squared = pl.Series(((drawn - is_category) ** 2).sum(axis=1)).alias("squared")
    by_scenario = predictions.with_columns(squared).group_by("category", "scenario")
    means = by_scenario.agg(pl.col("squared").mean()).sort("scenario")
    samples = [means.filter(category=category)["squared"].to_numpy() for category in CATEGORIES]
    bounds = scipy_bootstrap(samples, mean).confidence_interval
    found = intervals["brier"].ci_low, intervals["brier"].ci_high
    assert found == pytest.approx(tuple(bounds), abs=1e-9)


def test_being_certain_costs_nothing_if_right_and_the_resolution_of_the_files_if_wrong():
    predictions = small_predictions(
        category=["optimization", "optimization", "unknown", "unknown"],
        prediction=["unknown", "unknown", "optimization", "optimization"],
        confidence=[1.0] * 4,
    )
    wrong = intervals_of(predictions)
    assert wrong["brier"].value == pytest.approx(2.0)
    assert wrong["log_loss"].value == pytest.approx(-np.log(10.0**-DECIMALS))
    assert pytest.approx(10.0**-DECIMALS) == scenario_values.RESOLUTION
    # and a number of which all resamples agree is a point
    certain = made_up_predictions(accuracy=1.0).with_columns(confidence=pl.lit(1.0))
    right = intervals_of(completed(certain.drop(PROBABILITIES)))
    for name in ("brier", "log_loss", "calibration_error"):
        found = right[name]
        assert (found.ci_low, found.value, found.ci_high, found.method) == (0, 0, 0, "point")


def test_committed_accuracy_is_the_ratio_of_right_to_committed_with_wilsons_interval_of_those():
    predictions = abstaining(made_up_predictions())
    committed = predictions.filter(pl.col("prediction") != "abstain")
    interval = intervals_of(predictions)["accuracy_when_committed"]
    expected = (committed["prediction"] == committed["category"]).mean()
    assert (interval.value, interval.n) == (pytest.approx(expected), 60)
    assert interval.ci_low < expected < interval.ci_high
    assert "ratio" in interval.estimand
    flawless = abstaining(made_up_predictions(accuracy=1.0, repeats=1))
    count = int((flawless["prediction"] != "abstain").sum())
    wilson = stats.binomtest(count, count).proportion_ci(0.95, method="wilson")
    interval = intervals_of(flawless)["accuracy_when_committed"]
    assert count < 50
    assert (interval.method, interval.ci_low) == ("Wilson", pytest.approx(wilson.low))
    # a resample that commits to nothing counts as nothing right
    assert scenario_values.ratio(np.array([[0.0, 0.0], [1.0, 4.0]])).tolist() == [0.0, 0.25]


def test_abstaining_is_never_right_but_on_unknown_in_the_sensitivity_row():
    silent = pl.col("category").is_in(["unknown", "optimization"])
    intervals = intervals_of(abstaining(made_up_predictions(accuracy=1.0), silent))
    expected = {
        "accuracy": 0.6,
        "accuracy_abstaining_on_unknown": 0.8,
        "recall_unknown": 0.0,
        "abstention_rate": 0.4,
    }
    assert {name: intervals[name].value for name in expected} == pytest.approx(expected)


def test_where_bca_has_no_answer_quantiles_of_the_resamples_take_its_place():
    """A figure that resampling can only raise: how many scenarios were not drawn."""
    resampled = resample(
        single_seeds((20, 20)),
        lambda weights: sum((counts == 0.0).sum(axis=-1) for counts in weights)[None] * 1.0,
        BOOTSTRAP,
    )
    low, high, method = resampled.number(0, 0.0)
    assert (method, low) == ("percentile bootstrap", 0)
    assert 10 < high < 25


def test_sums_with_weights_are_those_of_rows_repeated():
    predictions = made_up_predictions(repeats=1, scenarios=3)
    values = scenario_values.over_scenarios(predictions, pl.col("confidence"))
    weights = tuple(np.array([2.0, 0.0, 1.0]) for _ in CATEGORIES)
    repeated = [part[[0, 0, 2]].sum(axis=0) for part in values.values.values()]
    assert values.sums(weights) == pytest.approx(np.sum(repeated, axis=0))
    assert values.sums()[1] == 15


@pytest.mark.long
def test_bca_covers_the_true_accuracy_of_all_and_of_committed_answers():
    """150 studies of 76 scenarios, each with its own chances of an answer and of a right one."""
    rng = np.random.default_rng(0)
    truths, covered = {"accuracy": 0.70 * 0.75, "committed": 0.75}, []
    for _ in range(150):
        rows = []
        for category, count in COUNTS.items():
            commits, rights = rng.beta(2.1, 0.9, count), rng.beta(3.0, 1.0, count)
            for number, (commit, skill) in enumerate(zip(commits, rights, strict=True)):
                for repeat in range(10):
                    right = category if rng.random() < skill else "none of them"
                    answer = right if rng.random() < commit else "abstain"
                    rows.append((repeat, 0, f"{category}_{number}", category, answer))
        columns = ["repeat", "seed", "scenario", "category", "prediction"]
        predictions = pl.DataFrame(rows, schema=columns, orient="row")
        right = scenario_values.over_committed(predictions, scenario_values.right())
        committed = ValueMetric("committed", right, "", kind="proportion")
        answers = scenario_values.scenario_answers(predictions)
        found = scenario_intervals(answers, OVERALL[:1], METHOD_INTERVALS, (committed,))
        covered.append(
            [found[name].ci_low <= truth <= found[name].ci_high for name, truth in truths.items()]
        )
    for share in np.mean(covered, axis=0):
        assert 0.90 <= share <= 0.99


def test_a_weighted_mean_is_that_of_numpy_whatever_the_order_of_scenarios():
    rows = [("unknown", "b", 0.2, 1.0), ("optimization", "a", 0.8, 3.0), ("unknown", "c", 0.5, 0.0)]
    table = pl.DataFrame(rows, schema=["category", "scenario", "value", "weight"], orient="row")
    for ordered in (table, table.reverse()):
        sums = scenario_values.weighted_mean(ordered, pl.col("value"), pl.col("weight")).sums()
        assert scenario_values.ratio(sums) == pytest.approx(
            np.average([0.2, 0.8, 0.5], weights=[1, 3, 0])
        )
    chosen = scenario_values.weighted_mean(
        table, pl.col("value") > 0.4, pl.col("scenario") != "a"
    ).sums()
    assert chosen.tolist() == [1.0, 2.0]


def answered(**routes: list[str | None]) -> pl.DataFrame:
    """Of categories, scenarios with one run and one repeat, and who answered them."""
    rows = [
        (f"{category}_{number}", category, category, route)
        for category, taken in routes.items()
        for number, route in enumerate(taken)
    ]
    columns = {"scenario": pl.String, "category": pl.String, "prediction": pl.String}
    table = pl.DataFrame(rows, columns | {"route": pl.String}, orient="row")
    return table.with_columns(repeat=0, seed=0)


def cost(predictions: pl.DataFrame, rules: float, classifier: float, human: float):
    metrics = cost_metrics(predictions, UnitCosts(rules=rules, classifier=classifier, human=human))
    answers = scenario_values.scenario_answers(predictions)
    return scenario_intervals(answers, (), INTERVALS, metrics)["cost_per_run"]


TEN = ["rules"] * 6 + ["human"] * 4
COSTS = {
    "without a classifier as the paper has it": (
        (0.2, 7.0, 3.0),
        {"optimization": ["rules"] * 8 + ["human"] * 2, "unknown": TEN},
        0.2 * 0.7 + 3.0 * 0.3,
    ),
    "a classifier adds its share times its own cost": (
        (0.0, 0.1, 1.0),
        {"optimization": TEN, "unknown": ["rules", "classifier"] * 5},
        0.1 * 5 / 20 + 1.0 * 4 / 20,
    ),
}


@pytest.mark.parametrize(("costs", "routes", "paid"), COSTS.values(), ids=COSTS)
def test_the_cost_of_predictions_is_that_of_the_shares_of_their_routes(costs, routes, paid):
    interval = cost(answered(**routes), *costs)
    assert (interval.value, interval.n) == (pytest.approx(paid), 20)
    prices = dict(zip(("rules", "classifier", "human"), costs, strict=True))
    samples = [np.array([prices[route] for route in taken]) for taken in routes.values()]
    expected = scipy_bootstrap(samples, mean).confidence_interval
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=0.02)
