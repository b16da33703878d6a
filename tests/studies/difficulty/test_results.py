"""Measured difficulty against the declared, and the report that is made of a saved measurement."""

from __future__ import annotations

import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from failbench.studies.difficulty.measure import (
    Difficulty,
    measure_difficulty,
)
from failbench.studies.difficulty.results import DifficultySettings, Estimates, difficulty_estimates
from failbench.vocabulary import CATEGORIES, DIFFICULTIES
from made_up_scenarios import made_up_scenarios, reference_runs
from made_up_studies import SCENARIOS, made_up_studies

SETTINGS = DifficultySettings(
    feature_set="19",
    left_out=(),
    hard_below=0.45,
    easy_from=0.7,
    hardest=3,
    neighbours=5,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)


@pytest.fixture(scope="module")
def difficulty() -> Difficulty:
    defined = made_up_scenarios(SCENARIOS)
    predictions = made_up_studies(("random_forest", "ebm"))
    return measure_difficulty(predictions, defined, reference_runs(defined), SETTINGS)


@pytest.fixture(scope="module")
def estimates(difficulty) -> Estimates:
    return difficulty_estimates(difficulty, SETTINGS, "transformer")


def test_agreement_is_that_of_scikit_learn_and_scipy(difficulty, estimates):
    table = difficulty.scenarios
    declared, level = (
        table[name].replace_strict(list(DIFFICULTIES), [0, 1, 2], return_dtype=pl.Int64)
        for name in ("declared", "measured")
    )
    agreement = estimates["agreement"]
    assert agreement["kappa"].value == pytest.approx(
        cohen_kappa_score(declared, level, weights="quadratic", labels=[0, 1, 2])
    )
    assert agreement["tau_declared"].value == pytest.approx(
        stats.kendalltau(declared, -table["ease"]).statistic
    )
    assert agreement["kappa"].ci_low < agreement["kappa"].value < agreement["kappa"].ci_high


def test_shares_are_of_the_scenarios_that_they_are_about_and_have_their_n(difficulty, estimates):
    table = difficulty.scenarios
    ease, share = estimates["ease"], estimates["share"]
    assert ease["all"].value == pytest.approx(table["ease"].mean())
    for category in CATEGORIES:
        of_category = table.filter(category=category)
        assert ease[category].value == pytest.approx(of_category["ease"].mean())
        assert ease[category].n == of_category.height
    for level in DIFFICULTIES:
        declared = table.filter(declared=level)
        assert ease[f"declared_{level}"].value == pytest.approx(declared["ease"].mean())
        assert ease[f"declared_{level}"].n == declared.height
        assert share[level].value == table.filter(measured=level).height / table.height
    hard = table.filter(measured="hard")
    misled = estimates["hard_taken_for"]
    assert misled["surface"].value == pytest.approx(hard["by_surface"].mean())
    assert misled["neighbours"].value == pytest.approx(hard["by_neighbours"].mean())
    assert misled["neighbours"].n == hard.height
