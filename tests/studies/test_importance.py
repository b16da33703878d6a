from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.method_settings import EbmSettings, RandomForestSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.boosting_machine import ebm
from failbench.prediction.splits import make_splits
from importance import ImportanceSettings, answers, removal, source_agreement
from importance import importance as importance_of
from measure_importance import (
    Importances,
    built_in_importance,
    donors,
    importances,
    leading_shapes,
    units,
)
from shared.importance import (
    BUILT_IN_SCHEMA,
    IMPORTANCE_SETS,
    REPLACEMENT_SCHEMA,
    SHAPE_SCHEMA,
    groups_of,
    methods_asked,
)

FOREST = RandomForestSettings(trees=15, inner_folds=2, max_features=(0.5,), min_samples_leaf=(1,))
EBM = EbmSettings(
    inner_folds=2,
    learning_rate=(0.08,),
    interactions=0,
    outer_bags=2,
    max_rounds=40,
    min_samples_leaf=2,
    max_bins=16,
    early_stopping_rounds=10,
)
SETTINGS = ImportanceSettings(
    repeats=1,
    replacements=5,
    source="training_fold",
    shapes=2,
    resamples=1000,
    confidence=0.95,
    seed=0,
)


@pytest.fixture(scope="module")
def told_twice(failures) -> pl.DataFrame:
    """Failures that two features of one group tell apart, each of them by itself."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    code = pl.col("category").replace_strict(codes)
    return failures.with_columns(max_loss=pl.lit(0.0), peak_memory=code, memory_at_failure=code)


@pytest.fixture(scope="module")
def measured(told_twice, failures) -> Importances:
    splits = make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)
    return importances(told_twice, splits, {"random_forest": FOREST}, SETTINGS, seed=0)


@pytest.fixture(scope="module")
def importance(measured) -> pl.DataFrame:
    correct = answers(measured.predictions, measured.replacements, "training_fold")
    return importance_of(correct, measured.built_in, SETTINGS)


def test_every_unit_is_replaced_in_every_held_out_run_from_both_sources(measured, told_twice):
    assert measured.predictions.schema == PREDICTION_SCHEMA
    assert measured.replacements.schema == REPLACEMENT_SCHEMA
    assert measured.built_in.schema == BUILT_IN_SCHEMA
    by_source = measured.replacements.group_by("feature_set", "source").len()
    expected = [told_twice.height * len(units(columns)) for columns in IMPORTANCE_SETS.values()]
    assert by_source.sort("feature_set", "source")["len"].to_list() == [
        count for count in expected for _ in range(2)
    ]


def test_donors_of_the_test_fold_are_permutations_and_others_come_from_the_training_fold():
    tested, trained = np.arange(4.0)[:, None], np.arange(10.0, 20.0)[:, None]
    permuted = donors(tested, trained, "test_fold", 50, np.random.default_rng(0))
    assert permuted.shape == (50, 4, 1)
    assert (np.sort(permuted[:, :, 0], axis=1) == tested[:, 0]).all()
    others = donors(tested, trained, "training_fold", 50, np.random.default_rng(0))
    assert others.shape == (50, 4, 1)
    assert np.isin(others, trained).all()


def test_a_group_takes_all_its_values_from_one_run():
    tested, trained = np.zeros((3, 2)), np.column_stack([np.arange(9.0), np.arange(9.0)])
    drawn = donors(tested, trained, "training_fold", 4, np.random.default_rng(0))
    assert (drawn[:, :, 0] == drawn[:, :, 1]).all()


def test_flags_are_grouped_by_what_they_are_about():
    groups = groups_of(["broke_learning_rate_positive", "ended_hung", "phase_data"])
    assert groups["ending"] == ("ended_hung", "phase_data")
    assert groups["invariants"] == ("broke_learning_rate_positive",)


def test_classifiers_on_what_is_known_are_asked_where_the_main_study_has_them():
    asked = methods_asked(["decision_tree", "forest_on_invariants"])
    assert asked == ("random_forest", "ebm", "forest_on_invariants")


def test_a_boosting_machine_gives_its_terms_as_its_built_in_importance(told_twice):
    shapes = leading_shapes(told_twice, EBM, IMPORTANCE_SETS["19"], 0, 2)
    assert shapes.schema == SHAPE_SCHEMA
    assert set(shapes["feature"]) == {"peak_memory", "memory_at_failure"}
    frame = told_twice.sort("run_id").to_pandas().set_index("run_id")
    method = ebm(EBM, IMPORTANCE_SETS["19"], 0)
    method.fit(frame, frame["category"].to_numpy(), groups=frame["scenario"].to_numpy())
    largest = built_in_importance(method).max()
    assert shapes.filter(rank=1)["contribution"][0] == pytest.approx(largest)


def test_shapes_are_steps_without_gaps_that_name_the_right_category(told_twice):
    shapes = leading_shapes(told_twice, EBM, IMPORTANCE_SETS["19"], 0, 1)
    for number, category in enumerate(CATEGORIES):
        bins = shapes.filter(category=category).sort("low")
        assert bins["high"].to_list()[:-1] == bins["low"].to_list()[1:]
        assert (bins["low"][0], bins["high"][-1]) == (0, len(CATEGORIES) - 1)
        best = bins.filter(pl.col("score") == pl.col("score").max())
        assert best["low"].min() <= number <= best["high"].max()


def drop(importance: pl.DataFrame, kind: str, name: str, column: str = "value") -> float:
    return float(importance.filter(feature_set="19", kind=kind, name=name)[column].item())


def test_features_that_stand_in_for_one_another_are_found_as_a_group(importance):
    alone = max(drop(importance, "feature", name) for name in ("peak_memory", "memory_at_failure"))
    together = drop(importance, "group", "memory")
    assert together > 0.5
    assert together > alone + 0.2


def test_what_tells_nothing_is_worth_nothing(importance):
    assert abs(drop(importance, "group", "configuration")) < 0.05
    assert drop(importance, "group", "configuration", "own") < 0.2


def test_a_drop_lies_in_its_interval_and_shares_add_up_to_one(importance):
    assert (importance["ci_low"] <= importance["value"]).all()
    assert (importance["value"] <= importance["ci_high"]).all()
    for column in ("share", "own"):
        totals = importance.group_by("feature_set", "kind").agg(pl.col(column).sum())
        assert totals[column].to_numpy() == pytest.approx(1)


def test_the_sources_agree_on_what_is_worth_most(measured):
    agreement = source_agreement(measured.predictions, measured.replacements)
    forest = agreement["19"]["random_forest"]
    assert forest["n"] == 19
    assert forest["tested"] == pytest.approx(60 / 3)
    assert forest["ratio"] == pytest.approx(1, abs=0.4)
    assert 0 <= forest["largest_difference"] < 0.3


def test_a_removal_is_the_accuracy_without_the_error_text_less_that_with_all_signals():
    right = {"all": (1, 1, 1, 0), "without_error_text": (1, 1, 0, 0), "memory": (0, 0, 0, 0)}
    rows = [
        (subset, repeat, f"scenario_{number}", "optimization", "optimization" if hit else "unknown")
        for subset, scenarios in right.items()
        for repeat in (0, 1)
        for number, hit in enumerate(scenarios)
    ]
    columns = ["subset", "repeat", "scenario", "category", "prediction"]
    assert removal(pl.DataFrame(rows, columns, orient="row")) == pytest.approx(2 / 4 - 3 / 4)
