import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.publish.page.answers import Answers, answers_by_scenario, method_facts, shown_order
from made_up import made_up_predictions


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


def test_answers_are_counted_over_repeats_and_seeds_of_one_feature_set():
    predictions = made_up_predictions(1.0, repeats=3, scenarios=1, runs=2).with_columns(
        method=pl.lit("ebm"), seed=pl.col("run_id").str.tail(1).cast(pl.Int32)
    )
    given = answers_by_scenario(predictions)["unknown_0"]["ebm"]
    assert (given.counts, given.right_by_seed, given.repeats) == ({"unknown": 6}, (3, 3), 3)
    other = predictions.with_columns(feature_set=pl.lit("19+keywords"))
    assert answers_by_scenario(pl.concat([predictions, other])) == answers_by_scenario(predictions)


def test_a_method_that_does_not_answer_a_scenario_is_named_with_the_remedy():
    predictions = made_up_predictions(scenarios=2)
    some = named(predictions.filter(pl.col("scenario") != "unknown_1"), "ebm")
    both = pl.concat([named(predictions, "random_forest"), some])
    with pytest.raises(BadInputError, match=r"ebm: .*'unknown_1'.* Run `dvc repro nested_cv@ebm`"):
        answers_by_scenario(both)


def test_methods_that_are_told_come_last_and_development_before_them():
    order = shown_order(["hybrid", "invariants", "simulated_human", "ebm", "simple_rules"])
    assert order == ["simple_rules", "ebm", "invariants", "simulated_human", "hybrid"]
    for method, is_told in (("simulated_human", True), ("invariants", False)):
        facts = method_facts(method)
        assert (facts["told"], facts["development"]) == (is_told, not is_told)
