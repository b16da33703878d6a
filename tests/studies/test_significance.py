import polars as pl

from failbench.statistics.significance import (
    SignificanceSettings,
    comparisons_table,
    difference_metrics,
)
from significance import compare
from study_settings import DRAWS, TESTS

SETTINGS = SignificanceSettings(
    **DRAWS, **TESTS, feature_set="19", contrasts=(("random_forest", "simple_rules"),)
)


def test_no_test_is_made_of_rules_that_were_made_in_view(answers):
    rates = {"invariants": 0.8, "random_forest": 0.6, "simple_rules": 0.4}
    predictions = answers(rates, feature_set="19")
    both = (*SETTINGS.contrasts, ("invariants", "random_forest"))
    tested, development = compare(predictions, SETTINGS.model_copy(update={"contrasts": both}))
    assert compare(predictions, SETTINGS) == (tested, [])
    (leaves,) = difference_metrics(development).values()
    assert set(leaves) == {"difference"}
    points = comparisons_table([*tested, *development]).filter(left="invariants")
    assert points["difference"].null_count() == points["p"].count() == 0


def test_the_contrasts_are_tested_on_the_primary_set_and_then_on_the_others(answers):
    rates = {"random_forest": 0.7, "simple_rules": 0.5, "ebm": 0.6}
    like = answers(rates, feature_set="19+keywords")
    papers = answers({**rates, "random_forest": 0.4}, feature_set="19")
    settings = SETTINGS.model_copy(update={"feature_set": "19+keywords"})
    first, second = compare(pl.concat([like, papers]), settings)[0]
    assert (first.feature_set, second.feature_set) == ("19+keywords", "19")
    assert first.difference > 0 > second.difference
