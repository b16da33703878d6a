from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from controls import leak_test
from failbench.base.errors import BadInputError
from failbench.base.method_settings import (
    DecisionTreeSettings,
    RandomForestSettings,
    SimulatedHumanSettings,
)
from failbench.base.methods import ENTRIES, FEATURE_METHODS
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.slices import AcrossArchitectures
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, POOLED
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.prediction import nested_cv as harness
from failbench.prediction import splits as fold_plans
from failbench.prediction.nested_cv import across_architectures, nested_cv
from failbench.prediction.splits import by_architecture, by_scenario, make_splits
from measure_controls import planted_predictions

FOREST = RandomForestSettings(
    trees=5, inner_folds=2, max_features=("sqrt", 1.0), min_samples_leaf=(1,)
)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="module")
def predictions(failures, successes, splits) -> pl.DataFrame:
    return nested_cv(failures, successes, splits, "random_forest", FOREST, FEATURE_SETS, seed=5)


def test_each_run_is_predicted_once_a_repeat_and_feature_set(predictions, failures):
    assert predictions.schema == PREDICTION_SCHEMA
    key = ["study", "feature_set", "method", "repeat", "run_id"]
    assert not predictions.select(key).is_duplicated().any()
    assert predictions.height == failures.height * 2 * len(FEATURE_SETS)
    assert predictions.equals(predictions.sort(PREDICTION_SCHEMA.names()[:6]))


def test_probabilities_sum_to_one_and_confidence_is_that_of_the_answer(predictions):
    names = [name for name in predictions.columns if name.startswith("p_")]
    assert predictions.select(pl.sum_horizontal(names)).to_series().to_numpy() == pytest.approx(
        1, abs=1e-5
    )
    for row in predictions.iter_rows(named=True):
        assert row["confidence"] == row[f"p_{row['prediction']}"]


def test_two_workers_give_the_bytes_of_one(predictions, failures, successes, splits):
    parallel = nested_cv(
        failures, successes, splits, "random_forest", FOREST, FEATURE_SETS, seed=5, workers=2
    )
    assert parallel.write_csv() == predictions.write_csv()


def test_nothing_of_the_tested_runs_reaches_the_training(failures, successes, splits):
    result = leak_test(planted_predictions(failures, successes, splits, seed=0))
    assert result["identical_predictions"]
    assert result["positive_control_accuracy"] >= 0.99


class _TestsButTrainsOnAll(np.ndarray):
    """A mask of tested rows whose complement, the training rows, is everything."""

    def __invert__(self):
        return np.ones(len(self), dtype=bool)


def test_the_leak_test_finds_a_harness_that_trains_on_tested_runs(
    failures, successes, splits, monkeypatch
):
    honest = fold_plans.rows_in_fold
    monkeypatch.setattr(
        fold_plans, "rows_in_fold", lambda *arguments: honest(*arguments).view(_TestsButTrainsOnAll)
    )
    planted = planted_predictions(failures, successes, splits, seed=0)
    assert not leak_test(planted)["identical_predictions"]


@pytest.fixture
def contexts(monkeypatch):
    """What methods are built with in a cross-validation, in turn."""
    seen: list[Context] = []

    def watched(name):
        def build(settings, context):
            seen.append(context)
            return method_named(name).build(settings, context)

        return replace(method_named(name), build=build)

    monkeypatch.setattr(harness, "method_named", watched)
    return seen


def test_a_simulation_is_handed_the_answers_of_the_runs_it_is_asked_about(
    failures, successes, splits, contexts
):
    levels = {"expert": {"share": 1.0, "accuracy": 1.0}}
    settings = SimulatedHumanSettings.model_validate({"levels": levels})
    predictions = nested_cv(
        failures, successes, splits, "simulated_human", settings, FEATURE_SETS, seed=5
    )
    assert (predictions["prediction"] == predictions["category"]).all()
    truth = dict(failures.select("run_id", "category").iter_rows())
    asked = [set(context.true_categories) for context in contexts]
    assert all(context.true_categories.items() <= truth.items() for context in contexts)
    assert sum(map(len, asked)) == len(truth) * 2 * len(FEATURE_SETS)


@pytest.mark.parametrize(
    "name", [name for name in FEATURE_METHODS if not ENTRIES[name].reads_true_category]
)
def test_no_method_that_diagnoses_is_handed_answers(name, failures, successes, splits, monkeypatch):
    class BuiltError(Exception):
        """Ends the study once the method is to be built: only its context matters here."""

    def build(settings, context):
        raise BuiltError(dict(context.true_categories))

    declaration = replace(method_named(name), build=build)
    monkeypatch.setattr(harness, "method_named", lambda _: declaration)
    with pytest.raises(BuiltError) as stopped:
        nested_cv(failures, successes, splits, name, FOREST, FEATURE_SETS, seed=5)
    assert stopped.value.args == ({},)


