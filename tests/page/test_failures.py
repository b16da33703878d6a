from itertools import accumulate

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.publish.page.curves import SIGNALS, curves
from failbench.publish.page.document import significant
from failbench.publish.page.failure import NOTHING_BROKE, decided_sentence
from failbench.publish.page.failures import SHOWN_ERROR, failures
from failbench.publish.page.methods import Answers, answers_by_scenario
from made_up import made_up_predictions
from made_up_monitored import rules
from made_up_telemetry import (
    ONSET,
    SCENARIOS,
    STEPS,
    made_up_scenarios,
    made_up_telemetry,
    together,
)

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


def test_a_run_in_which_nothing_broke_says_so():
    decided = {"decided_by": None, "decided_kind": None}
    assert decided_sentence(decided, {}, pl.DataFrame(), rules()) == NOTHING_BROKE


def named(predictions: pl.DataFrame, method: str) -> pl.DataFrame:
    return predictions.with_columns(method=pl.lit(method))


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({"unknown": 6, "abstain": 4}, "right"),
        ({"optimization": 3, "data_pipeline": 3, "unknown": 4}, "wrong"),
        ({"abstain": 6, "unknown": 4}, "abstained"),
        ({"unknown": 5, "abstain": 5}, "divided"),
        ({"unknown": 5, "optimization": 5}, "divided"),
        ({"unknown": 4, "optimization": 3, "abstain": 3}, "divided"),
    ],
)
def test_more_than_half_of_the_answers_make_a_verdict(counts, verdict):
    assert Answers("unknown", counts, (0,), 10).verdict == verdict


def test_a_method_that_does_not_answer_a_scenario_is_named_with_the_remedy():
    predictions = made_up_predictions(scenarios=2)
    some = named(predictions.filter(pl.col("scenario") != "unknown_1"), "ebm")
    both = pl.concat([named(predictions, "random_forest"), some])
    with pytest.raises(BadInputError, match=r"ebm: .*'unknown_1'.* Run `dvc repro nested_cv@ebm`"):
        answers_by_scenario(both)


# Curves.

RUN = f"{SOME}-adamw-s0"


def drawn(stored):
    distances, values = stored
    return dict(zip(accumulate(distances), values, strict=True))


def test_every_value_was_recorded_at_its_step_and_extremes_are_kept():
    telemetry = made_up_telemetry()
    losses = drawn(curves(telemetry, REFERENCE, 0, most=8)[SOME]["run"]["loss"])
    recorded = telemetry.steps.filter(pl.col("run_id") == RUN)
    assert 2 < len(losses) <= 8
    for step, value in losses.items():
        assert value == significant(recorded["loss"][step])
    assert max(losses.values()) == significant(recorded["loss"].max())
    assert min(losses.values()) == significant(recorded["loss"].min())


def test_a_twin_begins_at_onset_but_for_what_measures_the_machine():
    twin = curves(made_up_telemetry(), REFERENCE, 0)[SOME]["twin"]
    first = {name: min(drawn(stored)) for name, stored in twin.items()}
    of_machine = {signal.name for signal in SIGNALS if signal.of_machine}
    assert {first[name] for name in of_machine} == {0}
    assert first["loss"] == ONSET


def test_a_loss_that_is_not_finite_breaks_the_line_and_what_was_not_reached_is_no_point():
    step = pl.col("step")
    loss = pl.when(step == 12).then(float("inf")).when(step < STEPS - 1).then(pl.col("loss"))
    telemetry = made_up_telemetry()
    odd = Telemetry(telemetry.runs, telemetry.steps.with_columns(loss=loss.cast(pl.Float32)))
    losses = drawn(curves(odd, REFERENCE, 0)[SOME]["run"]["loss"])
    assert losses[12] is None
    assert list(losses) == list(range(STEPS - 1))


def test_a_failing_run_without_a_twin_is_one_clear_error():
    telemetry = made_up_telemetry()
    alone = telemetry.select(pl.col("run_id") != f"{RUN}-twin")
    with pytest.raises(BadInputError, match=rf"twin_of: .*{RUN}.*record it again"):
        curves(alone, REFERENCE, 0)
