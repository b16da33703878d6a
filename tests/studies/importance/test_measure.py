from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.boosting_machine import EbmSettings, ebm
from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.splits import make_splits
from failbench.studies.importance.measure import (
    IMPORTANCE_SETS,
    NOTHING,
    OWN_SCHEMA,
    UNIT_SCHEMA,
    Importances,
    ImportanceSettings,
    donors,
    importances,
    own_importance,
    units,
)
from failbench.studies.importance.results import (
    importance_metrics,
    importance_table,
    leading_share,
    source_agreement,
)
from failbench.studies.importance.shapes import SHAPE_SCHEMA, leading_shapes
from failbench.vocabulary import CATEGORIES

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
VALUES: dict[str, object] = {
    "repeats": 1,
    "replacements": 5,
    "source": "training_fold",
    "shapes": 2,
    "resamples": 1000,
    "confidence": 0.95,
    "seed": 0,
}
SETTINGS = ImportanceSettings.model_validate(VALUES)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="module")
def twice_told(failures) -> pl.DataFrame:
    """Failures that two features of one group tell apart, each of them by itself."""
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    told = pl.col("category").replace_strict(codes)
    return failures.with_columns(max_loss=pl.lit(0.0), peak_memory=told, memory_at_failure=told)


@pytest.fixture(scope="module")
def found(twice_told, splits) -> Importances:
    return importances(twice_told, splits, {"random_forest": FOREST}, SETTINGS, seed=0)


@pytest.fixture(scope="module")
def table(found) -> pl.DataFrame:
    return importance_table(found, SETTINGS)


def drop(table: pl.DataFrame, kind: str, name: str, column: str = "value") -> float:
    mine = table.filter(
        pl.col("feature_set") == "19", pl.col("kind") == kind, pl.col("name") == name
    )
    return float(mine[column][0])


def test_features_that_stand_in_for_one_another_are_found_as_a_group(table):
    alone = max(drop(table, "feature", name) for name in ("peak_memory", "memory_at_failure"))
    together = drop(table, "group", "memory")
    assert together > 0.5
    assert together > alone + 0.2


def test_what_tells_nothing_is_worth_nothing(table):
    assert abs(drop(table, "group", "configuration")) < 0.05
    assert drop(table, "group", "configuration", "own") < 0.2


def test_a_drop_lies_in_its_interval_and_shares_add_up_to_one(table):
    assert (table["ci_low"] <= table["value"]).all()
    assert (table["value"] <= table["ci_high"]).all()
    for column in ("share", "own"):
        totals = table.group_by("feature_set", "kind").agg(pl.col(column).sum())
        assert totals[column].to_numpy() == pytest.approx(1)


def test_every_unit_is_replaced_in_every_held_out_run_from_both_sources(found, twice_told):
    assert found.units.schema == UNIT_SCHEMA
    assert found.own.schema == OWN_SCHEMA
    counts = found.units.group_by("feature_set", "source").len().sort("feature_set", "source")
    expected = [twice_told.height * len(units(columns)) for columns in IMPORTANCE_SETS.values()]
    assert counts["len"].to_list() == [count for count in expected for _ in range(2)]


def test_intact_runs_are_the_same_whatever_the_source(found):
    intact = found.units.filter(pl.col("unit") == NOTHING).drop("unit")
    parts = intact.partition_by("source", include_key=False)
    assert parts[0].equals(parts[1])
    assert set(intact["correct"]) <= {0.0, 1.0}


def test_donors_of_the_test_fold_are_permutations_and_others_come_from_the_training_fold():
    tested, trained = np.arange(4.0)[:, None], np.arange(10.0, 20.0)[:, None]
    own = donors(tested, trained, "test_fold", 50, np.random.default_rng(0))
    assert own.shape == (50, 4, 1)
    assert (np.sort(own[:, :, 0], axis=1) == tested[:, 0]).all()
    others = donors(tested, trained, "training_fold", 50, np.random.default_rng(0))
    assert others.shape == (50, 4, 1)
    assert np.isin(others, trained).all()


