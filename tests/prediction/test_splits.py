from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA, first_repeats
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.prediction.folds import make_splits, rows_in_fold


def scenarios_of(counts: dict[str, int]) -> pl.DataFrame:
    rows = [(f"{name}_{index}", name) for name, count in counts.items() for index in range(count)]
    return pl.DataFrame(rows, schema=["scenario", "category"], orient="row")


@given(
    counts=st.lists(st.integers(4, 12), min_size=2, max_size=5),
    folds=st.integers(2, 4),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 2**31),
)
def test_each_scenario_is_tested_once_a_repeat_and_categories_are_spread_evenly(
    counts: list[int], folds: int, repeats: int, seed: int
):
    table = scenarios_of(dict(zip(CATEGORIES, counts, strict=False)))
    splits = make_splits(table, folds, repeats, seed)
    assert splits.schema == SPLIT_SCHEMA
    for _, part in splits.group_by("repeat"):
        assert sorted(part["scenario"]) == sorted(table["scenario"])
        assert set(part["fold"]) == set(range(folds))
    spread = (
        splits.join(table, on="scenario")
        .group_by("repeat", "category", "fold")
        .len()
        .group_by("repeat", "category")
        .agg((pl.col("len").max() - pl.col("len").min()).alias("range"), pl.len())
    )
    assert spread["range"].max() <= 1


def test_scenarios_of_a_group_are_tested_together_and_each_once_a_repeat():
    table = scenarios_of({"unknown": 8, "optimization": 8}).with_columns(
        fault=pl.when(pl.col("scenario").is_in(["unknown_1", "unknown_5", "unknown_6"]))
        .then(pl.lit("shared"))
        .otherwise("scenario")
    )
    splits = make_splits(table, 4, 3, seed=0, group="fault").join(table, on="scenario")
    assert splits.filter(pl.col("fault") == "shared").group_by("repeat").agg(
        pl.col("fold").n_unique()
    )["fold"].to_list() == [1, 1, 1]
    for _, part in splits.group_by("repeat"):
        assert sorted(part["scenario"]) == sorted(table["scenario"])
        assert set(part["fold"]) == set(range(4))
    folds = [
        tuple(part.sort("scenario")["fold"])
        for _, part in splits.group_by("repeat", maintain_order=True)
    ]
    assert len(set(folds)) == 3


def test_splits_depend_on_the_seed_alone_and_not_on_the_order_of_scenarios():
    table = scenarios_of(dict(COUNTS))
    splits = make_splits(table, 5, 2, seed=3)
    assert splits.equals(make_splits(table[::-1], 5, 2, seed=3))
    assert not splits.equals(make_splits(table, 5, 2, seed=4))


def test_a_category_with_fewer_scenarios_than_folds_is_refused():
    with pytest.raises(BadInputError, match="unknown has 3 scenarios, fewer than 5 folds"):
        make_splits(scenarios_of({**COUNTS, "unknown": 3}), 5, 1, seed=0)


def test_splits_of_other_scenarios_are_refused():
    splits = make_splits(scenarios_of(dict(COUNTS)), 5, 1, seed=0)
    with pytest.raises(BadInputError, match="tests none of the runs"):
        rows_in_fold(splits, np.array(["elsewhere"], dtype=object), repeat=0, fold=0)


def test_the_first_repeats_are_taken_and_more_than_there_are_refused():
    splits = make_splits(scenarios_of({"unknown": 4, "optimization": 4}), 2, 3, seed=0)
    taken = first_repeats(splits, 2, "lead_time.repeats")
    assert taken["repeat"].unique().to_list() == [0, 1]
    assert taken.height == 2 * 8
    with pytest.raises(BadInputError, match=r"lead_time\.repeats: 4 are wanted, and the splits"):
        first_repeats(splits, 4, "lead_time.repeats")
