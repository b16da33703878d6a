import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.confidence import area_interval, area_under, rankings, risk_curve
from made_up import made_up_predictions, over_resampled_rows, small_predictions
from risk_coverage import confident
from study_settings import BOOTSTRAP, scipy_bootstrap


def area_of(predictions: pl.DataFrame) -> float:
    scenarios = predictions["scenario"].n_unique()
    return float(area_under(rankings(predictions), np.ones(scenarios)))


def plain_area(confidence: np.ndarray, wrong: np.ndarray) -> float:
    """Mean of the risk on a fine grid, with runs of equal confidence in random order."""
    levels = np.unique(confidence)[::-1]
    covered = [0.0, *((confidence >= level).mean() for level in levels)]
    errors = [0.0, *((wrong * (confidence >= level)).mean() for level in levels)]
    fine = (np.arange(5_000) + 0.5) / 5_000
    return float(np.mean(np.interp(fine, covered, errors) / fine))


R, W, A = "optimization", "unknown", "abstain"
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
        wrong = (predictions["prediction"] != predictions["category"]).to_numpy()
        expected = plain_area(predictions["confidence"].to_numpy(), wrong)
        assert area_of(predictions) == pytest.approx(expected, abs=1e-4)
    ordered = many.sort("confidence", descending=True)
    wrong = (ordered["prediction"] != ordered["category"]).to_numpy()
    summed = np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))
    assert area_of(many) == pytest.approx(summed, abs=2e-3)
    # of confidence that says nothing it is the error rate
    assert area_of(many.with_columns(confidence=pl.lit(0.5))) == pytest.approx(wrong.mean())


def test_the_interval_equals_scipy_over_resampled_rows():
    predictions = made_up_predictions(repeats=2, scenarios=5)
    plain = over_resampled_rows(predictions, lambda sure, right: plain_area(sure, ~right))
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


@pytest.mark.long
def test_bca_covers_the_area_that_many_scenarios_have():
    """200 studies of 76 scenarios whose confidence is the probability of being right."""
    rng = np.random.default_rng(0)
    truth = plain_area(*_calibrated(rng, 20_000))
    category = [name for name, count in COUNTS.items() for _ in range(count)]
    other = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))
    covered = []
    for _ in range(200):
        confidence, wrong = _calibrated(rng, 76)
        answers = [
            other[name] if fails else name for name, fails in zip(category, wrong, strict=True)
        ]
        predictions = small_predictions(
            category=category, prediction=answers, confidence=confidence
        )
        area = area_interval(predictions, BOOTSTRAP)
        covered.append(area.ci_low <= truth <= area.ci_high)
    assert 0.90 <= np.mean(covered) <= 0.99


def _calibrated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    confidence = rng.uniform(0.3, 1.0, n)
    return confidence, rng.random(n) >= confidence
