import baycomp
import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from failbench.statistics.paired_tests import (
    ResampledMean,
    Stability,
    cohens_d,
    detectable_effect,
    discordant,
    equivalence,
    fewest_signs,
    paired_t,
    resampled_mean,
    sign_test,
    stability,
)


def test_mean_standard_error_and_p_are_those_of_baycomp():
    differences = np.random.default_rng(0).normal(0.04, 0.1, 50)
    result = resampled_mean(differences, tested=15.2, trained=60.8)
    nothing = np.zeros(50)
    mean, variance, df = baycomp.CorrelatedTTest.compute_statistics(nothing, differences, runs=10)
    found = (result.mean, result.standard_error, result.df)
    assert found == pytest.approx((mean, np.sqrt(variance), df))
    # p is twice the tail of the posterior
    beyond = min(baycomp.two_on_single(nothing, differences, runs=10))
    assert result.p_value == pytest.approx(2 * beyond)


def test_no_difference_has_a_p_of_one_and_differences_alike_but_for_rounding_a_p_of_nought():
    result = resampled_mean(np.zeros(50), 15.2, 60.8)
    assert (result.statistic, result.p_value, result.interval(0.95)) == (0, 1, (0, 0))
    scores = np.array([0.3 - 0.2, 0.1, 0.2 - 0.1])
    assert len(set(scores)) > 1
    result = resampled_mean(-scores, 15.2, 60.8)
    assert (result.statistic, result.p_value) == (-np.inf, 0)
    assert result.interval(0.95) == (-0.1, -0.1)


def test_without_the_correction_it_is_the_paired_tost_of_statsmodels():
    left, right = np.random.default_rng(0).normal(0.6, 0.1, (2, 50))
    expected, *_ = ttost_paired(left, right, -0.03, 0.03)
    plain = resampled_mean(left - right, tested=0, trained=60)
    assert equivalence(plain, 0.03, 0.05).p == pytest.approx(expected)


@pytest.mark.parametrize("mean", [-0.03, 0.0, 0.03])
def test_equivalence_is_shown_when_the_ninety_percent_interval_lies_within_the_margin(mean):
    difference = ResampledMean(mean, 0.02, 49)
    widest = max(map(abs, difference.interval(0.90)))
    assert equivalence(difference, widest + 1e-9, 0.05).shown
    assert not equivalence(difference, widest - 1e-9, 0.05).shown


def test_at_the_smallest_margin_p_is_the_level_and_identical_methods_have_none():
    difference = ResampledMean(0.04, 0.05, 49)
    smallest = equivalence(difference, 0.10, 0.05).smallest_margin
    assert equivalence(difference, smallest, 0.05).p == pytest.approx(0.05)
    same, apart = (equivalence(ResampledMean(mean, 0.0, 49), 0.10, 0.05) for mean in (0.0, 1.0))
    assert (same.p, same.shown, same.smallest_margin) == (0, True, 0)
    assert (apart.p, apart.shown) == (1, False)


def test_the_detectable_effect_is_found_with_the_power_asked_for():
    effect = detectable_effect(49, 0.05, 0.80)
    critical = stats.t.isf(0.025, 49)
    power = stats.nct.sf(critical, 49, effect) + stats.nct.cdf(-critical, 49, effect)
    assert power == pytest.approx(0.80)
    assert detectable_effect(49, 0.05, 0.90) > effect
    assert detectable_effect(49, 0.01, 0.80) > effect


@pytest.mark.parametrize(("left_only", "right_only"), [(12, 4), (4, 12), (1, 0), (7, 7), (0, 0)])
def test_mcnemar_is_the_exact_binomial_test_of_the_discordant_scenarios(left_only, right_only):
    counts = [40, left_only, right_only, 10]
    answers = {"left": [True, True, False, False], "right": [True, False, True, False]}
    first_repeat = pl.DataFrame({name: np.repeat(each, counts) for name, each in answers.items()})
    discord = left_only + right_only
    expected = stats.binomtest(left_only, discord).pvalue if discord else 1
    result = discordant(first_repeat, ("left", "right"))
    assert result == (left_only, right_only, pytest.approx(expected))


