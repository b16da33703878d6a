from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.statistics.pairs import paired_scores


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
