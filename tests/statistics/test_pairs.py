"""Methods and studies on the same scenarios, and how far apart they are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BATCH, BootstrapSettings
from failbench.statistics.pairs import difference_bounds, paired_scores, study_difference


def test_scores_are_kept_by_fold_by_scenario_and_of_the_first_repeat(answers):
    scores = paired_scores(answers({"b": 0.5, "a": 0.7}))
    assert scores.methods == ("a", "b")
    assert (scores.n, scores.repeats, scores.tested) == (76, 10, 15.2)
    assert len(scores.fold_scores("a")) == 50
    assert len(scores.scenario_scores("a")) == 76
    assert scores.first_repeat("a").tolist() == scores.fold_scores("a")[:5].tolist()
    assert scores.first["a"].dtype == pl.Boolean
    assert scores.first.height == 76


def test_runs_are_averaged_within_their_scenario_before_anything_else(answers):
    predictions = answers({"a": 1.0, "b": 0.0}, repeats=2, runs=3)
    one_run_wrong = (pl.col("run") == 0) & (pl.col("method") == "a")
    scores = paired_scores(
        predictions.with_columns(
            prediction=pl.when(one_run_wrong).then(pl.lit("abstain")).otherwise("prediction")
        )
    )
    assert scores.n == 76
    assert scores.fold_scores("a") == pytest.approx(np.full(10, 2 / 3))
    assert scores.scenario_scores("a") == pytest.approx(np.full(76, 2 / 3))
    assert scores.first["a"].all()


def test_a_scenario_with_many_runs_counts_no_more_than_one_with_a_single_run(answers):
    predictions = answers({"a": 0.7, "b": 0.5})
    again = predictions.filter(pl.col("scenario") == "unknown_0").with_columns(
        run_id=pl.lit("another")
    )
    once, more = (paired_scores(table) for table in (predictions, pl.concat([predictions, again])))
    assert more.fold_scores("a") == pytest.approx(once.fold_scores("a"))


def test_seeds_are_kept_and_count_alike_in_their_scenario(answers):
    predictions = answers({"a": 0.7, "b": 0.5}, repeats=2, runs=3)
    first_alone = (pl.col("seed") == 0) | (pl.col("scenario") != "unknown_0")
    scores = paired_scores(predictions.filter(first_alone))
    assert scores.seeds.height == 3 * 76 - 2
    assert scores.unit == "scenario, then seed"
    one_seed = paired_scores(predictions.filter(pl.col("seed") == 0))
    assert one_seed.unit == "scenario"
    unknown = pl.col("scenario") == "unknown_0"
    assert scores.scenarios.filter(unknown).equals(one_seed.scenarios.filter(unknown))


def test_a_method_that_lacks_a_seed_cannot_be_paired(answers):
    predictions = answers({"a": 0.7, "b": 0.5}, runs=2)
    lacking = predictions.filter((pl.col("method") == "a") | (pl.col("seed") == 0))
    with pytest.raises(BadInputError, match="b was not tested in all the folds, scenarios and see"):
        paired_scores(lacking)


def test_methods_that_were_tested_elsewhere_cannot_be_paired(answers):
    predictions = answers({"a": 0.7, "b": 0.5}).filter(
        (pl.col("method") == "a") | (pl.col("repeat") > 0)
    )
    with pytest.raises(BadInputError, match="b was not tested in all the folds"):
        paired_scores(predictions)


def test_a_single_method_cannot_be_paired(answers):
    with pytest.raises(BadInputError, match="single method"):
        paired_scores(answers({"a": 0.7}))


RATES = {"a": 0.7, "b": 0.5, "c": 0.6}
OPTIONS = {"resamples": 2000, "confidence": 0.95, "seed": 0}


def test_bounds_equal_scipy_over_differences_resampled_within_categories(answers):
    scores = paired_scores(answers(RATES))
    samples = [
        (group["a"] - group["b"]).to_numpy()
        for group in scores.scenarios.partition_by("category", maintain_order=True)
    ]
    expected = stats.bootstrap(
        samples,
        lambda *parts, axis: (sum(part.sum(axis=axis) for part in parts) / 76).round(12),
        n_resamples=2000,
        batch=BATCH,
        vectorized=True,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    (bounds,) = difference_bounds(scores, [("a", "b")], **OPTIONS)
    assert bounds == pytest.approx(tuple(expected), abs=1e-9)


def test_a_pair_has_the_same_bounds_whatever_other_pairs_there_are(answers):
    scores = paired_scores(answers(RATES))
    alone = difference_bounds(scores, [("a", "b")], **OPTIONS)
    among = difference_bounds(scores, [("c", "b"), ("a", "b")], **OPTIONS)
    assert among[1] == alone[0]


def test_identical_methods_have_no_bounds(answers):
    assert difference_bounds(paired_scores(answers({"a": 1, "b": 1})), [("a", "b")], **OPTIONS) == [
        None
    ]


def test_a_category_with_one_scenario_is_refused(answers):
    predictions = answers(RATES).filter(
        (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    )
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        difference_bounds(paired_scores(predictions), [("a", "b")], **OPTIONS)


def test_seeds_that_agree_leave_the_bounds_and_seeds_that_do_not_widen_them(answers):
    once = answers(RATES, repeats=1)
    again = pl.concat(once.with_columns(seed=pl.lit(seed)) for seed in range(3))
    apart = paired_scores(answers(RATES, repeats=1, runs=3))
    of_means = paired_scores(answers(RATES, repeats=1, runs=3).with_columns(seed=pl.lit(0)))
    pair = [("a", "b")]
    (expected,) = difference_bounds(paired_scores(once), pair, **OPTIONS)
    (same,) = difference_bounds(paired_scores(again), pair, **OPTIONS)
    assert same == pytest.approx(expected, abs=1e-9)
    (wide,), (narrow,) = (
        difference_bounds(scores, pair, **OPTIONS) for scores in (apart, of_means)
    )
    assert wide[1] - wide[0] > 1.15 * (narrow[1] - narrow[0])


SETTINGS = BootstrapSettings(resamples=1000, confidence=0.95, seed=0)


def study(name: str, right: int, seeds: int = 1, folds: int = 2) -> pl.DataFrame:
    """Ten scenarios a category, of which the first ``right`` are diagnosed right."""
    rows = [
        {
            "study": name,
            "feature_set": "19",
            "method": "decision_tree",
            "repeat": 0,
            "fold": number % folds,
            "run_id": f"{category}_{number}-s{seed}",
            "scenario": f"{category}_{number}",
            "seed": seed,
            "category": category,
            "prediction": category if number < right else "abstain",
        }
        for category in CATEGORIES
        for number in range(10)
        for seed in range(seeds)
    ]
    return pl.DataFrame(rows)


def test_difference_is_of_the_mean_correctness_over_scenarios_however_folds_were_drawn():
    predictions = pl.concat([study("one", 7), study("other", 4, folds=5)])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert (difference.value, difference.n, difference.estimand) == (
        pytest.approx(0.3),
        50,
        "how much",
    )
    assert difference.ci_low < 0.3 < difference.ci_high
    back = study_difference(predictions, "other", "one", SETTINGS, "how much")
    assert back.value == pytest.approx(-0.3)


def test_only_runs_that_both_studies_predict_count():
    more = study("other", 4, seeds=2).with_columns(
        prediction=pl.when(pl.col("run_id").str.ends_with("s1"))
        .then("category")
        .otherwise("prediction")
    )
    predictions = pl.concat([study("one", 7), more])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert difference.value == pytest.approx(0.3)


def test_the_same_answers_differ_by_a_point_of_zero():
    predictions = pl.concat([study("one", 7), study("other", 7)])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert (difference.value, difference.ci_low, difference.ci_high, difference.method) == (
        0,
        0,
        0,
        "point",
    )
