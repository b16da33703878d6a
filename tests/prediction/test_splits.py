"""Folds, and which runs a fit is tested on and learns from."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA, first_repeats
from failbench.base.scenarios import COUNTS
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

ARCHITECTURES = ("bert", "gru", "lstm")
SCENARIOS = [f"{category}_{number}" for category in CATEGORIES for number in range(4)]
FOLDS, REPEATS = 2, 2


@pytest.fixture(scope="module")
def splits() -> pl.DataFrame:
    table = pl.DataFrame({"scenario": SCENARIOS}).with_columns(
        category=pl.col("scenario").str.replace(r"_\d$", "")
    )
    return make_splits(table, FOLDS, REPEATS, seed=0)


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    """Two seeds per scenario and architecture; one scenario has no form in one of them."""
    rows = [
        (scenario, architecture, seed)
        for scenario in SCENARIOS
        for architecture in ARCHITECTURES
        for seed in range(2)
        if (scenario, architecture) != ("unknown_0", "gru")
    ]
    return pl.DataFrame(rows, schema=["scenario", "architecture", "seed"], orient="row")


def sides(
    plan: FoldPlan, splits: pl.DataFrame, runs: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    tested, trained = plan.rows(splits, runs)
    return runs.filter(pl.Series(tested)), runs.filter(pl.Series(trained))


def test_by_scenario_tested_scenarios_are_new_and_all_others_are_trained_on(splits, runs):
    plans = by_scenario(NESTED_CV, splits)
    assert [(plan.repeat, plan.fold) for plan in plans] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for plan in plans:
        tested, trained = sides(plan, splits, runs)
        assert not set(tested["scenario"]) & set(trained["scenario"])
        assert tested.height + trained.height == runs.height
        assert set(tested["architecture"]) == set(trained["architecture"]) == set(ARCHITECTURES)


def test_left_out_architectures_and_their_tested_scenarios_were_never_trained_on(splits, runs):
    plans = [plan for plan in by_architecture(splits, ARCHITECTURES, 0) if plan.study == LEFT_OUT]
    assert len(plans) == len(ARCHITECTURES) * FOLDS * REPEATS
    for plan in plans:
        tested, trained = sides(plan, splits, runs)
        assert set(tested["architecture"]) == {plan.left_out}
        assert set(trained["architecture"]) == set(ARCHITECTURES) - {plan.left_out}
        of_fold = splits.filter(pl.col("repeat") == plan.repeat, pl.col("fold") == plan.split)
        assert set(tested["scenario"]) <= set(of_fold["scenario"])
        assert set(trained["scenario"]) == set(SCENARIOS) - set(of_fold["scenario"])


def test_known_scenarios_are_trained_on_in_other_architectures_and_seeds_alone(splits, runs):
    plans = by_architecture(splits, ARCHITECTURES, seed=1)
    plans = tuple(plan for plan in plans if plan.study == KNOWN_SCENARIOS)
    assert len(plans) == len(ARCHITECTURES) * REPEATS
    for plan in plans:
        tested, trained = sides(plan, splits, runs)
        assert set(tested["architecture"]) == {plan.left_out}
        assert plan.left_out not in set(trained["architecture"])
        assert set(tested["scenario"]) <= set(trained["scenario"]) == set(SCENARIOS)
        assert set(tested["seed"]) == {1}
        assert set(trained["seed"]) == {0}


@pytest.mark.parametrize("study", [LEFT_OUT, KNOWN_SCENARIOS])
def test_each_run_is_tested_once_a_repeat_and_each_fit_has_a_number_of_its_own(study, splits, runs):
    plans = [plan for plan in by_architecture(splits, ARCHITECTURES, 0) if plan.study == study]
    assert len({(plan.repeat, plan.fold) for plan in plans}) == len(plans)
    wanted = np.ones(runs.height) if study == LEFT_OUT else (runs["seed"] == 0).to_numpy()
    for repeat in range(REPEATS):
        masks = [plan.rows(splits, runs)[0] for plan in plans if plan.repeat == repeat]
        assert (sum(mask.astype(int) for mask in masks) == wanted).all()


def test_a_seed_apart_is_tested_alone_and_not_trained_on(splits, runs):
    tested, trained = sides(FoldPlan(NESTED_CV, 0, 0, seed=0), splits, runs)
    assert set(tested["seed"]) == {0}
    assert set(trained["seed"]) == {1}
    assert tested.height + trained.height == runs.height


def test_plan_that_keeps_nothing_back_is_refused():
    with pytest.raises(ValueError, match="keeps back scenarios, an architecture or a seed"):
        FoldPlan(NESTED_CV, 0, 0)


def test_architecture_that_was_not_recorded_cannot_be_tested(splits, runs):
    plan = FoldPlan(LEFT_OUT, 0, 0, split=0, left_out="t5")
    with pytest.raises(BadInputError, match="fold 0 of leave_one_architecture_out has no run to t"):
        plan.rows(splits, runs)


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


@pytest.fixture(scope="module")
def folds_of_views(failures):
    return make_splits(failures.select("scenario", "category").unique(), folds=3, repeats=1, seed=0)


def test_no_scenario_of_the_tested_views_is_trained_on(failures, folds_of_views):
    table = stacked({"near": failures, "far": failures})
    for plan in by_view("made_up", folds_of_views, "near", ("far",)):
        tested, trained = (
            table.filter(pl.Series(mask)) for mask in plan.rows(folds_of_views, table)
        )
        assert set(tested["view"]) == {"far"}
        assert set(trained["view"]) == {"near"}
        assert not set(tested["scenario"]) & set(trained["scenario"])


def test_every_row_of_a_tested_view_is_tested_once(failures, folds_of_views):
    table = stacked({"near": failures, "far": failures})
    counts = sum(
        plan.rows(folds_of_views, table)[0].astype(int)
        for plan in by_view("m", folds_of_views, "near", ("far",))
    )
    assert counts.tolist() == (table["view"] == "far").cast(pl.Int64).to_list()


def test_a_view_that_is_not_there_is_refused(failures, folds_of_views):
    table = stacked({"near": failures})
    with pytest.raises(BadInputError, match="no run to test"):
        by_view("made_up", folds_of_views, "near", ("far",))[0].rows(folds_of_views, table)
    with pytest.raises(BadInputError, match="no run to train on"):
        by_view("made_up", folds_of_views, "far", ("near",))[0].rows(folds_of_views, table)
