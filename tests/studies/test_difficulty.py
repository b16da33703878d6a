from __future__ import annotations

import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from difficulty import estimates as estimates_of
from failbench.base.errors import BadInputError
from failbench.base.studies import NESTED_CV, POOLED
from failbench.base.vocabulary import ANSWERS, CATEGORIES, DIFFICULTIES
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.study.estimates import Estimates
from made_up import completed
from made_up_scenarios import made_up_scenarios, reference_runs
from made_up_studies import SCENARIOS, made_up_studies
from measure_difficulty import measure
from shared.difficulty import DifficultyDesign

DEFINED = made_up_scenarios(SCENARIOS)
RUNS = reference_runs(DEFINED)
SETTINGS = DifficultyDesign(
    feature_set="19", left_out=(), hard_below=0.45, easy_from=0.7, hardest=3, neighbours=5
)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=10, seed=0
)


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies(("random_forest", "ebm"))


@pytest.fixture(scope="module")
def measured(predictions) -> tuple[pl.DataFrame, pl.DataFrame]:
    return measure(predictions, DEFINED, RUNS, SETTINGS)


@pytest.fixture(scope="module")
def found(measured) -> Estimates:
    return Estimates(estimates_of(*measured, INTERVALS, "transformer"))


def of_one_scenario(*answers: tuple[str, str, str, int, int, str]) -> dict[str, object]:
    """What is measured of a scenario by study, method, architecture, seed, repeat and answer.

    All others are told by every method, in every study.
    """
    columns = ["study", "method", "architecture", "seed", "repeat", "prediction"]
    asked = pl.DataFrame(list(answers), schema=columns, orient="row")
    names = [(each.id, each.category) for each in DEFINED if each.id != "optimization_0"]
    others = pl.DataFrame(names, schema=["scenario", "category"], orient="row")
    told = asked.drop("prediction").unique().join(others, how="cross")
    one = asked.with_columns(scenario=pl.lit("optimization_0"), category=pl.lit("optimization"))
    both = pl.concat([one, told.with_columns(prediction="category")], how="diagonal")
    predictions = completed(
        both.with_columns(
            feature_set=pl.lit("19"), confidence=pl.lit(0.5), fold=pl.lit(0), run_id="scenario"
        )
    )
    scenarios, _ = measure(predictions, DEFINED, RUNS, SETTINGS)
    return scenarios.row(by_predicate=pl.col("scenario") == "optimization_0", named=True)


def test_methods_and_architectures_count_alike_however_many_predictions_they_have():
    right, wrong = "optimization", "unknown"
    row = of_one_scenario(
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
    assert row["ease"] == pytest.approx((0.375 + 1 + 0 + 0) / 4)
    assert (row["runs"], row["measured"]) == (3, "hard")
    assert (row["instead"], row["instead_share"]) == ("unknown", pytest.approx(0.40625))


def test_an_abstention_is_never_right_and_may_be_what_is_given_most_often():
    repeats = [(study, repeat) for study in (NESTED_CV, POOLED) for repeat in range(2)]
    row = of_one_scenario(
        *((study, "ebm", "transformer", 0, repeat, "abstain") for study, repeat in repeats)
    )
    assert (row["ease"], row["instead"], row["by_surface"]) == (0.0, "abstain", False)


def test_levels_begin_where_the_settings_say_and_answers_make_a_whole(measured):
    scenarios, _ = measured
    for row in scenarios.iter_rows(named=True):
        level = "hard" if row["ease"] < 0.45 else "easy" if row["ease"] >= 0.7 else "medium"
        assert row["measured"] == level
    whole = scenarios.select(pl.sum_horizontal(ANSWERS)).to_series().to_list()
    assert whole == pytest.approx([1.0] * SCENARIOS * len(CATEGORIES))
    assert scenarios["ease"].is_sorted()


def test_what_was_not_predicted_or_not_recorded_is_refused(predictions):
    settings = SETTINGS.model_copy(update={"left_out": ("oracle",)})
    with pytest.raises(BadInputError, match="'oracle' was not predicted"):
        measure(predictions, DEFINED, RUNS, settings)
    with pytest.raises(BadInputError, match="'unknown_7' was predicted and is not there"):
        measure(predictions, DEFINED[:-1], RUNS, SETTINGS)
    with pytest.raises(BadInputError, match=r"features.*'unknown_7' was predicted"):
        measure(predictions, DEFINED, RUNS.filter(pl.col("scenario") != "unknown_7"), SETTINGS)


def test_agreement_is_that_of_scikit_learn_and_scipy(measured, found):
    scenarios, _ = measured
    levels = pl.col("declared", "measured").replace_strict(list(DIFFICULTIES), [0, 1, 2])
    declared, level = scenarios.select(levels).get_columns()
    kappa = cohen_kappa_score(declared, level, weights="quadratic", labels=[0, 1, 2])
    tau = stats.kendalltau(declared, -scenarios["ease"]).statistic
    row = found.row(part="agreement", metric="kappa")
    assert row["value"] == pytest.approx(kappa)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert found.value(part="agreement", metric="tau_declared") == pytest.approx(tau)


def test_shares_are_of_the_scenarios_that_they_are_about_and_have_their_n(measured, found):
    scenarios, _ = measured
    of_level = {f"declared_{level}": pl.col("declared") == level for level in DIFFICULTIES}
    of_category = {name: pl.col("category") == name for name in CATEGORIES}
    for metric, those in {**of_level, **of_category, "all": pl.lit(True)}.items():
        part, row = scenarios.filter(those), found.row(part="ease", metric=metric)
        assert (row["value"], row["n"]) == (pytest.approx(part["ease"].mean()), part.height)
    hard = scenarios.filter(measured="hard")
    share = found.value(part="share", metric="hard")
    assert share == pytest.approx(hard.height / scenarios.height)
    misled = found.row(part="hard_taken_for", metric="neighbours")
    assert (misled["value"], misled["n"]) == (
        pytest.approx(hard["by_neighbours"].mean()),
        hard.height,
    )
