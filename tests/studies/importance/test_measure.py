"""Replacements in held-out runs, and what the fits themselves say of their features."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.methods.boosting_machine import ebm
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.importance.measure import (
    BUILT_IN_SCHEMA,
    IMPORTANCE_SETS,
    REPLACEMENT_SCHEMA,
    built_in_importance,
    donors,
    units,
)
from failbench.studies.importance.shapes import SHAPE_SCHEMA, leading_shapes
from failbench.vocabulary import CATEGORIES
from made_up_importance import EBM


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


def test_a_boosting_machine_gives_its_terms_as_its_built_in_importance(told_twice):
    shapes = leading_shapes(told_twice, EBM, IMPORTANCE_SETS["19"], 0, 2)
    assert shapes.schema == SHAPE_SCHEMA
    assert set(shapes["feature"]) == {"peak_memory", "memory_at_failure"}
    frame = told_twice.sort("run_id").to_pandas().set_index("run_id")
    method = ebm(EBM, IMPORTANCE_SETS["19"], 0)
    method.fit(frame, frame["category"].to_numpy(), groups=frame["scenario"].to_numpy())
    largest = built_in_importance(method).max()
    assert shapes.filter(pl.col("rank") == 1)["contribution"][0] == pytest.approx(largest)


def test_shapes_are_steps_without_gaps_that_name_the_right_category(told_twice):
    shapes = leading_shapes(told_twice, EBM, IMPORTANCE_SETS["19"], 0, 1)
    for number, category in enumerate(CATEGORIES):
        bins = shapes.filter(pl.col("category") == category).sort("low")
        assert bins["high"].to_list()[:-1] == bins["low"].to_list()[1:]
        assert (bins["low"][0], bins["high"][-1]) == (0, len(CATEGORIES) - 1)
        best = bins.filter(pl.col("score") == pl.col("score").max())
        assert best["low"].min() <= number <= best["high"].max()
