from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import NESTED_CV, POOLED
from failbench.studies.difficulty.measure import DifficultySettings, measure_difficulty
from failbench.studies.difficulty.results import DifficultyStudy, difficulty_study
from failbench.vocabulary import ANSWERS, CATEGORIES, DIFFICULTIES
from made_up import completed
from made_up_scenarios import made_up_scenarios, reference_runs
from made_up_studies import SCENARIOS, made_up_studies

DEFINED = made_up_scenarios(SCENARIOS)
RUNS = reference_runs(DEFINED)
METHODS = ("random_forest", "ebm", "simulated_human")
FACTS: dict[str, object] = {
    "feature_set": "19",
    "left_out": ["simulated_human"],
    "hard_below": 0.45,
    "easy_from": 0.7,
    "hardest": 3,
    "neighbours": 5,
    "resamples": 1000,
    "confidence": 0.95,
    "wilson_from": 0.9,
    "seed": 0,
}
SETTINGS = DifficultySettings.model_validate(FACTS)


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies(METHODS)


@pytest.fixture(scope="module")
def study(predictions) -> DifficultyStudy:
    return difficulty_study(predictions, DEFINED, RUNS, SETTINGS, "transformer")


def answered(*answers: tuple[str, str, str, int, int, str]) -> pl.DataFrame:
    """Predictions of ``optimization_0`` by study, method, architecture, seed, repeat, answer.

    All other scenarios are told by every method, in every study.
    """
    columns = ["study", "method", "architecture", "seed", "repeat", "prediction"]
    own = pl.DataFrame(list(answers), schema=columns, orient="row").with_columns(
        scenario=pl.lit("optimization_0"), category=pl.lit("optimization")
    )
    others = (
        own.drop("scenario", "category", "prediction")
        .unique()
        .join(
            pl.DataFrame(
                [(one.id, one.category) for one in DEFINED if one.id != "optimization_0"],
                schema=["scenario", "category"],
                orient="row",
            ),
            how="cross",
        )
    )
    both = pl.concat([own, others.with_columns(prediction="category")], how="diagonal")
    return completed(
        both.with_columns(
            feature_set=pl.lit("19"), confidence=pl.lit(0.5), fold=pl.lit(0), run_id="scenario"
        )
    )


def measured(predictions: pl.DataFrame) -> dict[str, object]:
    settings = DifficultySettings.model_validate(FACTS | {"left_out": []})
    found = measure_difficulty(predictions, DEFINED, RUNS, settings)
    return found.scenarios.row(by_predicate=pl.col("scenario") == "optimization_0", named=True)


def test_methods_and_architectures_count_alike_however_many_predictions_they_have():
    right, wrong = "optimization", "unknown"
    found = measured(
        answered(
            # the reference run: right in half of the repeats, and in the other study: 0.75
            (NESTED_CV, "ebm", "transformer", 0, 0, right),
            (NESTED_CV, "ebm", "transformer", 0, 1, wrong),
            (POOLED, "ebm", "transformer", 0, 0, right),
            # with another seed, never: the architecture has 0.375
            (POOLED, "ebm", "transformer", 1, 0, wrong),
            # the other architecture, always: the method has 0.6875
            (POOLED, "ebm", "lstm", 0, 0, right),
            # the other method, never
            (POOLED, "random_forest", "transformer", 0, 0, wrong),
            (POOLED, "random_forest", "lstm", 0, 0, "abstain"),
        )
    )
    assert found["ease"] == pytest.approx((0.375 + 1 + 0 + 0) / 4)
    assert found["runs"] == 3
    assert found["measured"] == "hard"
    assert (found["instead"], found["instead_share"]) == ("unknown", pytest.approx(0.40625))


def test_an_abstention_is_never_right_and_may_be_what_is_given_most_often():
    rows = [
        (study, "ebm", "transformer", 0, repeat, "abstain")
        for study in (NESTED_CV, POOLED)
        for repeat in range(2)
    ]
    found = measured(answered(*rows))
    assert (found["ease"], found["instead"], found["by_surface"]) == (0.0, "abstain", False)


def test_levels_begin_where_the_settings_say(study):
    for row in study.difficulty.scenarios.iter_rows(named=True):
        level = "hard" if row["ease"] < 0.45 else "easy" if row["ease"] >= 0.7 else "medium"
        assert row["measured"] == level
    assert set(study.difficulty.scenarios["measured"]) == set(DIFFICULTIES)


