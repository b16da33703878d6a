from __future__ import annotations

import json

import baycomp
import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from failbench.base.errors import BadInputError
from failbench.statistics.pairs import paired_scores
from failbench.statistics.significance import SignificanceSettings, compare_all, comparison_metrics

RATES = {"a": 0.55, "b": 0.5, "c": 0.8, "d": 0.75}
SETTINGS = SignificanceSettings(
    feature_set="19",
    contrasts=(("c", "a"), ("b", "a"), ("d", "c")),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.80,
    seed=0,
)


@pytest.fixture(scope="module")
def predictions(answers):
    words = answers(RATES, feature_set="19+keywords")
    return pl.concat([answers(RATES), words])


@pytest.fixture(scope="module")
def compared(predictions):
    return compare_all(predictions, SETTINGS)


def settings_with(**values: object) -> SignificanceSettings:
    return SETTINGS.model_copy(update=values)


def test_every_pair_is_compared_once_on_every_feature_set(compared):
    pairs = [
        (comparison.feature_set, frozenset((comparison.left, comparison.right)))
        for comparison in compared
    ]
    assert len(pairs) == len(set(pairs)) == 2 * 6


def test_contrasts_come_first_as_they_were_named_and_on_the_chosen_features_alone(compared):
    adjusted = [
        (comparison.feature_set, comparison.left, comparison.right)
        for comparison in compared
        if comparison.p_holm is not None
    ]
    assert adjusted == [("19", *pair) for pair in SETTINGS.contrasts]
    assert [comparison.family for comparison in compared] == ["contrast"] * 3 + ["exploratory"] * 9


def test_only_the_contrasts_are_adjusted_and_by_holms_method(compared):
    contrasts = compared[:3]
    expected = multipletests([contrast.p for contrast in contrasts], method="holm")[1]
    assert [contrast.p_holm for contrast in contrasts] == pytest.approx(list(expected))
    step_down = np.maximum.accumulate(np.sort([contrast.p for contrast in contrasts]) * [3, 2, 1])
    assert sorted(contrast.p_holm for contrast in contrasts) == pytest.approx(
        list(np.minimum(step_down, 1))
    )
    assert all(comparison.p_holm is None for comparison in compared[3:])


def test_the_posterior_is_that_of_baycomp_over_ten_runs(predictions, compared):
    scores = paired_scores(predictions.filter(pl.col("feature_set") == "19"))
    expected = baycomp.two_on_single(
        scores.fold_scores("c"), scores.fold_scores("a"), rope=0.05, runs=10
    )
    first = compared[0]
    assert (first.p_left, first.p_rope, first.p_right) == pytest.approx(expected)
    assert first.p_left > 0.5


def test_the_legacy_row_is_the_paired_t_test_over_the_folds_of_the_first_repeat(
    predictions, compared
):
    first = predictions.filter(pl.col("feature_set") == "19", pl.col("repeat") == 0)
    accuracies = (
        first.with_columns(right=pl.col("prediction") == pl.col("category"))
        .pivot("method", index="fold", values="right", aggregate_function="mean")
        .sort("fold")
    )
    expected = stats.ttest_rel(accuracies["c"], accuracies["a"])
    assert (compared[0].legacy_t, compared[0].legacy_p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )


def test_turning_a_contrast_round_changes_signs_and_no_p_value(predictions, compared):
    turned = compare_all(predictions, settings_with(contrasts=(("a", "c"),)))[0]
    straight = compared[0]
    assert turned.difference == pytest.approx(-straight.difference)
    assert turned.t == pytest.approx(-straight.t)
    assert turned.cohens_d == pytest.approx(-straight.cohens_d)
    assert (turned.p_left, turned.p_right) == pytest.approx((straight.p_right, straight.p_left))
    for name in ("p", "p_mcnemar", "legacy_p", "p_equivalence", "smallest_margin"):
        assert getattr(turned, name) == pytest.approx(getattr(straight, name))