def test_the_legacy_test_is_the_paired_t_test_of_scipy():
    left, right = np.random.default_rng(0).random((2, 5))
    expected = stats.ttest_rel(left, right)
    assert paired_t(left, right) == pytest.approx((expected.statistic, expected.pvalue))
    assert paired_t(np.full(5, 0.3), np.full(5, 0.6)) == (-np.inf, 0)


def test_cohens_d_is_the_t_of_scenario_differences_over_the_root_of_n():
    differences = np.random.default_rng(0).normal(0.2, 1, 76)
    expected = stats.ttest_1samp(differences, 0).statistic / np.sqrt(76)
    assert cohens_d(differences) == pytest.approx(expected)
    alike = [cohens_d(np.full(76, each)) for each in (0.0, 1.0, -1.0)]
    assert alike == [0.0, np.inf, -np.inf]


@pytest.mark.parametrize(("better", "worse", "same"), [(3, 1, 4), (8, 0, 0), (0, 6, 2)])
def test_the_sign_test_is_the_binomial_one_over_what_changed(better, worse, same):
    differences = np.repeat([0.2, -0.4, 0.0], [better, worse, same])
    expected = stats.binomtest(better, better + worse).pvalue
    assert sign_test(differences) == (better, worse, pytest.approx(expected))


def test_where_nothing_changed_or_all_are_too_few_the_sign_test_says_so():
    assert sign_test(np.zeros(8)) == (0, 0, 1.0)
    # two-sided, 2 * 0.5**5 is 0.0625 and 2 * 0.5**6 is 0.03125
    assert (fewest_signs(8, 0.05), fewest_signs(4, 0.05)) == (6, None)


MARGIN = 0.1


def answers(scores: dict[str, np.ndarray], runs: int = 20) -> pl.DataFrame:
    """Answers whose share of right ones a scenario is as given, in twentieths."""
    rows = [
        {
            "architecture": name,
            "scenario": f"s{number}",
            "category": "optimization",
            "prediction": "optimization" if run < round(score * runs) else "abstain",
        }
        for name, values in scores.items()
        for number, score in enumerate(values)
        for run in range(runs)
    ]
    return pl.DataFrame(rows)


def compared(scores: dict[str, np.ndarray], margin: float = MARGIN) -> Stability:
    return stability(answers(scores), "architecture", margin, confidence=0.95, power=0.8)


@pytest.fixture(scope="module")
def scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    common = rng.integers(2, 18, 40)
    return {name: (common + rng.integers(-2, 3, 40)) / 20 for name in ("bert", "gru", "lstm")}


def test_difference_from_the_others_is_the_paired_t_of_scipy(scores):
    comparison = compared(scores).against_others["gru"]
    others = (scores["bert"] + scores["lstm"]) / 2
    expected = stats.ttest_rel(scores["gru"], others)
    bounds = expected.confidence_interval(0.95)
    assert comparison["value"] == pytest.approx((scores["gru"] - others).mean())
    assert comparison["p"] == pytest.approx(expected.pvalue)
    assert (comparison["ci_low"], comparison["ci_high"]) == pytest.approx((bounds.low, bounds.high))
    assert comparison["n"] == 40


def test_equivalence_is_that_of_statsmodels_and_of_the_least_alike_pair(scores):
    expected = [
        ttost_paired(scores[first], scores[second], -MARGIN, MARGIN)[0]
        for first, second in (("bert", "gru"), ("bert", "lstm"), ("gru", "lstm"))
    ]
    stability = compared(scores)
    assert stability.p_equivalence == pytest.approx(max(expected))
    assert stability.shown
    means = [values.mean() for values in scores.values()]
    assert stability.spread == pytest.approx(max(means) - min(means))


def test_smallest_margin_is_where_the_verdict_turns_and_no_difference_found_is_no_stability(scores):
    smallest = compared(scores).smallest_margin
    assert not compared(scores, smallest - 1e-6).shown
    assert compared(scores, smallest + 1e-6).shown
    rng = np.random.default_rng(3)
    wild = compared({name: rng.integers(0, 2, 10).astype(float) for name in ("bert", "gru")})
    assert wild.against_others["bert"]["p"] > 0.05
    assert not wild.shown


def test_scenarios_that_lack_a_condition_are_left_out(scores):
    stability = compared(scores | {"gru": scores["gru"][:-1]})
    shorter = compared({name: values[:-1] for name, values in scores.items()})
    assert (stability.n, stability.spread) == (39, shorter.spread)