def test_a_permutation_leaves_one_run_in_place_on_average():
    tested = np.arange(15.0)[:, None]
    drawn = donors(tested, tested, "test_fold", 4000, np.random.default_rng(0))
    stayed = (drawn[:, :, 0] == tested[:, 0]).sum(axis=1)
    assert stayed.mean() == pytest.approx(1, abs=0.1)


def test_a_group_takes_all_its_values_from_one_run():
    tested, trained = np.zeros((3, 2)), np.column_stack([np.arange(9.0), np.arange(9.0)])
    drawn = donors(tested, trained, "training_fold", 4, np.random.default_rng(0))
    assert (drawn[:, :, 0] == drawn[:, :, 1]).all()


def test_the_sources_agree_on_what_is_worth_most(found):
    agreement = source_agreement(found)["19"]["random_forest"]
    assert agreement.n == 19
    assert agreement.tested == pytest.approx(60 / 3)
    assert agreement.ratio == pytest.approx(1, abs=0.4)
    assert 0 <= agreement.largest_difference < 0.3


def test_the_leading_features_have_nearly_all_of_the_impurity(found):
    mean, spread, fits = leading_share(found.own, "19", "random_forest")
    assert 0.8 < mean <= 1
    assert spread >= 0
    assert fits == 3


def test_metrics_have_the_drop_with_its_interval_and_the_methods_own_share(found, table):
    leading = {"19": leading_share(found.own, "19", "random_forest")}
    metrics = importance_metrics(table, source_agreement(found), leading)
    one = metrics["importance"]["19"]["random_forest"]["groups"]["memory"]
    assert set(one["drop"]) == {"value", "ci_low", "ci_high", "n"}
    assert one["drop"]["n"] == 30
    assert one["own_share"]["fits"] == 3
    assert metrics["leading_features"]["19"]["features"] == 10


def test_workers_do_not_change_importances(twice_told, splits, found):
    two = importances(twice_told, splits, {"random_forest": FOREST}, SETTINGS, 0, workers=2)
    assert two.units.equals(found.units)
    assert two.own.equals(found.own)


def test_more_repeats_than_there_are_splits_are_refused(twice_told, splits):
    many = ImportanceSettings.model_validate(VALUES | {"repeats": 3})
    with pytest.raises(BadInputError, match="the splits have 2"):
        importances(twice_told, splits, {"random_forest": FOREST}, many, 0)


def test_a_boosting_machine_gives_its_terms_as_its_own_importance(twice_told):
    shapes = leading_shapes(twice_told, EBM, IMPORTANCE_SETS["19"], 0, 2)
    assert shapes.schema == SHAPE_SCHEMA
    assert set(shapes["feature"]) == {"peak_memory", "memory_at_failure"}
    frame = twice_told.sort("run_id").to_pandas().set_index("run_id")
    method = ebm(EBM, IMPORTANCE_SETS["19"], 0)
    method.fit(frame, frame["category"].to_numpy(), groups=frame["scenario"].to_numpy())
    largest = own_importance(method).max()
    assert shapes.filter(pl.col("rank") == 1)["contribution"][0] == pytest.approx(largest)


def test_shapes_are_steps_without_gaps_that_name_the_right_category(twice_told):
    shapes = leading_shapes(twice_told, EBM, IMPORTANCE_SETS["19"], 0, 1)
    for number, category in enumerate(CATEGORIES):
        mine = shapes.filter(pl.col("category") == category).sort("low")
        assert mine["high"].to_list()[:-1] == mine["low"].to_list()[1:]
        assert (mine["low"][0], mine["high"][-1]) == (0, len(CATEGORIES) - 1)
        best = mine.filter(pl.col("score") == pl.col("score").max())
        assert best["low"].min() <= number <= best["high"].max()