def test_the_hardest_come_first_and_answers_make_a_whole(study):
    table = study.difficulty.scenarios
    assert table["ease"].is_sorted()
    assert table.height == SCENARIOS * len(CATEGORIES)
    assert table.select(pl.sum_horizontal(ANSWERS)).to_series().to_list() == pytest.approx(
        [1.0] * table.height
    )


def test_what_is_left_out_has_no_part_in_it(study, predictions):
    assert set(study.difficulty.cells.filter(view="method")["name"]) == {"ebm", "random_forest"}
    without = predictions.filter(pl.col("method") != "simulated_human")
    settings = DifficultySettings.model_validate(FACTS | {"left_out": []})
    again = difficulty_study(without, DEFINED, RUNS, settings, "transformer")
    assert again.difficulty.scenarios.equals(study.difficulty.scenarios)
    assert again.intervals == study.intervals


def test_agreement_is_that_of_scikit_learn_and_scipy(study):
    table = study.difficulty.scenarios
    declared, level = (
        table[name].replace_strict(list(DIFFICULTIES), [0, 1, 2], return_dtype=pl.Int64)
        for name in ("declared", "measured")
    )
    found = study.intervals["agreement"]
    assert found["kappa"].value == pytest.approx(
        cohen_kappa_score(declared, level, weights="quadratic", labels=[0, 1, 2])
    )
    assert found["tau_declared"].value == pytest.approx(
        stats.kendalltau(declared, -table["ease"]).statistic
    )
    assert found["kappa"].ci_low < found["kappa"].value < found["kappa"].ci_high


def test_shares_are_of_the_scenarios_that_they_are_about_and_have_their_n(study):
    table = study.difficulty.scenarios
    ease, share = study.intervals["ease"], study.intervals["share"]
    assert ease["all"].value == pytest.approx(table["ease"].mean())
    for category in CATEGORIES:
        own = table.filter(category=category)
        assert ease[category].value == pytest.approx(own["ease"].mean())
        assert ease[category].n == own.height
    for level in DIFFICULTIES:
        declared = table.filter(declared=level)
        assert ease[f"declared_{level}"].value == pytest.approx(declared["ease"].mean())
        assert ease[f"declared_{level}"].n == declared.height
        assert share[level].value == table.filter(measured=level).height / table.height
    hard = table.filter(measured="hard")
    misled = study.intervals["hard_taken_for"]
    assert misled["surface"].value == pytest.approx(hard["by_surface"].mean())
    assert misled["neighbours"].value == pytest.approx(hard["by_neighbours"].mean())
    assert misled["neighbours"].n == hard.height


def test_a_method_left_out_that_nobody_predicted_with_is_refused(predictions):
    settings = DifficultySettings.model_validate(FACTS | {"left_out": ["oracle"]})
    with pytest.raises(BadInputError, match="'oracle' was not predicted"):
        measure_difficulty(predictions, DEFINED, RUNS, settings)


@pytest.mark.parametrize("study", [NESTED_CV, POOLED])
def test_a_study_without_predictions_is_refused(predictions, study):
    with pytest.raises(BadInputError, match=f"{study} has no prediction on 19 features"):
        measure_difficulty(predictions.filter(pl.col("study") != study), DEFINED, RUNS, SETTINGS)


def test_a_scenario_that_is_not_defined_or_has_no_run_is_refused(predictions):
    with pytest.raises(BadInputError, match="'unknown_7' was predicted and is not there"):
        measure_difficulty(predictions, DEFINED[:-1], RUNS, SETTINGS)
    with pytest.raises(BadInputError, match=r"features.*'unknown_7' was predicted"):
        measure_difficulty(
            predictions, DEFINED, RUNS.filter(pl.col("scenario") != "unknown_7"), SETTINGS
        )


def test_a_reference_that_has_no_predictions_is_refused(predictions):
    with pytest.raises(BadInputError, match="there is no prediction of bert"):
        difficulty_study(predictions, DEFINED, RUNS, SETTINGS, "bert")


def test_levels_out_of_order_and_unknown_features_are_refused():
    with pytest.raises(ValidationError, match="hard_below must not exceed easy_from"):
        DifficultySettings.model_validate(FACTS | {"hard_below": 0.8})
    with pytest.raises(ValidationError, match="feature_set must be one of"):
        DifficultySettings.model_validate(FACTS | {"feature_set": "20"})
