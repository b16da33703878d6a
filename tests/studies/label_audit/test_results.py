"""Agreement and kappa against scikit-learn and statsmodels, and which scenarios are contested."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from failbench.studies.label_audit.agreement import fleiss_kappa, kappa_of_counts
from failbench.studies.label_audit.raters import read_ratings
from failbench.studies.label_audit.results import ALL, PAIRS, LabelAudit, audit_labels
from failbench.vocabulary import CATEGORIES


@pytest.fixture
def ratings(written, rows, scenarios) -> pl.DataFrame:
    return read_ratings(written(rows), scenarios)


@pytest.fixture
def audit(ratings, settings) -> LabelAudit:
    return audit_labels(ratings, settings)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_kappa_of_counts_is_that_of_scikit_learn(pairs):
    counts = np.zeros((5, 5))
    for left, right in pairs:
        counts[left, right] += 1
    left, right = zip(*pairs, strict=True)
    actual = float(kappa_of_counts(counts))
    if len({*left, *right}) == 1:
        assert actual == 1.0  # where scikit-learn has no number
    else:
        assert actual == pytest.approx(cohen_kappa_score(left, right))


@pytest.mark.parametrize("subject", PAIRS)
def test_estimates_are_those_of_a_count_and_of_scikit_learn(ratings, audit, subject):
    pair = PAIRS[subject]
    left, right = ratings[pair.left], ratings[pair.right]
    overall = audit.of(subject, ALL)
    assert overall["agreement"].value == (left == right).mean()
    assert overall["kappa"].value == pytest.approx(cohen_kappa_score(left, right))
    assert overall["kappa"].n == overall["agreement"].n == 20
    for category in CATEGORIES:
        of_label = ratings.filter(category=category)
        by_label = audit.of(subject, category)
        assert by_label["agreement"].value == (of_label[pair.left] == of_label[pair.right]).mean()
        assert by_label["agreement"].n == 4
        assert by_label["kappa"].value == pytest.approx(
            cohen_kappa_score(left == category, right == category)
        )


def test_shares_that_raters_contest_are_counted(audit):
    rater_1, rater_2, both = (audit.of(subject, ALL) for subject in PAIRS)
    assert [each["contested"].value for each in (rater_1, rater_2, both)] == [0.1, 0.1, 0.2]
    assert [each["evenly_divided"].value for each in (rater_1, rater_2, both)] == [0.05, 0.05, 0.1]
    # rater 1 gave no second choice for unknown_0
    assert rater_1["label_among_two"].value == 0.95
    assert rater_2["label_among_two"].value == 1.0


def test_contested_are_those_that_differ_or_divide_evenly(audit):
    assert set(audit.contested["scenario"]) == {"unknown_0", "data_pipeline_2", "optimization_3"}


def test_where_two_never_differ_no_interval_is_made_up(audit):
    agreed = audit.of("raters", "optimization")["kappa"]
    assert (agreed.method, agreed.ci_low, agreed.ci_high) == ("point", 1.0, 1.0)
    differing = audit.of("rater_1", "data_pipeline")["kappa"]
    assert differing.ci_low < differing.value < 1.0


def test_fleiss_kappa_pools_the_answers_of_both():
    table = pl.DataFrame({"left": ["a", "a", "b", "b"], "right": ["a", "b", "b", "b"]})
    pooled = (3 / 8) ** 2 + (5 / 8) ** 2
    assert fleiss_kappa(table, "left", "right") == pytest.approx((0.75 - pooled) / (1 - pooled))
