import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.pairs import difference_bounds, paired_scores, study_difference
from study_settings import BOOTSTRAP, scipy_bootstrap

OF_A = pl.col("method") == "a"


def test_runs_are_averaged_within_their_scenario_before_anything_else(answers):
    predictions = answers({"a": 1.0, "b": 0.0}, repeats=2, runs=3)
    wrong = pl.when((pl.col("run") == 0) & OF_A)
    scores = paired_scores(
        predictions.with_columns(prediction=wrong.then(pl.lit("abstain")).otherwise("prediction"))
    )
    assert scores.n == 76
    assert scores.fold_scores("a") == pytest.approx(np.full(10, 2 / 3))
    assert scores.scenario_scores("a") == pytest.approx(np.full(76, 2 / 3))
    assert scores.first["a"].all()


def test_seeds_are_kept_and_count_alike_in_their_scenario(answers):
    predictions = answers({"a": 0.7, "b": 0.5}, repeats=2, runs=3)
    unknown = pl.col("scenario") == "unknown_0"
    scores = paired_scores(predictions.filter((pl.col("seed") == 0) | ~unknown))
    assert (scores.seeds.height, scores.unit) == (3 * 76 - 2, "scenario, then seed")
    one_seed = paired_scores(predictions.filter(seed=0))
    assert one_seed.unit == "scenario"
    assert scores.scenarios.filter(unknown).equals(one_seed.scenarios.filter(unknown))


@pytest.mark.parametrize(
    ("kept", "problem"),
    [
        (OF_A | (pl.col("seed") == 0), "b was not tested in all the folds, scenarios and see"),
        (OF_A | (pl.col("repeat") > 0), "b was not tested in all the folds"),
        (OF_A, "single method"),
    ],
    ids=["lacks a seed", "lacks a repeat", "alone"],
)
def test_methods_that_were_tested_elsewhere_cannot_be_paired(answers, kept, problem):
    with pytest.raises(BadInputError, match=problem):
        paired_scores(answers({"a": 0.7, "b": 0.5}, runs=2).filter(kept))


RATES = {"a": 0.7, "b": 0.5, "c": 0.6}
PAIR = [("a", "b")]


def bounds_of(predictions, pairs=PAIR):
    return difference_bounds(paired_scores(predictions), pairs, BOOTSTRAP)


def test_bounds_equal_scipy_over_differences_resampled_within_categories(answers):
    predictions = answers(RATES)
    groups = paired_scores(predictions).scenarios.partition_by("category", maintain_order=True)

    def mean(*parts, axis):
        return (sum(part.sum(axis=axis) for part in parts) / 76).round(12)

    samples = [(group["a"] - group["b"]).to_numpy() for group in groups]
    expected = scipy_bootstrap(samples, mean).confidence_interval
    (bounds,) = bounds_of(predictions)
    assert bounds == pytest.approx(tuple(expected), abs=1e-9)
    # whatever other pairs there are
    assert bounds_of(predictions, [("c", "b"), *PAIR])[1] == bounds
    assert bounds_of(answers({"a": 1, "b": 1})) == [None]
    single = (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        bounds_of(predictions.filter(single))


def test_seeds_that_agree_leave_the_bounds_and_seeds_that_do_not_widen_them(answers):
    once, apart = answers(RATES, repeats=1), answers(RATES, repeats=1, runs=3)
    again = pl.concat(once.with_columns(seed=pl.lit(seed)) for seed in range(3))
    assert bounds_of(again)[0] == pytest.approx(bounds_of(once)[0], abs=1e-9)
    wide, narrow = (bounds_of(each)[0] for each in (apart, apart.with_columns(seed=pl.lit(0))))
    assert wide[1] - wide[0] > 1.15 * (narrow[1] - narrow[0])


def study(name: str, right: int, seeds: int = 1, folds: int = 2) -> pl.DataFrame:
    """Ten scenarios a category, of which the first ``right`` are diagnosed right."""
    rows = [
        (f"{category}_{number}", seed, number % folds, category, number < right or seed > 0)
        for category in CATEGORIES
        for number in range(10)
        for seed in range(seeds)
    ]
    table = pl.DataFrame(rows, ["scenario", "seed", "fold", "category", "right"], orient="row")
    keys = {"study": name, "feature_set": "19", "method": "decision_tree"}
    return table.with_columns(
        run_id=pl.format("{}-s{}", "scenario", "seed"),
        repeat=0,
        prediction=pl.when("right").then("category").otherwise(pl.lit("abstain")),
        **{key: pl.lit(value) for key, value in keys.items()},
    )


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (study("other", 4, folds=5), 0.3),
        (study("other", 4, seeds=2), 0.3),  # of runs that one does not predict none counts
        (study("other", 7), 0.0),
    ],
    ids=["other folds", "more seeds", "the same answers"],
)
def test_difference_is_of_the_mean_correctness_of_the_same_runs_over_scenarios(other, expected):
    predictions = pl.concat([study("one", 7), other])
    there, back = (
        study_difference(predictions, *pair, BOOTSTRAP, "how much")
        for pair in (("one", "other"), ("other", "one"))
    )
    assert (there.value, there.n, there.estimand) == (pytest.approx(expected), 50, "how much")
    assert back.value == pytest.approx(-expected)
    if expected:
        assert there.ci_low < expected < there.ci_high
    else:
        assert (there.ci_low, there.ci_high, there.method) == (0, 0, "point")
