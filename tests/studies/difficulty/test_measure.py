from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import NESTED_CV, POOLED
from failbench.studies.difficulty.measure import (
    Difficulty,
    DifficultyDesign,
    measure_difficulty,
)
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
}
SETTINGS = DifficultyDesign.model_validate(FACTS)


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies(METHODS)


@pytest.fixture(scope="module")
def difficulty(predictions) -> Difficulty:
    return measure_difficulty(predictions, DEFINED, RUNS, SETTINGS)


def answered(*answers: tuple[str, str, str, int, int, str]) -> pl.DataFrame:
    """Predictions of ``optimization_0`` by study, method, architecture, seed, repeat, answer.

    All other scenarios are told by every method, in every study.
    """
    columns = ["study", "method", "architecture", "seed", "repeat", "prediction"]
    of_scenario = pl.DataFrame(list(answers), schema=columns, orient="row").with_columns(
        scenario=pl.lit("optimization_0"), category=pl.lit("optimization")
    )
    others = (
        of_scenario.drop("scenario", "category", "prediction")
        .unique()
        .join(
            pl.DataFrame(
                [
                    (scenario.id, scenario.category)
                    for scenario in DEFINED
                    if scenario.id != "optimization_0"
                ],
                schema=["scenario", "category"],
                orient="row",
            ),
            how="cross",
        )
    )
    both = pl.concat([of_scenario, others.with_columns(prediction="category")], how="diagonal")
    return completed(
        both.with_columns(
            feature_set=pl.lit("19"), confidence=pl.lit(0.5), fold=pl.lit(0), run_id="scenario"
        )
    )


def measured(predictions: pl.DataFrame) -> dict[str, object]:
    settings = DifficultyDesign.model_validate(FACTS | {"left_out": []})
    difficulty = measure_difficulty(predictions, DEFINED, RUNS, settings)
    return difficulty.scenarios.row(by_predicate=pl.col("scenario") == "optimization_0", named=True)


def test_methods_and_architectures_count_alike_however_many_predictions_they_have():
    right, wrong = "optimization", "unknown"
    row = measured(
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
    assert row["ease"] == pytest.approx((0.375 + 1 + 0 + 0) / 4)
    assert row["runs"] == 3
    assert row["measured"] == "hard"
    assert (row["instead"], row["instead_share"]) == ("unknown", pytest.approx(0.40625))


def test_an_abstention_is_never_right_and_may_be_what_is_given_most_often():
    rows = [
        (study, "ebm", "transformer", 0, repeat, "abstain")
        for study in (NESTED_CV, POOLED)
        for repeat in range(2)
    ]
    row = measured(answered(*rows))
    assert (row["ease"], row["instead"], row["by_surface"]) == (0.0, "abstain", False)


def test_levels_begin_where_the_settings_say(difficulty):
    for row in difficulty.scenarios.iter_rows(named=True):
        level = "hard" if row["ease"] < 0.45 else "easy" if row["ease"] >= 0.7 else "medium"
        assert row["measured"] == level
    assert set(difficulty.scenarios["measured"]) == set(DIFFICULTIES)


def test_the_hardest_come_first_and_answers_make_a_whole(difficulty):
    table = difficulty.scenarios
    assert table["ease"].is_sorted()
    assert table.height == SCENARIOS * len(CATEGORIES)
    assert table.select(pl.sum_horizontal(ANSWERS)).to_series().to_list() == pytest.approx(
        [1.0] * table.height
    )


def test_a_method_left_out_that_nobody_predicted_with_is_refused(predictions):
    settings = DifficultyDesign.model_validate(FACTS | {"left_out": ["oracle"]})
    with pytest.raises(BadInputError, match="'oracle' was not predicted"):
        measure_difficulty(predictions, DEFINED, RUNS, settings)


def test_a_scenario_that_is_not_defined_or_has_no_run_is_refused(predictions):
    with pytest.raises(BadInputError, match="'unknown_7' was predicted and is not there"):
        measure_difficulty(predictions, DEFINED[:-1], RUNS, SETTINGS)
    with pytest.raises(BadInputError, match=r"features.*'unknown_7' was predicted"):
        measure_difficulty(
            predictions, DEFINED, RUNS.filter(pl.col("scenario") != "unknown_7"), SETTINGS
        )
