import baycomp
import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from failbench.base.errors import BadInputError
from failbench.statistics.pairs import paired_scores
from failbench.statistics.significance import SignificanceSettings, compare_all
from study_settings import DRAWS, TESTS

RATES = {"a": 0.55, "b": 0.5, "c": 0.8, "d": 0.75}
SETTINGS = SignificanceSettings(
    **DRAWS, **TESTS, feature_set="19", contrasts=(("c", "a"), ("b", "a"), ("d", "c"))
)


@pytest.fixture(scope="module")
def predictions(answers):
    return pl.concat([answers(RATES), answers(RATES, feature_set="19+keywords")])


@pytest.fixture(scope="module")
def compared(predictions):
    return compare_all(predictions, SETTINGS)


def settings_with(*contrasts: tuple[str, str], **values: object) -> SignificanceSettings:
    return SETTINGS.model_copy(update=({"contrasts": contrasts} if contrasts else {}) | values)


def test_contrasts_are_compared_in_their_order_and_adjusted_by_holms_method(compared):
    named = [(each.feature_set, each.left, each.right) for each in compared]
    assert named == [("19", *pair) for pair in SETTINGS.contrasts]
    p, p_holm = ([getattr(each, name) for each in compared] for name in ("p", "p_holm"))
    assert p_holm == pytest.approx(list(multipletests(p, method="holm")[1]))
    step_down = np.maximum.accumulate(np.sort(p) * [3, 2, 1])
    assert sorted(p_holm) == pytest.approx(list(np.minimum(step_down, 1)))


def test_posterior_and_legacy_test_are_those_of_baycomp_and_scipy(predictions, compared):
    of_set = predictions.filter(feature_set="19")
    scores = paired_scores(of_set)
    folds = scores.fold_scores("c"), scores.fold_scores("a")
    expected = baycomp.two_on_single(*folds, rope=0.05, runs=10)
    first = compared[0]
    assert (first.p_left, first.p_rope, first.p_right) == pytest.approx(expected)
    assert first.p_left > 0.5
    accuracies = (
        of_set.filter(repeat=0)
        .with_columns(right=pl.col("prediction") == pl.col("category"))
        .pivot("method", index="fold", values="right", aggregate_function="mean")
        .sort("fold")
    )
    legacy = stats.ttest_rel(accuracies["c"], accuracies["a"])
    assert (first.legacy_t, first.legacy_p) == pytest.approx((legacy.statistic, legacy.pvalue))


def test_turning_a_contrast_round_changes_signs_and_no_p_value(predictions, compared):
    turned, straight = compare_all(predictions, settings_with(("a", "c")))[0], compared[0]
    for name in ("difference", "t", "cohens_d"):
        assert getattr(turned, name) == pytest.approx(-getattr(straight, name))
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
    few, many = (compare_all(table, settings_with(("a", "b")))[0] for table in (once, again))
    assert abs(many.t) < 1.5 * abs(few.t)


def test_identical_methods_differ_by_nothing_and_opposite_ones_by_all(answers):
    predictions = answers({"a": 0.7})
    twice = pl.concat([predictions, predictions.with_columns(method=pl.lit("b"))])
    (same,) = compare_all(twice, settings_with(("a", "b")))
    expected = {
        **dict.fromkeys(("difference", "t", "cohens_d", "legacy_t", "p_left", "p_right"), 0),
        **dict.fromkeys(("p", "p_holm", "p_mcnemar", "legacy_p", "p_rope"), 1),
        **dict.fromkeys(("ci_low", "ci_high", "detectable_difference")),
    }
    assert {name: getattr(same, name) for name in expected} == expected
    apart = compare_all(answers({"a": 1, "b": 0}), settings_with(("a", "b")))[0]
    expected = {
        "difference": 1,
        "t": np.inf,
        "cohens_d": np.inf,
        **dict.fromkeys(("p", "p_holm", "legacy_p", "right_only"), 0),
        "left_only": 76,
        "equivalent": False,
    }
    assert {name: getattr(apart, name) for name in expected} == expected
    assert apart.p_mcnemar == pytest.approx(2 * 0.5**76)


def test_abstaining_is_no_better_than_a_wrong_answer(answers):
    predictions = answers({"a": 0.9, "b": 0.4})
    wrong = predictions.with_columns(pl.col("prediction").replace("abstain", "a wrong answer"))
    first, second = (compare_all(each, settings_with(("a", "b"))) for each in (predictions, wrong))
    assert first == second


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"contrasts": (("c", "ebm"),)}, "'ebm' was not predicted"),
        ({"contrasts": (("c", "a"), ("a", "c"))}, "named twice"),
        ({"feature_set": "25"}, "'25' was not predicted.*19, 19\\+keywords"),
    ],
)
def test_settings_that_the_predictions_cannot_meet_are_refused(predictions, values, complaint):
    with pytest.raises(BadInputError, match=complaint):
        compare_all(predictions, settings_with(**values))
