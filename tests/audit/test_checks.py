import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score
from statsmodels.stats.proportion import proportion_confint

from failbench.publish.audit.counts import numerators, passing_by_chance, smallest_denominator
from failbench.publish.audit.figures import read_printed
from made_up_audit import check

YES, NO, OPEN = "consistent", "inconsistent", "cannot be checked"
FOLDS = [16, 15, 15, 15, 15]
ROWS = [[3, 1, 0], [0, 2, 1], [1, 0, 2]]
PARTS = ["26.3%", "25.0%"]
MEANS = ["50.0%", "80.0%"]
SPREAD = {"means": MEANS, "deviations": ["6.0%", "6.0%"]}
COUNTS = {"recalls": ["1.00", "0.93"], "counts": [20, 15]}
TIED = {"a": "57.1%", "b": "61.8%", "c": "61.8%"}
APART = {"a": ["10%", "20%"], "b": ["20%", "30%"]}
F1 = {"precision": "0.73", "recall": "1.00", "support": 8}
FOUND = {"right": 8, "missed": 0, "false_alarms": 3, "n": 76}
MEAN_OF_FOLDS = f"{100 * (14 / 16 + 4 * 13 / 15) / 5:.2f}%"


@pytest.mark.parametrize(
    ("kind", "figures", "verdict", "computed"),
    [
        ("bound", {"value": "47.4%", "relation": "above", "parts": PARTS}, NO, ""),
        ("bound", {"value": "51.5%", "relation": "above", "parts": PARTS}, YES, ""),
        ("bound", {"value": "47.4%", "relation": "at_most", "parts": PARTS}, YES, ""),
        ("bound", {"value": 5, "relation": "at_least", "parts": [2, 3]}, YES, ""),
        ("same", {"values": [["95.65%"], ["95.7%"], ["96%"]]}, YES, ""),
        ("same", {"values": [["87.0%"], ["93.2%"]]}, NO, "87.0 % against 93.2 %"),
        (
            "same",
            {"values": [["87.0%", "100.0%"], ["93.2%", "98.0%"]]},
            NO,
            "87.0 % to 100.0 % against 93.2 % to 98.0 %",
        ),
        ("largest", {"name": "b", "values": {"a": 15, "b": 20}}, YES, ""),
        ("largest", {"name": "a", "values": {"a": 15, "b": 20}}, NO, ""),
        ("within", {"values": [50, 110], "range": [10, 100]}, NO, "110 beyond 10 to 100"),
        ("unverifiable", {"missing": "the raters"}, OPEN, "not given: the raters"),
        ("granularity", {"values": ["61.8%"], "n": 76}, YES, "47 of 76"),
        ("granularity", {"values": ["57.1%"], "n": 76}, NO, "76 are 56.6 % and 57.9 %; the"),
        ("granularity", {"values": ["26%"], "n": 200}, OPEN, ""),
        ("fold_accuracy", {"value": "86.84%", "folds": FOLDS}, YES, "66 of 76"),
        ("fold_accuracy", {"value": MEAN_OF_FOLDS, "folds": FOLDS}, YES, "mean over folds"),
        ("fold_accuracy", {"value": "95.65%", "folds": FOLDS}, NO, "smallest n that fits: 23"),
        # recalls are turned into scenarios before they are added
        ("recalls", {"value": "97.1%", **COUNTS}, YES, "34 of 35 = 97.1 %"),
        ("recalls", {"value": "95.7%", **COUNTS}, NO, ""),
        ("recalls", {"value": "97.1%", **COUNTS, "recalls": ["1.00", "0.90"]}, NO, "no share"),
        ("confusion_rows", {"rows": ROWS, "counts": [4, 3, 3]}, YES, ""),
        ("confusion_rows", {"rows": ROWS, "counts": [4, 4, 3]}, NO, ""),
        # 7 of 10 right; 3 of 10 in the last column; 5 of the 7 others right
        ("confusion_share", {"value": "70%", "rows": ROWS, "share": "right"}, YES, ""),
        ("confusion_share", {"value": "30%", "rows": ROWS, "share": "abstained"}, YES, ""),
        ("confusion_share", {"value": "50%", "rows": ROWS, "share": "right"}, NO, ""),
        ("f_score", {"value": "0.83", **F1}, NO, ""),
        ("f_score", {"value": "0.95", **F1, "recall": "0.90", "support": 15}, NO, "no counts"),
        # over scenarios d = 0.3 / 0.4528; over folds 0.30 / 0.06 = 5 pooled, paired 2.5 or more
        ("effect_size", {"value": "0.66", "means": MEANS}, YES, ""),
        ("effect_size", {"value": "3.00", "means": MEANS}, OPEN, "10.0 points"),
        ("effect_size", {"value": "5.00", **SPREAD}, YES, ""),
        ("effect_size", {"value": "1.85", **SPREAD}, NO, ""),
        ("ties", {"values": {"a": "57.1%", "b": "61.8%"}, "n": 76}, YES, ""),
        ("ties", {"values": TIED, "n": 76}, NO, "equal as printed: b and c"),
        ("binomial", {"value": "55.3%", "n": 76, "relation": "above", "rate": "20/100"}, YES, ""),
        ("binomial", {"value": "26.3%", "n": 76, "relation": "above", "rate": "20/76"}, NO, ""),
        ("binomial", {"value": "26.3%", "n": 76, "relation": "equal", "rate": "30/100"}, YES, ""),
        ("disjoint", {"intervals": APART | {"c": ["25%", "40%"]}}, NO, "overlapping: b and c"),
        ("score_interval", {"interval": ["0.75", "0.93"], **FOUND}, NO, ""),
    ],
)
def test_a_claim_has_the_verdict_of_a_hand(kind, figures, verdict, computed):
    finding = check(kind, **figures)
    assert finding.verdict == verdict
    assert computed in finding.computed