def test_a_method_that_reads_no_features_is_fitted_once_for_all_sets(failures, successes, splits):
    built: list[tuple[str, ...]] = []
    forest = method_named("random_forest")

    def build(settings, context):
        built.append(context.features)
        return forest.build(settings, replace(context, features=FEATURE_SETS["19"]))

    once = replace(forest, build=build, reads_features=False)
    answers = nested_cv(failures, successes, splits, once, FOREST, FEATURE_SETS, seed=5)
    assert len(built) == splits.select("repeat", "fold").unique().height
    first, second = (answers.filter(feature_set=name).drop("feature_set") for name in FEATURE_SETS)
    assert first.equals(second)
    each = nested_cv(failures, successes, splits, forest, FOREST, FEATURE_SETS, seed=5)
    assert first.equals(each.filter(feature_set="19").drop("feature_set"))


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
def folds(features: pl.DataFrame) -> pl.DataFrame:
    return make_splits(features.select("scenario", "category").drop_nulls().unique(), 2, 2, seed=0)


@pytest.fixture(scope="module")
def across(features: pl.DataFrame, folds: pl.DataFrame) -> pl.DataFrame:
    return across_architectures(features, folds, "decision_tree", TREE, STUDY)


def failing(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("kind") == "failure")


def of(across: pl.DataFrame, study: str) -> pl.DataFrame:
    return across.filter(pl.col("study") == study)


@pytest.mark.parametrize("study", [POOLED, LEFT_OUT])
def test_each_failing_run_of_the_slice_is_predicted_once(
    study, across, runs_of_three_architectures
):
    expected = failing(runs_of_three_architectures)["run_id"]
    assert sorted(of(across, study)["run_id"]) == sorted(expected)


def test_known_scenarios_are_predicted_on_the_runs_of_one_seed(across, runs_of_three_architectures):
    expected = failing(runs_of_three_architectures).filter(pl.col("seed") == STUDY.known_seed)
    assert sorted(of(across, KNOWN_SCENARIOS)["run_id"]) == sorted(expected["run_id"])


def test_pooling_is_the_main_study_over_all_architectures_and_seeds(
    across, runs_of_three_architectures, folds
):
    mine = runs_of_three_architectures
    main = nested_cv(
        failing(mine),
        mine.filter(pl.col("kind") == "success"),
        folds.filter(pl.col("repeat") == 0),
        "decision_tree",
        TREE,
        {"19": FEATURE_SETS["19"]},
        STUDY.seed,
    )
    assert of(across, POOLED).drop("study").equals(main.drop("study"))
    assert set(main["study"]) == {"nested_cv"}


def test_thresholds_never_come_from_the_architecture_that_is_left_out(features, folds, monkeypatch):
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
    across_architectures(marked, folds, "decision_tree", TREE, STUDY)
    of_first = folds.filter(pl.col("repeat") == 0)
    plans = (*by_scenario(POOLED, of_first), *by_architecture(of_first, marks, STUDY.known_seed))
    expected = [
        np.mean([mark for name, mark in marks.items() if name != plan.left_out]) for plan in plans
    ]
    assert bands == pytest.approx(expected)


def test_methods_learn_nothing_from_a_tested_run_but_do_from_its_scenario_elsewhere(
    features, folds
):
    """A column that names the scenario tells nothing of a new one, and everything of a known."""
    values = dict.fromkeys(FEATURE_SETS["19"], pl.lit(0.0))
    values["max_loss"] = pl.col("scenario").rank("dense").cast(pl.Float64)
    failed = pl.col("kind") == "failure"
    leaking = features.with_columns(
        pl.when(failed).then(value).otherwise(name).alias(name) for name, value in values.items()
    )
    deep = TREE.model_copy(update={"max_depth": (None,)})
    across = across_architectures(leaking, folds, "decision_tree", deep, STUDY)
    right = across.with_columns(right=pl.col("prediction") == pl.col("category"))
    accuracy = dict(right.group_by("study").agg(pl.col("right").mean()).rows())
    assert accuracy[KNOWN_SCENARIOS] == 1
    assert accuracy[LEFT_OUT] < 1


def test_single_architecture_cannot_be_left_out(features, folds):
    gru = features.filter(pl.col("architecture") == "gru")
    complaint = r"1 architecture was recorded with adamw at scale small; leaving one out takes two"
    with pytest.raises(BadInputError, match=complaint):
        across_architectures(gru, folds, "decision_tree", TREE, STUDY)
