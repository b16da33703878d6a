import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.studies import NESTED_CV, POOLED
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


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies(("random_forest", "ebm"))


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
    same = {"feature_set": pl.lit("19"), "confidence": pl.lit(0.5), "fold": pl.lit(0)}
    table = completed(both.with_columns(**same, run_id="scenario"))
    scenarios, _ = measure(table, DEFINED, RUNS, SETTINGS)
    (row,) = scenarios.filter(scenario="optimization_0").to_dicts()
    return row


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
    # an abstention is never right, and may be what is given most often
    repeats = [(study, repeat) for study in (NESTED_CV, POOLED) for repeat in range(2)]
    row = of_one_scenario(*((of, "ebm", "transformer", 0, each, "abstain") for of, each in repeats))
    assert (row["ease"], row["instead"], row["by_surface"]) == (0.0, "abstain", False)


def test_what_was_not_predicted_or_not_recorded_is_refused(predictions):
    settings = SETTINGS.model_copy(update={"left_out": ("oracle",)})
    with pytest.raises(BadInputError, match="'oracle' was not predicted"):
        measure(predictions, DEFINED, RUNS, settings)
    with pytest.raises(BadInputError, match="'unknown_7' was predicted and is not there"):
        measure(predictions, DEFINED[:-1], RUNS, SETTINGS)
    with pytest.raises(BadInputError, match=r"features.*'unknown_7' was predicted"):
        measure(predictions, DEFINED, RUNS.filter(pl.col("scenario") != "unknown_7"), SETTINGS)