@pytest.mark.parametrize(
    ("text", "n", "expected"), [("57.1%", 76, []), ("57.1%", 21, [12]), ("61.8%", 76, [47])]
)
def test_numerators_are_those_whose_share_is_printed_so(text, n, expected):
    assert list(numerators(read_printed(text), n)) == expected
    for k in range(n + 1):
        assert k in numerators(read_printed(f"{100 * k / n:.1f}%"), n)


def test_passing_by_chance_counts_the_figures_that_n_can_have():
    # 0, 25, 50, 75 and 100 of the 101 whole percentages
    assert passing_by_chance(read_printed("25%"), 4) == pytest.approx(5 / 101)
    assert passing_by_chance(read_printed("57.1%"), 76) == pytest.approx(77 / 1001)
    assert passing_by_chance(read_printed("57%"), 100) == 1.0


def test_the_smallest_denominator_fits_all_figures_together():
    figures = tuple(map(read_printed, ("86.96%", "91.30%", "95.65%")))
    assert smallest_denominator(figures) == 23
    assert smallest_denominator((read_printed("57.1%"),)) == 7
    assert smallest_denominator((read_printed("33.3334%"),)) is None


def test_a_deviation_over_folds_must_be_that_of_some_outcome():
    outcome = np.array([15 / 16, 1, 14 / 15, 14 / 15, 1])
    printed = {"mean": f"{100 * outcome.mean():.2f}%", "deviation": f"{100 * outcome.std():.1f}%"}
    assert check("fold_deviation", **printed, folds=FOLDS).verdict == YES
    wrong = check("fold_deviation", mean="95.65%", deviation="1.2%", folds=FOLDS)
    assert wrong.verdict == NO
    assert wrong.low == pytest.approx(0.0318, abs=5e-4)


def test_f1_is_that_of_the_counts_behind_precision_and_recall():
    truth, guess = np.repeat([1, 0], [8, 68]), np.repeat([1, 0], [11, 65])
    finding = check("f_score", value="0.84", **F1)
    assert finding.verdict == YES
    assert finding.low == finding.high == pytest.approx(f1_score(truth, guess))


@pytest.mark.parametrize(("effect", "n", "fits"), [("0.62", 5, False), ("0.62", 76, True)])
def test_p_is_that_of_a_paired_t_test_with_this_effect(effect, n, fits):
    differences = np.random.default_rng(0).normal(size=n)
    differences += float(effect) * differences.std(ddof=1) - differences.mean()
    p = stats.ttest_1samp(differences, 0).pvalue
    assert (p < 0.05) == fits
    finding = check("paired_t", effect=effect, n=n)
    assert (finding.verdict == YES) == fits
    assert float(finding.computed.split("p = ")[1]) == pytest.approx(p, abs=2e-3)


def printed(low, high):
    return [f"{100 * low:.1f}%", f"{100 * high:.1f}%"]


@pytest.mark.parametrize("method", ["normal", "wilson", "beta"])
@pytest.mark.parametrize("right", [38, 47, 60])
def test_usual_intervals_of_n_are_consistent_and_narrower_ones_are_not(method, right):
    low, high = proportion_confint(right, 76, method=method)
    value = f"{100 * right / 76:.1f}%"
    assert check("rate_interval", value=value, interval=printed(low, high), n=76).verdict == YES
    narrow = printed(low + 0.04, high - 0.04)
    assert check("rate_interval", value=value, interval=narrow, n=76).verdict == NO


def test_percentiles_of_the_bootstrap_are_those_of_resampled_answers():
    answers = np.repeat([1.0, 0.0], [22, 1])
    means = np.random.default_rng(0).choice(answers, (4000, 23)).mean(axis=1)
    assert printed(*np.quantile(means, (0.025, 0.975))) == ["87.0%", "100.0%"]
    interval = {"value": "95.7%", "interval": ["87.0%", "100.0%"]}
    assert check("rate_interval", **interval, n=23).verdict == YES
    of_76 = check("rate_interval", **interval, n=76)
    assert (of_76.verdict, of_76.implied_n) == (NO, 21)
    assert (of_76.low, of_76.high) == pytest.approx(proportion_confint(73, 76, method="wilson"))


@pytest.mark.parametrize(
    ("multiple", "verdict"),
    [
        (stats.t.isf(0.025, 4) / np.sqrt(5), YES),
        (stats.norm.isf(0.025) / np.sqrt(5), YES),
        (1.0, NO),
    ],
)
def test_an_interval_of_a_mean_over_folds_reaches_t_or_z_deviations_over_root_k(multiple, verdict):
    interval = printed(0.8 - 0.05 * multiple, 0.8 + 0.05 * multiple)
    given = {"value": "80.0%", "interval": interval, "deviation": "5.0%", "folds": 5}
    finding = check("deviation_interval", **given)
    assert finding.verdict == verdict
    assert finding.computed.startswith(f"reaches {multiple:.2f} sd")


@pytest.mark.parametrize(("half", "verdict"), [(0.12, NO), (0.14, YES), (0.30, YES), (0.35, NO)])
def test_the_width_of_a_difference_is_bounded_by_those_of_its_parts(half, verdict):
    # reaches of 0.22 and 0.09: from 0.13 to 0.31
    finding = check(
        "gap_interval",
        interval=[f"{100 * end:.1f} points" for end in (0.386 - half, 0.386 + half)],
        first=["57.0%", "35.0%", "79.0%"],
        second=["96.0%", "87.0%", "100.0%"],
    )
    assert finding.verdict == verdict
