import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from failbench.base.errors import BadInputError
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.confidence import (
    area_interval,
    area_under,
    calibration_error,
    calibration_floor,
    calibration_gaps,
    entropy,
    rankings,
    risk_curve,
    separation,
)
from failbench.statistics.intervals import method_intervals
from made_up import made_up_predictions, over_resampled_rows, small_predictions
from risk_coverage import confident
from study_settings import BOOTSTRAP, METHOD_INTERVALS, scipy_bootstrap

BINS = METHOD_INTERVALS.calibration_bins


def error_of(predictions: pl.DataFrame) -> float:
    return float(calibration_error(calibration_gaps(predictions, BINS).sums()))


def floor_of(predictions: pl.DataFrame, draws: int = 400) -> np.ndarray:
    return calibration_floor(predictions, BINS, draws, np.random.default_rng(0))


def plain_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Bin by bin, as it is defined."""
    total = 0.0
    for lower in range(BINS):
        inside = (confidence > lower / BINS) & (confidence <= (lower + 1) / BINS)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def plain_error_of(predictions: pl.DataFrame) -> float:
    """Repeat by repeat."""
    right = (pl.col("category") == pl.col("prediction")).alias("right")
    repeats = predictions.with_columns(right).partition_by("repeat")
    return np.mean(
        [plain_error(r["confidence"].to_numpy(), r["right"].to_numpy()) for r in repeats]
    )


RIGHT, WRONG = "optimization", "unknown"


@pytest.mark.parametrize(
    ("answers", "confidence", "error"),
    [
        # bin (0.9, 1]: 0.5 right, mean 0.95; bin (0.3, 0.4]: 1 and 0.35; bin (0.5, 0.6]: 0 and 0.55
        ([RIGHT, WRONG, RIGHT, WRONG], [0.91, 0.99, 0.35, 0.55], (2 * 0.45 + 0.65 + 0.55) / 4),
        # a confidence on an edge belongs to the bin below
        ([RIGHT, WRONG], [0.6, 0.6000001], (0.4 + 0.6) / 2),
        ([RIGHT, WRONG], [0.6, 0.5999999], abs(0.5 - 0.6)),
    ],
)
def test_the_error_of_a_few_answers_is_what_a_hand_computes(answers, confidence, error):
    predictions = small_predictions(
        category=[RIGHT] * len(answers), prediction=answers, confidence=confidence
    )
    assert error_of(predictions) == pytest.approx(error, abs=1e-6)


def test_the_error_is_averaged_over_repeats_and_abstentions_do_not_enter_it():
    predictions = made_up_predictions(repeats=4)
    pooled = error_of(predictions.with_columns(repeat=pl.lit(0)))
    assert error_of(predictions) == pytest.approx(plain_error_of(predictions))
    assert error_of(predictions) > pooled + 0.01
    unsure = pl.col("confidence") < 0.5
    abstaining = predictions.with_columns(
        prediction=pl.when(unsure).then(pl.lit("abstain")).otherwise("prediction")
    )
    assert error_of(abstaining) == pytest.approx(plain_error_of(predictions.filter(~unsure)))
    nothing = predictions.with_columns(prediction=pl.lit("abstain"))
    intervals = method_intervals(nothing, METHOD_INTERVALS)
    absent = {"calibration_error", "calibration_floor", "accuracy_when_committed"}
    assert not absent & set(intervals)
    assert intervals["abstention_rate"].value == 1


def test_the_interval_of_the_error_is_the_value_and_the_spread_of_resampled_rows():
    predictions = made_up_predictions(repeats=2, scenarios=6)
    plain, scenarios = over_resampled_rows(predictions, plain_error), [np.arange(6)] * 5
    error = scipy_bootstrap(scenarios, plain, method="percentile").standard_error
    interval = method_intervals(predictions, METHOD_INTERVALS)["calibration_error"]
    assert interval.method == "normal bootstrap"
    assert interval.value == pytest.approx(plain(*scenarios))
    assert (interval.ci_low, interval.ci_high) == pytest.approx(
        stats.norm.interval(0.95, interval.value, error), abs=1e-9
    )


def test_the_floor_at_76_scenarios_is_near_what_theory_says_of_ten_bins():
    """A bin of m answers is off by about sqrt(2 c (1 - c) / (pi m)): half a normal deviation."""
    predictions = made_up_predictions(repeats=1, scenarios=COUNTS)
    confidence = predictions["confidence"].to_numpy()
    number = np.ceil(confidence * BINS)
    expected = sum(
        np.sqrt(2 / np.pi * (confidence * (1 - confidence))[number == bin_number].sum())
        for bin_number in range(1, BINS + 1)
    ) / len(confidence)
    assert floor_of(predictions, 2000).mean() == pytest.approx(expected, rel=0.06)


def test_the_floor_is_the_errors_of_a_calibrated_method_whatever_repeats_and_runs():
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(200):
        confidence = rng.uniform(0.2, 1.0, 76)
        errors.append(plain_error(confidence, rng.random(76) < confidence))
    floor = floor_of(made_up_predictions(repeats=1, scenarios=COUNTS), 1000)
    assert np.mean(errors) == pytest.approx(floor.mean(), rel=0.06)
    assert np.std(errors) == pytest.approx(floor.std(), rel=0.15)
    once = made_up_predictions(repeats=1)
    for again in ({"repeat": pl.lit(1, pl.Int32)}, {"run_id": pl.col("run_id") + "_again"}):
        more = pl.concat([once, once.with_columns(**again)])
        assert floor_of(more) == pytest.approx(floor_of(once))


def test_entropy_is_that_of_scipy_over_that_of_equal_odds():
    rows = [(0.2,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0), (0.5, 0.2, 0.2, 0.1, 0.0)]
    names = [f"p_{category}" for category in CATEGORIES]
    values = pl.DataFrame(rows, schema=names, orient="row").select(entropy()).to_series()
    assert values.to_list() == pytest.approx([1.0, 0.0, stats.entropy(rows[2], base=5)])


def test_separation_is_the_area_under_the_curve_of_scikit_learn():
    predictions = made_up_predictions(scenarios=8)
    means = predictions.group_by("scenario", "category").agg(pl.col("confidence").mean())
    sure, full, none, turned = (
        separation(predictions, by, "unknown", BOOTSTRAP)
        for by in (
            pl.col("confidence"),
            pl.col("category") == "unknown",
            pl.lit(0.3),
            -pl.col("confidence"),
        )
    )
    expected = roc_auc_score(means["category"] == "unknown", means["confidence"].round(12))
    assert (sure.value, sure.n) == (pytest.approx(expected), 40)
    assert sure.ci_low < sure.value < sure.ci_high
    assert (full.value, full.ci_low, full.ci_high, full.method) == (1.0, 1.0, 1.0, "point")
    assert (none.value, none.method) == (0.5, "point")
    assert turned.value == pytest.approx(1 - sure.value)


# Risk and coverage.


def area_of(predictions: pl.DataFrame) -> float:
    scenarios = predictions["scenario"].n_unique()
    return float(area_under(rankings(predictions), np.ones(scenarios)))


def plain_area(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean of the risk on a fine grid, with runs of equal confidence in random order."""
    levels = np.unique(confidence)[::-1]
    covered = [0.0, *((confidence >= level).mean() for level in levels)]
    errors = [0.0, *((~right & (confidence >= level)).mean() for level in levels)]
    fine = (np.arange(5_000) + 0.5) / 5_000
    return float(np.mean(np.interp(fine, covered, errors) / fine))


