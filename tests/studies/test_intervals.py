import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import precision_score

from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.significance import (
    SignificanceSettings,
    comparisons_table,
    difference_metrics,
)
from intervals import majority
from made_up import made_up_predictions, small_predictions
from per_category import precisions
from significance import compare
from study_settings import DRAWS, INTERVALS, INTERVALS_OF_FEW, TESTS, scipy_bootstrap


def test_naming_the_most_frequent_category_is_right_as_often_as_it_occurs():
    rows = {"category": ["unknown", "unknown", "optimization"] * 2, "scenario": ["a", "b", "c"] * 2}
    for row in majority(pl.DataFrame(rows)):
        assert (row["value"], row["n"]) == (2 / 3, 3)


SETTINGS = SignificanceSettings(
    **DRAWS, **TESTS, feature_set="19", contrasts=(("random_forest", "simple_rules"),)
)


def test_no_test_is_made_of_rules_that_were_made_in_view(answers):
    rates = {"invariants": 0.8, "random_forest": 0.6, "simple_rules": 0.4}
    predictions = answers(rates, feature_set="19")
    both = (*SETTINGS.contrasts, ("invariants", "random_forest"))
    tested, development = compare(predictions, SETTINGS.model_copy(update={"contrasts": both}))
    assert compare(predictions, SETTINGS) == (tested, [])
    (leaves,) = difference_metrics(development).values()
    assert set(leaves) == {"difference"}
    points = comparisons_table([*tested, *development]).filter(left="invariants")
    assert points["difference"].null_count() == points["p"].count() == 0


# Precision of each category.


def precision(predictions: pl.DataFrame, settings=INTERVALS) -> dict[str, dict[str, object]]:
    rows = precisions(settings, predictions).to_dicts()
    return {row["metric"].removeprefix("precision_"): row for row in rows}


def named_by_memory(right: int, wrong: int) -> pl.DataFrame:
    """Memory is named so often; every other scenario is diagnosed right."""
    others = [category for category in CATEGORIES for _ in range(6)]
    given = ["abstain" if category == "memory_hardware" else category for category in others]
    return small_predictions(
        category=["memory_hardware"] * right + ["optimization"] * wrong + others,
        prediction=["memory_hardware"] * (right + wrong) + given,
        confidence=[0.9] * (right + wrong + len(others)),
    )


def test_values_equal_scikit_learn_repeat_by_repeat():
    predictions = made_up_predictions()
    found = precision(predictions)
    for category in CATEGORIES:
        expected = [
            precision_score(
                *(part[name].to_list() for name in ("category", "prediction")),
                labels=[category],
                average="macro",
            )
            for _, part in predictions.group_by("repeat")
        ]
        assert found[category]["value"] == pytest.approx(np.mean(expected))


def test_a_repeat_that_never_names_a_category_says_nothing_of_its_precision():
    predictions = made_up_predictions(repeats=2)
    silent = pl.when((pl.col("repeat") == 1) & (pl.col("prediction") == "unknown"))
    muted = predictions.with_columns(
        prediction=silent.then(pl.lit("abstain")).otherwise("prediction")
    )
    alone, both = (precision(each)["unknown"] for each in (predictions.filter(repeat=0), muted))
    assert (both["value"], both["n"]) == (pytest.approx(alone["value"]), round(alone["n"] / 2))


@pytest.mark.parametrize(("right", "wrong"), [(6, 3), (1, 1), (4, 0)])
def test_few_scenarios_named_get_wilsons_interval_with_their_number_whatever_their_runs(
    right: int, wrong: int
):
    once = named_by_memory(right, wrong)
    more = pl.concat([once, once.with_columns(run_id=pl.col("run_id") + "_again")])
    wilson = stats.binomtest(right, right + wrong).proportion_ci(0.95, method="wilson")
    for predictions in (once, more):
        found = precision(predictions, INTERVALS_OF_FEW)["memory_hardware"]
        assert (found["value"], found["n"]) == (
            pytest.approx(right / (right + wrong)),
            right + wrong,
        )
        assert found["interval"] == "Wilson"
        assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(wilson))


def test_the_bca_interval_equals_scipy_over_resampled_rows():
    predictions = made_up_predictions(repeats=1, scenarios=8)
    answers = [
        predictions.filter(category=category).sort("scenario")["prediction"].to_numpy()
        for category in CATEGORIES
    ]

    def plain(*indices):
        drawn = [part[index] for part, index in zip(answers, indices, strict=True)]
        named = np.concatenate(drawn) == "data_pipeline"
        return (drawn[2] == "data_pipeline").sum() / named.sum()

    expected = scipy_bootstrap([np.arange(8)] * 5, plain).confidence_interval
    found = precision(predictions)["data_pipeline"]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(expected), abs=1e-9)
