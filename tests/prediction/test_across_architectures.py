from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import DecisionTreeSettings
from failbench.base.slices import AcrossArchitectures
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, POOLED
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction import nested_cv as harness
from failbench.prediction.folds import by_architecture, by_scenario, make_splits
from failbench.prediction.nested_cv import across_architectures, nested_cv

TREE = DecisionTreeSettings(inner_folds=2, max_depth=(4,), min_samples_leaf=(1,))
STUDY = AcrossArchitectures(
    optimizer="adamw",
    scale="small",
    known_seed=0,
    monitored_seeds=(0, 1),
    repeats=1,
    feature_sets=("19",),
    seed=3,
)


@pytest.fixture(scope="module")
def features(runs_of_three_architectures: pl.DataFrame) -> pl.DataFrame:
    """The runs that the studies take, and the same again with what they leave alone."""
    table = runs_of_three_architectures
    others = [
        table.with_columns(pl.lit(value).alias(column), run_id=pl.format("{}-" + value, "run_id"))
        for column, value in (("optimizer", "sgd"), ("scale", "paper"))
    ]
    return pl.concat([table, *others])


@pytest.fixture(scope="module")
def splits(features: pl.DataFrame) -> pl.DataFrame:
    return make_splits(features.select("scenario", "category").drop_nulls().unique(), 2, 2, seed=0)


@pytest.fixture(scope="module")
def predictions(features: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    return across_architectures(features, splits, "decision_tree", TREE, STUDY)


def failing(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("kind") == "failure")


def of(predictions: pl.DataFrame, study: str) -> pl.DataFrame:
    return predictions.filter(pl.col("study") == study)


@pytest.mark.parametrize("study", [POOLED, LEFT_OUT])
def test_each_failing_run_of_the_slice_is_predicted_once(
    study, predictions, runs_of_three_architectures
):
    expected = failing(runs_of_three_architectures)["run_id"]
    assert sorted(of(predictions, study)["run_id"]) == sorted(expected)


def test_known_scenarios_are_predicted_on_the_runs_of_one_seed(
    predictions, runs_of_three_architectures
):
    expected = failing(runs_of_three_architectures).filter(pl.col("seed") == STUDY.known_seed)
    assert sorted(of(predictions, KNOWN_SCENARIOS)["run_id"]) == sorted(expected["run_id"])


def test_pooling_is_the_main_study_over_all_architectures_and_seeds(
    predictions, runs_of_three_architectures, splits
):
    mine = runs_of_three_architectures
    main = nested_cv(
        failing(mine),
        mine.filter(pl.col("kind") == "success"),
        splits.filter(pl.col("repeat") == 0),
        "decision_tree",
        TREE,
        {"19": FEATURE_SETS["19"]},
        STUDY.seed,
    )
    assert of(predictions, POOLED).drop("study").equals(main.drop("study"))
    assert set(main["study"]) == {"nested_cv"}


def test_thresholds_never_come_from_the_architecture_that_is_left_out(
    features, splits, monkeypatch
):
    """Successful runs say whose they are, and bands are watched as methods receive them."""
    marks = {"bert": 1e3, "gru": 1e6, "lstm": 1e9}
    marked = features.with_columns(
        oov_rate=pl.when(pl.col("kind") == "success")
        .then(pl.col("architecture").replace_strict(marks, return_dtype=pl.Float64))
        .otherwise("oov_rate")
    )
    bands: list[float] = []
    build = harness.Context

    def note(*arguments, **options):
        context = build(*arguments, **options)
        bands.append(context.band.mean["oov_rate"])
        return context

    monkeypatch.setattr(harness, "Context", note)
    across_architectures(marked, splits, "decision_tree", TREE, STUDY)
    folds = splits.filter(pl.col("repeat") == 0)
    plans = (*by_scenario(POOLED, folds), *by_architecture(folds, marks, STUDY.known_seed))
    expected = [
        np.mean([mark for name, mark in marks.items() if name != plan.left_out]) for plan in plans
    ]
    assert bands == pytest.approx(expected)


def test_methods_learn_nothing_from_a_tested_run_but_do_from_its_scenario_elsewhere(
    features, splits
):
    """A column that names the scenario tells nothing of a new one, and everything of a known."""
    values = dict.fromkeys(FEATURE_SETS["19"], pl.lit(0.0))
    values["max_loss"] = pl.col("scenario").rank("dense").cast(pl.Float64)
    failed = pl.col("kind") == "failure"
    leaking = features.with_columns(
        pl.when(failed).then(value).otherwise(name).alias(name) for name, value in values.items()
    )
    deep = TREE.model_copy(update={"max_depth": (None,)})
    predictions = across_architectures(leaking, splits, "decision_tree", deep, STUDY)
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
    accuracy = dict(right.group_by("study").agg(pl.col("right").mean()).rows())
    assert accuracy[KNOWN_SCENARIOS] == 1
    assert accuracy[LEFT_OUT] < 1


def test_single_architecture_cannot_be_left_out(features, splits):
    gru = features.filter(pl.col("architecture") == "gru")
    complaint = r"1 architecture was recorded with adamw at scale small; leaving one out takes two"
    with pytest.raises(BadInputError, match=complaint):
        across_architectures(gru, splits, "decision_tree", TREE, STUDY)