R, W, A = RIGHT, WRONG, "abstain"
CURVES = {
    "ordered by confidence": ([R, W, R, W], [0.9, 0.5, 0.7, 0.6], [0, 0, 1 / 3, 1 / 2]),
    "of equal confidence": ([R, W, R, W], [0.9, 0.5, 0.5, 0.5], [0, 2 / 3 / 2, 4 / 3 / 3, 1 / 2]),
    "abstentions come last": ([A, R, R, W], [1.0, 0.4, 0.3, 0.2], [0, 0, 1 / 3, 1 / 2]),
}


@pytest.mark.parametrize(("answers", "confidence", "curve"), CURVES.values(), ids=CURVES)
def test_the_curve_of_four_runs_is_what_a_hand_computes(answers, confidence, curve):
    four = small_predictions(category=[R] * 4, prediction=answers, confidence=confidence)
    grid = np.array([0.25, 0.5, 0.75, 1.0])
    for predictions in (four, four.sort("scenario", descending=True)):
        assert risk_curve(rankings(predictions), grid) == pytest.approx(curve)


def test_the_area_is_the_integral_of_the_curve_and_with_many_runs_that_of_geifman_and_el_yaniv():
    once, many = made_up_predictions(repeats=1), made_up_predictions(repeats=1, scenarios=400)
    for predictions in (once, once.with_columns(pl.col("confidence").round(1))):
        right = (predictions["prediction"] == predictions["category"]).to_numpy()
        expected = plain_area(predictions["confidence"].to_numpy(), right)
        assert area_of(predictions) == pytest.approx(expected, abs=1e-4)
    ordered = many.sort("confidence", descending=True)
    wrong = (ordered["prediction"] != ordered["category"]).to_numpy()
    summed = np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))
    assert area_of(many) == pytest.approx(summed, abs=2e-3)
    # of confidence that says nothing it is the error rate
    assert area_of(many.with_columns(confidence=pl.lit(0.5))) == pytest.approx(wrong.mean())


