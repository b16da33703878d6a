import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.publish.page.answers import answers_by_scenario
from failbench.publish.page.failures import SHOWN_ERROR, failures
from made_up import made_up_predictions
from made_up_telemetry import SCENARIOS, made_up_scenarios, made_up_telemetry, together

REFERENCE = "transformer-adamw"
SOME = "optimization_0"


def inputs():
    scenarios = made_up_scenarios()
    predictions = made_up_predictions(scenarios=SCENARIOS, runs=2).with_columns(
        method=pl.lit("ebm"), seed=pl.col("run_id").str.tail(1).cast(pl.Int32)
    )
    difficulty = pl.DataFrame(
        {
            "scenario": [scenario.id for scenario in scenarios],
            "measured": ["hard"] * len(scenarios),
            "ease": [0.25] * len(scenarios),
        }
    )
    runs = together(made_up_telemetry(seeds=2), made_up_telemetry("sgd")).runs
    return scenarios, runs, answers_by_scenario(predictions), difficulty


def index(**changed):
    scenarios, runs, answers, difficulty = inputs()
    given = {"runs": runs, "answers": answers, "difficulty": difficulty} | changed
    return failures(
        scenarios, given["runs"], given["answers"], given["difficulty"], reference=REFERENCE, seed=0
    )


def card_of(index, name=SOME):
    return next(card for card in index["cards"] if card["id"] == name)


def test_an_error_is_shown_as_it_was_and_says_how_much_of_it_is_left_out():
    _, runs, _, _ = inputs()
    message = "</script> " + "x" * 400
    failed = pl.col("scenario") == SOME
    runs = runs.with_columns(
        error_type=pl.when(failed).then(pl.lit("ValueError")),
        error_message=pl.when(failed).then(pl.lit(message)),
    )
    shown = card_of(index(runs=runs))["settings"][REFERENCE]
    whole = f"ValueError: {message}"
    assert shown["error"] == whole[:SHOWN_ERROR]
    assert shown["left_out"] == len(whole) - SHOWN_ERROR


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ("runs", rf"runs.parquet: scenario: '{SOME}' .*git checkout"),
        ("difficulty", rf"difficulty.*'{SOME}'.*measure_difficulty"),
        ("answers", rf"nested_cv: scenario: .*'{SOME}'"),
    ],
)
def test_a_scenario_of_which_something_is_missing_is_one_clear_error(lacking, message):
    _, runs, answers, difficulty = inputs()
    others = {name: given for name, given in answers.items() if name != SOME}
    given = {"runs": runs, "difficulty": difficulty}
    without = {name: table.filter(pl.col("scenario") != SOME) for name, table in given.items()}
    with pytest.raises(BadInputError, match=message):
        index(**{lacking: {**without, "answers": others}[lacking]})
