from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
)

from failbench.base.errors import BadInputError
from failbench.base.predictions import DECIMALS
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics import scenario_values
from failbench.statistics.bootstrap import resample, single_seeds
from failbench.statistics.intervals import (
    corrected_t,
    method_intervals,
    nest,
    scenario_intervals,
    wilson,
)
from failbench.statistics.metrics import OVERALL, UnitCosts, ValueMetric, cost_metrics
from failbench.study.estimates import of_groups
from intervals import figures
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


def test_brier_and_log_loss_equal_scikit_learn_and_intervals_scipy_over_scenario_means():
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
    squared = pl.Series(((drawn - is_category) ** 2).sum(axis=1))
    right = pl.col("prediction") == pl.col("category")
    scored = predictions.with_columns(brier=squared, accuracy=right)
    by_scenario = scored.group_by("category", "scenario")
    means = by_scenario.agg(pl.col("brier", "accuracy").mean()).sort("scenario")
    for name in ("brier", "accuracy"):
        samples = [means.filter(category=category)[name].to_numpy() for category in CATEGORIES]
        bounds = scipy_bootstrap(samples, mean).confidence_interval
        found = intervals[name]
        assert found.method == "BCa bootstrap"
        assert (found.ci_low, found.ci_high) == pytest.approx(tuple(bounds), abs=1e-9)


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
        columns = ["repeat", "seed", "scenario", "category", "prediction"]
        predictions = pl.DataFrame(rows, schema=columns, orient="row")
        right = scenario_values.over_committed(predictions, scenario_values.right())
        committed = ValueMetric("committed", right, "", kind="proportion")
        answers = scenario_values.scenario_answers(predictions)
        found = scenario_intervals(answers, (), METHOD_INTERVALS, (committed,))["committed"]
        covered.append(found.ci_low <= truth <= found.ci_high)
    assert 0.90 <= np.mean(covered) <= 0.99


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


# Intervals of every method.


def test_values_equal_scikit_learn_repeat_by_repeat():
    predictions = made_up_predictions()
    intervals = intervals_of(predictions)
    by_repeat = [
        (part["category"].to_list(), part["prediction"].to_list())
        for _, part in predictions.group_by("repeat")
    ]
    scores = {
        "accuracy": accuracy_score,
        "balanced_accuracy": balanced_accuracy_score,
        "macro_f1": lambda *pair: f1_score(*pair, average="macro"),
        "abstention_rate": lambda *pair: 0.0,
        "f1_unknown": lambda *pair: f1_score(*pair, labels=["unknown"], average="macro"),
    }
    for name, score in scores.items():
        expected = np.mean([score(*pair) for pair in by_repeat])
        assert intervals[name].value == pytest.approx(expected), name


def test_a_flawless_method_gets_wilsons_interval_and_one_that_is_never_right_has_width():
    intervals = intervals_of(made_up_predictions(accuracy=1.0, repeats=4))
    for name, n in (("accuracy", 60), ("recall_unknown", 12)):
        expected = stats.binomtest(n, n).proportion_ci(0.95, method="wilson")
        found = intervals[name]
        assert (found.method, found.n) == ("Wilson", n)
        assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected))
    never = intervals_of(made_up_predictions(accuracy=0.0))["accuracy"]
    assert (never.value, never.ci_low) == (0, 0)
    assert 0 < never.ci_high < 0.1
    # rounding errors of the closed form do not reach the interval
    for n in range(2, 200):
        assert (wilson(1.0, n, 0.95)[1], wilson(0.0, n, 0.95)[0]) == (1.0, 0.0)


@pytest.mark.parametrize(
    "again",
    [{"repeat": pl.lit(1, pl.Int32)}, {"run_id": pl.col("run_id") + "_again"}],
    ids=["repeats", "runs"],
)
def test_more_of_the_same_answers_narrow_nothing(again):
    once = made_up_predictions(repeats=1)
    widths = []
    for predictions in (once, pl.concat([once, once.with_columns(**again)])):
        interval = intervals_of(predictions)["accuracy"]
        widths.append(interval.ci_high - interval.ci_low)
    assert widths[1] == pytest.approx(widths[0])


def test_an_interval_holds_its_value_and_a_rate_stays_within_zero_and_one():
    top = {"brier": 2.0, "log_loss": 13.9, "conditions_to_read": 9.0}
    for accuracy in (0.0, 0.05, 0.5, 0.95, 1.0):
        for name, interval in intervals_of(made_up_predictions(accuracy)).items():
            assert 0 <= interval.ci_low <= interval.value <= interval.ci_high <= top.get(name, 1.0)


def test_a_category_with_one_scenario_is_refused():
    single = (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    answers = scenario_values.scenario_answers(made_up_predictions().filter(single))
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        scenario_intervals(answers, OVERALL, METHOD_INTERVALS)


def test_the_corrected_t_interval_follows_nadeau_and_bengio():
    predictions = made_up_predictions(repeats=10)
    right = (pl.col("prediction") == pl.col("category")).mean()
    folds = predictions.group_by("repeat", "fold").agg(right=right)["right"].to_numpy()
    variance = folds.var(ddof=1) * (1 / 30 + 20 / 40)
    half = stats.t.ppf(0.975, 29) * np.sqrt(variance)
    interval = corrected_t(predictions, 0.95)
    assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(
        (folds.mean(), folds.mean() - half, folds.mean() + half)
    )
    with pytest.raises(BadInputError, match="single fold"):
        corrected_t(predictions.filter(repeat=0).with_columns(fold=pl.lit(0, pl.Int32)), 0.95)


def test_the_table_nests_and_does_not_depend_on_the_number_of_workers():
    both = pl.concat(
        made_up_predictions(seed=seed).with_columns(method=pl.lit(f"method_{seed}"))
        for seed in (0, 1)
    )
    of_method, keys = partial(figures, METHOD_INTERVALS, None), ("feature_set", "method")
    table, parallel = (of_groups(both, keys, of_method, workers) for workers in (1, 2))
    assert table.equals(parallel)
    assert table["method"].unique(maintain_order=True).to_list() == ["method_0", "method_1"]
    nested = nest(table, "feature_set", "method", "metric")["19"]["method_0"]
    assert set(nested["accuracy"]) == {"value", "ci_low", "ci_high", "n"}
    assert (nested["accuracy"]["n"], "calibration_floor" in nested) == (60, True)
    assert set(table["resampling_unit"]) == {"scenario", "fold"}
