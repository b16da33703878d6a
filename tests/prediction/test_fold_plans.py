from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV
from failbench.base.vocabulary import CATEGORIES
from failbench.prediction.folds import FoldPlan, by_architecture, by_scenario, make_splits

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
