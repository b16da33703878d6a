from __future__ import annotations

import numpy as np
import pytest

from failbench.publish.audit.counts import (
    fold_accuracies,
    numerators,
    passing_by_chance,
    smallest_denominator,
)
from failbench.publish.audit.figures import read_printed
from made_up_audit import check

FOLDS = [16, 15, 15, 15, 15]
CONFUSION = [[3, 1, 0], [0, 2, 1], [1, 0, 2]]


@pytest.mark.parametrize(
    ("text", "n", "expected"), [("57.1%", 76, []), ("57.1%", 21, [12]), ("61.8%", 76, [47])]
)
def test_numerators_are_those_whose_share_is_printed_so(text, n, expected):
    assert list(numerators(read_printed(text), n)) == expected


@pytest.mark.parametrize("n", [7, 23, 76, 150])
def test_every_share_of_n_is_possible_of_n(n):
    for k in range(n + 1):
        assert k in numerators(read_printed(f"{100 * k / n:.1f}%"), n)


def test_the_smallest_denominator_fits_all_figures_together():
    figures = tuple(map(read_printed, ("86.96%", "91.30%", "95.65%")))
    assert smallest_denominator(figures) == 23
    assert smallest_denominator((read_printed("57.1%"),)) == 7
    assert smallest_denominator((read_printed("33.3334%"),)) is None


def test_passing_by_chance_counts_the_figures_that_n_can_have():
    # 0, 25, 50, 75 and 100 of the 101 whole percentages
    assert passing_by_chance(read_printed("25%"), 4) == pytest.approx(5 / 101)
    assert passing_by_chance(read_printed("57.1%"), 76) == pytest.approx(77 / 1001)
    assert passing_by_chance(read_printed("57%"), 100) == 1.0


def test_granularity_has_both_verdicts_and_none_where_any_figure_passes():
    assert check("granularity", values=["61.8%"], n=76).verdict == "consistent"
    wrong = check("granularity", values=["57.1%"], n=76)
    assert (wrong.verdict, wrong.implied_n) == ("inconsistent", 7)
    assert "56.6 %" in wrong.computed
    assert "57.9 %" in wrong.computed
    assert check("granularity", values=["26%"], n=200).verdict == "cannot be checked"


def test_outcomes_of_folds_are_all_of_them_up_to_order():
    outcomes = fold_accuracies((2, 1, 2))
    # two for the fold of one, and six pairs in order of three rates
    assert outcomes.shape == (12, 3)
    assert len({tuple(row) for row in outcomes}) == 12
    assert set(outcomes.mean(axis=1).round(9)) == {
        round((a + (b + c) / 2) / 3, 9) for a in (0, 1) for b in (0, 1, 2) for c in (0, 1, 2)
    }


def test_an_accuracy_may_be_of_all_scenarios_or_a_mean_over_folds():
    pooled = check("fold_accuracy", value="86.84%", folds=FOLDS)
    assert (pooled.verdict, pooled.computed) == ("consistent", "66 of 76")
    mean = 100 * (14 / 16 + 4 * 13 / 15) / 5
    of_folds = check("fold_accuracy", value=f"{mean:.2f}%", folds=FOLDS)
    assert of_folds.verdict == "consistent"
    assert "mean over folds" in of_folds.computed
    wrong = check("fold_accuracy", value="95.65%", folds=FOLDS)
    assert (wrong.verdict, wrong.implied_n) == ("inconsistent", 23)


def test_a_deviation_over_folds_must_be_that_of_some_outcome():
    outcome = np.array([15 / 16, 1, 14 / 15, 14 / 15, 1])
    printed = {"mean": f"{100 * outcome.mean():.2f}%", "deviation": f"{100 * outcome.std():.1f}%"}
    assert check("fold_deviation", **printed, folds=FOLDS).verdict == "consistent"
    wrong = check("fold_deviation", mean="95.65%", deviation="1.2%", folds=FOLDS)
    assert wrong.verdict == "inconsistent"
    assert wrong.low == pytest.approx(0.0318, abs=5e-4)


def test_recalls_are_turned_into_scenarios_before_they_are_added():
    figures = {"recalls": ["1.00", "0.93"], "counts": [20, 15]}
    right = check("recalls", value="97.1%", **figures)
    assert (right.verdict, right.computed) == ("consistent", "34 of 35 = 97.1 %")
    assert check("recalls", value="95.7%", **figures).verdict == "inconsistent"
    impossible = check("recalls", value="97.1%", recalls=["1.00", "0.90"], counts=[20, 15])
    assert impossible.verdict == "inconsistent"


def test_rows_of_a_confusion_matrix_must_add_up():
    assert check("confusion_rows", rows=CONFUSION, counts=[4, 3, 3]).verdict == "consistent"
    assert check("confusion_rows", rows=CONFUSION, counts=[4, 4, 3]).verdict == "inconsistent"


@pytest.mark.parametrize(
    ("share", "rate"), [("right", "70%"), ("abstained", "30%"), ("right_of_committed", "71%")]
)
def test_rates_of_a_confusion_matrix(share, rate):
    # 7 of 10 right; 3 of 10 in the last column; 5 of the 7 others right
    assert check("confusion_share", value=rate, rows=CONFUSION, share=share).verdict == "consistent"
    wrong = check("confusion_share", value="50%", rows=CONFUSION, share=share)
    assert wrong.verdict == "inconsistent"
