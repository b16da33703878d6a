"""Unknown answers: what is answered most often, and rates over few scenarios."""

from __future__ import annotations

import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from failbench.errors import BadInputError
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.unknown_anatomy.answers import answers_to_unknown, unknown_intervals
from made_up import completed, made_up_predictions

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


def answered(*answers: str) -> pl.DataFrame:
    """Repeats of one unknown scenario with these answers."""
    return completed(
        pl.DataFrame({"prediction": answers}).with_columns(
            category=pl.lit("unknown"),
            scenario=pl.lit("mystery"),
            method=pl.lit("made_up"),
            feature_set=pl.lit("19"),
            repeat=pl.int_range(pl.len()),
            confidence=pl.lit(0.6),
        )
    )


def test_the_answer_given_most_often_is_named_with_its_share():
    answers = answers_to_unknown(answered("unknown", "optimization", "optimization", "abstain"))
    assert answers.height == 1
    row = answers.row(0, named=True)
    assert (row["answer"], row["share"], row["right"]) == ("optimization", 0.5, 0.25)
    assert 0 < row["entropy"] < 1


def test_labelled_scenarios_are_not_listed_and_without_unknown_ones_there_is_nothing():
    predictions = made_up_predictions(scenarios=3)
    answers = answers_to_unknown(predictions)
    assert answers["scenario"].to_list() == ["unknown_0", "unknown_1", "unknown_2"]
    with pytest.raises(BadInputError, match="there is no unknown scenario"):
        answers_to_unknown(predictions.filter(pl.col("category") != "unknown"))


def test_rates_over_few_scenarios_have_wilsons_interval_with_n_scenarios():
    predictions = made_up_predictions(scenarios=8, repeats=4)
    intervals = unknown_intervals(predictions, SETTINGS)
    unknown = predictions.filter(pl.col("category") == "unknown")
    rate = (unknown["prediction"] == "unknown").mean()
    low, high = proportion_confint(rate * 8, 8, 0.05, method="wilson")
    recall = intervals["recall"]
    assert (recall.value, recall.ci_low, recall.ci_high) == pytest.approx((rate, low, high))
    assert (recall.n, recall.method) == (8, "Wilson")
    assert intervals["abstained"].value == 0.0
    assert (intervals["entropy_unknown"].n, intervals["entropy_labelled"].n) == (8, 32)


def test_entropy_of_unknown_and_of_labelled_scenarios_are_kept_apart():
    predictions = made_up_predictions(scenarios=4)
    spread = [pl.lit(0.2).alias(f"p_{category}") for category in predictions["category"].unique()]
    unknown = pl.col("category") == "unknown"
    undecided = pl.concat(
        [predictions.filter(~unknown), predictions.filter(unknown).with_columns(spread)]
    )
    intervals = unknown_intervals(undecided, SETTINGS)
    assert intervals["entropy_unknown"].value == pytest.approx(1.0)
    assert intervals["entropy_labelled"].value < 1.0
    assert intervals["separation"].value == pytest.approx(1.0)
