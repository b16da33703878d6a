from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import precision_score

from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BATCH
from failbench.statistics.intervals import ScenarioIntervalSettings
from made_up import made_up_predictions, small_predictions
from per_category import BOTH, confusions
from per_category import precisions as precisions_of

SETTINGS = ScenarioIntervalSettings(
    resamples=2000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
FEW = SETTINGS.model_copy(update={"wilson_below": 10})


def precisions(predictions: pl.DataFrame, settings=SETTINGS) -> dict[str, dict[str, object]]:
    table = precisions_of(settings, predictions)
    return {row["metric"].removeprefix("precision_"): row for row in table.rows(named=True)}


def named_by_memory(right: int, wrong: int) -> pl.DataFrame:
    """Memory is named so often; every other scenario is diagnosed right."""
    categories = ["memory_hardware"] * right + ["optimization"] * wrong
    others = [category for category in CATEGORIES for _ in range(6)]
    return small_predictions(
        category=[*categories, *others],
        prediction=["memory_hardware"] * (right + wrong)
        + ["abstain" if category == "memory_hardware" else category for category in others],
        confidence=[0.9] * (right + wrong + len(others)),
    )


def test_values_equal_scikit_learn_repeat_by_repeat():
    predictions = made_up_predictions()
    precision = precisions(predictions)
    for category in CATEGORIES:
        expected = [
            precision_score(
                part["category"].to_list(),
                part["prediction"].to_list(),
                labels=[category],
                average="macro",
            )
            for _, part in predictions.group_by("repeat")
        ]
        assert precision[category]["value"] == pytest.approx(np.mean(expected))


def test_a_repeat_that_never_names_a_category_says_nothing_of_its_precision():
    predictions = made_up_predictions(repeats=2)
    silent = (pl.col("repeat") == 1) & (pl.col("prediction") == "unknown")
    muted = predictions.with_columns(
        prediction=pl.when(silent).then(pl.lit("abstain")).otherwise("prediction")
    )
    alone = precisions(predictions.filter(pl.col("repeat") == 0))["unknown"]
    both = precisions(muted)["unknown"]
    assert both["value"] == pytest.approx(alone["value"])
    assert both["n"] == round(alone["n"] / 2)


def test_n_is_the_number_of_scenarios_named_and_a_scenario_counts_once_whatever_its_runs():
    once = named_by_memory(right=6, wrong=3)
    more = pl.concat([once, once.with_columns(run_id=pl.col("run_id") + "_again")])
    for predictions in (once, more):
        precision = precisions(predictions)["memory_hardware"]
        assert (precision["value"], precision["n"]) == (pytest.approx(2 / 3), 9)


@pytest.mark.parametrize(("right", "wrong"), [(6, 3), (1, 1), (4, 0)])
def test_few_scenarios_named_get_wilsons_interval_with_their_number(right: int, wrong: int):
    precision = precisions(named_by_memory(right, wrong), FEW)["memory_hardware"]
    expected = stats.binomtest(right, right + wrong).proportion_ci(0.95, method="wilson")
    assert precision["interval"] == "Wilson"
    assert (precision["ci_low"], precision["ci_high"]) == pytest.approx(tuple(expected))


def test_the_bca_interval_equals_scipy_over_resampled_rows():
    predictions = made_up_predictions(repeats=1, scenarios=8)
    answers = [
        predictions.filter(pl.col("category") == category).sort("scenario")["prediction"].to_numpy()
        for category in CATEGORIES
    ]

    def plain(*indices):
        drawn = [part[index] for part, index in zip(answers, indices, strict=True)]
        named = np.concatenate(drawn) == "data_pipeline"
        return (drawn[2] == "data_pipeline").sum() / named.sum()

    expected = stats.bootstrap(
        [np.arange(8)] * 5,
        plain,
        n_resamples=SETTINGS.resamples,
        batch=BATCH,
        vectorized=False,
        method="BCa",
        rng=np.random.default_rng(SETTINGS.seed),
    ).confidence_interval
    precision = precisions(predictions)["data_pipeline"]
    assert (precision["ci_low"], precision["ci_high"]) == pytest.approx(tuple(expected), abs=1e-9)


def test_confusions_are_means_over_repeats_and_add_up_to_the_scenarios():
    predictions = made_up_predictions(repeats=4)
    table = confusions(predictions)
    counts = {row[:2]: row[2] for row in table.select("category", "answer", "scenarios").rows()}
    counted = predictions.group_by("category", "prediction").len()
    for category, answer, count in counted.rows():
        assert counts[category, answer] == pytest.approx(count / 4)
    apart = table.filter(pl.col("answer") != BOTH)
    sums = apart.group_by("category").agg(pl.col("scenarios").sum(), pl.col("share").sum())
    assert sums["scenarios"].to_list() == pytest.approx([12] * 5)
    assert sums["share"].to_list() == pytest.approx([1] * 5)
    for category in CATEGORIES:
        undecided = counts[category, "unknown"] + counts[category, "abstain"]
        assert counts[category, BOTH] == pytest.approx(undecided)
