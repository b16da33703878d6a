"""Folds, which runs a study takes, and which a fit is tested on and learns from."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA, first_repeats
from failbench.base.scenarios import COUNTS
from failbench.base.slices import ReferenceStudy
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV
from failbench.base.vocabulary import CATEGORIES
from failbench.prediction.splits import (
    FoldPlan,
    by_architecture,
    by_scenario,
    by_view,
    make_splits,
    rows_in_fold,
    stacked,
)
from prediction_fixtures import scenarios_of
from study_settings import REFERENCE

ARCHITECTURES = ("bert", "gru", "lstm")
FOLDS, REPEATS = 2, 2


SCENARIOS = scenarios_of(dict.fromkeys(CATEGORIES, 4))
SPLITS = make_splits(SCENARIOS, FOLDS, REPEATS, seed=0)
RUNS = pl.DataFrame(
    [
        (scenario, architecture, seed)
        for scenario in SCENARIOS["scenario"]
        for architecture in ARCHITECTURES
        for seed in range(2)
        if (scenario, architecture) != ("unknown_0", "gru")
    ],
    schema=["scenario", "architecture", "seed"],
    orient="row",
)
"""Two seeds per scenario and architecture; one scenario has no form in one of them."""


def sides(plan: FoldPlan) -> tuple[pl.DataFrame, pl.DataFrame]:
    tested, trained = plan.rows(SPLITS, RUNS)
    return RUNS.filter(pl.Series(tested)), RUNS.filter(pl.Series(trained))


def values(table: pl.DataFrame, column: str = "architecture") -> set[object]:
    return set(table[column])


def test_by_scenario_tested_scenarios_are_new_and_all_others_are_trained_on():
    plans = by_scenario(NESTED_CV, SPLITS)
    assert [(plan.repeat, plan.fold) for plan in plans] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for plan in plans:
        tested, trained = sides(plan)
        assert not values(tested, "scenario") & values(trained, "scenario")
        assert tested.height + trained.height == RUNS.height
        assert values(tested) == values(trained) == set(ARCHITECTURES)


@pytest.mark.parametrize("study", [LEFT_OUT, KNOWN_SCENARIOS])
def test_an_architecture_that_is_left_out_is_tested_once_and_never_trained_on(study):
    plans = [plan for plan in by_architecture(SPLITS, ARCHITECTURES, 0) if plan.study == study]
    assert len({(plan.repeat, plan.fold) for plan in plans}) == len(plans)
    assert len(plans) == len(ARCHITECTURES) * REPEATS * (FOLDS if study == LEFT_OUT else 1)
    for plan in plans:
        tested, trained = sides(plan)
        assert values(tested) == {plan.left_out}
        assert values(trained) == set(ARCHITECTURES) - {plan.left_out}
        if study == LEFT_OUT:
            of_fold = values(SPLITS.filter(repeat=plan.repeat, fold=plan.split), "scenario")
            assert values(tested, "scenario") <= of_fold
            assert values(trained, "scenario") == set(SCENARIOS["scenario"]) - of_fold
        else:  # in other architectures and seeds alone
            assert values(trained, "scenario") == set(SCENARIOS["scenario"])
            assert (values(tested, "seed"), values(trained, "seed")) == ({0}, {1})
    wanted = np.ones(RUNS.height) if study == LEFT_OUT else (RUNS["seed"] == 0).to_numpy()
    for repeat in range(REPEATS):
        masks = [plan.rows(SPLITS, RUNS)[0] for plan in plans if plan.repeat == repeat]
        assert (sum(mask.astype(int) for mask in masks) == wanted).all()


def test_a_seed_apart_is_tested_alone_and_a_plan_must_keep_something_back():
    tested, trained = sides(FoldPlan(NESTED_CV, 0, 0, seed=0))
    assert (values(tested, "seed"), values(trained, "seed")) == ({0}, {1})
    assert tested.height + trained.height == RUNS.height
    with pytest.raises(ValueError, match="keeps back scenarios, an architecture or a seed"):
        FoldPlan(NESTED_CV, 0, 0)
    with pytest.raises(BadInputError, match="fold 0 of leave_one_architecture_out has no run to t"):
        sides(FoldPlan(LEFT_OUT, 0, 0, split=0, left_out="t5"))


@given(
    counts=st.lists(st.integers(4, 12), min_size=2, max_size=5),
    folds=st.integers(2, 4),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 2**31),
)
def test_each_scenario_is_tested_once_and_categories_are_spread(counts, folds, repeats, seed):
    table = scenarios_of(dict(zip(CATEGORIES, counts, strict=False)))
    splits = make_splits(table, folds, repeats, seed)
    assert splits.schema == SPLIT_SCHEMA
    assert_each_is_tested_once(splits, table, folds)
    spread = (
        splits.join(table, on="scenario")
        .group_by("repeat", "category", "fold")
        .len()
        .group_by("repeat", "category")
        .agg((pl.col("len").max() - pl.col("len").min()).alias("range"), pl.len())
    )
    assert spread["range"].max() <= 1


def assert_each_is_tested_once(splits: pl.DataFrame, table: pl.DataFrame, folds: int) -> None:
    for _, part in splits.group_by("repeat"):
        assert sorted(part["scenario"]) == sorted(table["scenario"])
        assert set(part["fold"]) == set(range(folds))


def test_scenarios_of_a_group_are_tested_together_and_each_once_a_repeat():
    grouped = pl.col("scenario").is_in(["unknown_1", "unknown_5", "unknown_6"])
    table = scenarios_of({"unknown": 8, "optimization": 8}).with_columns(
        fault=pl.when(grouped).then(pl.lit("shared")).otherwise("scenario")
    )
    splits = make_splits(table, 4, 3, seed=0, group="fault").join(table, on="scenario")
    shared = splits.filter(fault="shared").group_by("repeat").agg(pl.col("fold").n_unique())
    assert shared["fold"].to_list() == [1, 1, 1]
    assert_each_is_tested_once(splits, table, 4)
    repeats = splits.sort("scenario").group_by("repeat").agg("fold")
    assert len({tuple(fold) for fold in repeats["fold"]}) == 3


def test_splits_depend_on_the_seed_alone_and_not_on_the_order_of_scenarios():
    table = scenarios_of(dict(COUNTS))
    splits = make_splits(table, 5, 2, seed=3)
    assert splits.equals(make_splits(table[::-1], 5, 2, seed=3))
    assert not splits.equals(make_splits(table, 5, 2, seed=4))
    with pytest.raises(BadInputError, match="tests none of the runs"):
        rows_in_fold(splits, np.array(["elsewhere"], dtype=object), repeat=0, fold=0)
    with pytest.raises(BadInputError, match="unknown has 3 scenarios, fewer than 5 folds"):
        make_splits(scenarios_of({**COUNTS, "unknown": 3}), 5, 1, seed=0)


def test_the_first_repeats_are_taken_and_more_than_there_are_refused():
    splits = make_splits(scenarios_of({"unknown": 4, "optimization": 4}), 2, 3, seed=0)
    taken = first_repeats(splits, 2, "lead_time.repeats")
    assert (taken["repeat"].unique().to_list(), taken.height) == ([0, 1], 2 * 8)
    with pytest.raises(BadInputError, match=r"lead_time\.repeats: 4 are wanted, and the splits"):
        first_repeats(splits, 4, "lead_time.repeats")


def test_every_row_of_a_tested_view_is_tested_once_and_its_scenario_not_trained_on(failures):
    folds = make_splits(failures.select("scenario", "category").unique(), 3, 1, seed=0)
    table = stacked({"near": failures, "far": failures})
    counts = np.zeros(table.height)
    for plan in by_view("made_up", folds, "near", ("far",)):
        masks = plan.rows(folds, table)
        counts += masks[0]
        tested, trained = (table.filter(pl.Series(mask)) for mask in masks)
        assert (values(tested, "view"), values(trained, "view")) == ({"far"}, {"near"})
        assert not values(tested, "scenario") & values(trained, "scenario")
    assert (counts == (table["view"] == "far").to_numpy()).all()
    near = stacked({"near": failures})
    for views, side in ((("near", ("far",)), "test"), (("far", ("near",)), "train on")):
        with pytest.raises(BadInputError, match=f"no run to {side}"):
            by_view("made_up", folds, *views)[0].rows(folds, near)


def test_no_seed_and_a_seed_named_twice_are_refused():
    for seeds, problem in (([], "run_seeds"), ([0, 0], "twice"), ([-1], "run_seeds")):
        with pytest.raises(ValidationError, match=problem):
            ReferenceStudy.model_validate(REFERENCE.model_dump() | {"run_seeds": seeds})