def test_more_repeats_of_the_same_folds_do_not_make_a_difference_significant(answers):
    """The plain t test would find anything with enough repeats; the corrected one has a floor."""
    once = answers({"a": 0.62, "b": 0.55}, repeats=2)
    again = pl.concat(
        once.with_columns(repeat=pl.col("repeat") + 2 * copy).cast({"repeat": pl.Int32})
        for copy in range(20)
    )
    settings = settings_with(contrasts=(("a", "b"),))
    few, many = (compare_all(table, settings)[0] for table in (once, again))
    assert abs(many.t) < 1.5 * abs(few.t)


def test_identical_methods_differ_by_nothing_and_their_p_is_one(answers):
    predictions = answers({"a": 0.7})
    twice = pl.concat([predictions, predictions.with_columns(method=pl.lit("b"))])
    (comparison,) = compare_all(twice, settings_with(contrasts=(("a", "b"),)))
    assert (comparison.difference, comparison.t, comparison.cohens_d, comparison.legacy_t) == (
        0,
        0,
        0,
        0,
    )
    assert (comparison.p, comparison.p_holm, comparison.p_mcnemar, comparison.legacy_p) == (
        1,
        1,
        1,
        1,
    )
    assert (comparison.p_left, comparison.p_rope, comparison.p_right) == (0, 1, 0)
    assert (comparison.ci_low, comparison.ci_high, comparison.detectable_difference) == (
        None,
        None,
        None,
    )


def test_a_method_that_is_always_right_against_one_that_never_is(answers):
    comparison = compare_all(answers({"a": 1, "b": 0}), settings_with(contrasts=(("a", "b"),)))[0]
    assert (comparison.difference, comparison.t, comparison.cohens_d) == (1, np.inf, np.inf)
    assert (comparison.p, comparison.p_holm, comparison.legacy_p) == (0, 0, 0)
    assert (comparison.left_only, comparison.right_only) == (76, 0)
    assert comparison.p_mcnemar == pytest.approx(2 * 0.5**76)
    assert not comparison.equivalent


def test_abstaining_is_no_better_than_a_wrong_answer(answers):
    predictions = answers({"a": 0.9, "b": 0.4})
    wrong = predictions.with_columns(
        prediction=pl.when(pl.col("prediction") == "abstain")
        .then(pl.lit("a wrong answer"))
        .otherwise("prediction")
    )
    settings = settings_with(contrasts=(("a", "b"),))
    assert compare_all(predictions, settings) == compare_all(wrong, settings)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"contrasts": (("c", "ebm"),)}, "'ebm' was not predicted"),
        ({"contrasts": (("c", "a"), ("a", "c"))}, "named twice"),
        ({"contrasts": (("c", "c"),)}, "against itself"),
        ({"feature_set": "25"}, "'25' was not predicted.*19, 19\\+keywords"),
    ],
)
def test_settings_that_the_predictions_cannot_meet_are_refused(predictions, values, complaint):
    with pytest.raises(BadInputError, match=complaint):
        compare_all(predictions, settings_with(**values))


def test_the_metrics_are_finite_scalars(compared):
    metrics = comparison_metrics(compared, 0.05)
    text = json.dumps(metrics, allow_nan=False)
    assert "null" not in text
    assert list(metrics["contrasts"]) == ["c_less_a", "b_less_a", "d_less_c"]
    assert metrics["contrasts"]["c_less_a"]["difference"] == {
        "value": compared[0].difference,
        "ci_low": compared[0].ci_low,
        "ci_high": compared[0].ci_high,
        "n": 76,
    }
    assert metrics["exploratory_below_level"]["19"]["n"] == 3
    assert metrics["exploratory_below_level"]["19+keywords"]["value"] == sum(
        comparison.p <= 0.05 for comparison in compared if comparison.feature_set == "19+keywords"
    )