def test_the_interval_of_the_area_equals_scipy_over_resampled_rows():
    predictions = made_up_predictions(repeats=2, scenarios=5)
    plain = over_resampled_rows(predictions, plain_area)
    expected = scipy_bootstrap([np.arange(5)] * 5, plain).confidence_interval
    area = area_interval(predictions, BOOTSTRAP)
    assert area.method == "BCa bootstrap"
    assert (area.ci_low, area.ci_high) == pytest.approx(tuple(expected), abs=2e-3)
    assert area.ci_low < area.value < area.ci_high


def test_only_methods_whose_answers_differ_in_confidence_have_a_curve():
    sure = made_up_predictions().with_columns(method=pl.lit("sure"))
    first = pl.when(pl.col("repeat") == 0)
    flat = made_up_predictions().with_columns(
        method=pl.lit("flat"),
        prediction=first.then(pl.lit("abstain")).otherwise("prediction"),
        confidence=first.then(0.5).otherwise(1.0),
    )
    assert confident(pl.concat([flat, sure]))["method"].unique().to_list() == ["sure"]
    with pytest.raises(BadInputError, match="no method gives answers of different confidence"):
        confident(flat)


def error_interval(predictions: pl.DataFrame):
    return method_intervals(predictions, METHOD_INTERVALS)["calibration_error"]


def area_interval_of(predictions: pl.DataFrame):
    return area_interval(predictions, BOOTSTRAP)


@pytest.mark.long
@pytest.mark.parametrize(
    ("plain", "interval_of", "excess", "known_from", "least", "most"),
    [
        pytest.param(plain_error, error_interval, 0.0, (76, 2000), 0.88, 1, id="calibrated"),
        pytest.param(plain_error, error_interval, 0.15, (76, 2000), 0.88, 1, id="too sure"),
        pytest.param(plain_area, area_interval_of, 0.0, (20_000, 1), 0.90, 0.99, id="area"),
    ],
)
def test_intervals_cover_the_truth_in_samples_of_this_size(
    plain, interval_of, excess, known_from, least, most
):
    """200 studies of 76 scenarios; the truth is known from many more or far larger ones."""
    rng = np.random.default_rng(0)
    category = [name for name, count in COUNTS.items() for _ in range(count)]
    other = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))

    def study(scenarios):
        confidence = rng.uniform(0.3, 1.0, scenarios)
        return confidence, rng.random(scenarios) < confidence - excess

    scenarios, studies = known_from
    truth = np.mean([plain(*study(scenarios)) for _ in range(studies)])
    covered = []
    for _ in range(200):
        confidence, right = study(len(category))
        answers = [
            name if told else other[name] for name, told in zip(category, right, strict=True)
        ]
        interval = interval_of(
            small_predictions(category=category, prediction=answers, confidence=confidence)
        )
        covered.append(interval.ci_low <= truth <= interval.ci_high)
    assert least <= np.mean(covered) <= most
