"""Agreement and kappa against scikit-learn and statsmodels, and which scenarios are contested."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from failbench.scenarios import read_scenarios
from failbench.studies.label_audit.agreement import fleiss_kappa, kappa_interval, kappa_of_counts
from failbench.studies.label_audit.raters import read_ratings
from failbench.studies.label_audit.results import ALL, PAIRS, LabelAudit, audit_labels
from failbench.vocabulary import CATEGORIES


@pytest.fixture
def ratings(written, rows, scenarios) -> pl.DataFrame:
    return read_ratings(written(rows), scenarios)


@pytest.fixture
def audit(ratings, settings) -> LabelAudit:
    return audit_labels(ratings, settings)


@pytest.fixture(scope="module")
def committed(repository, settings) -> LabelAudit:
    scenarios = read_scenarios(repository / "data/scenarios")
    ratings = read_ratings(repository / "data/reported/label_raters.csv", scenarios)
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


def test_many_tables_of_counts_are_many_kappas():
    counts = np.random.default_rng(0).integers(0, 9, (3, 2, 4, 4)).astype(float)
    assert kappa_of_counts(counts).shape == (3, 2)
    assert kappa_of_counts(counts)[2, 1] == pytest.approx(kappa_of_counts(counts[2, 1]))


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


def test_more_scenarios_make_a_narrower_interval(ratings, settings):
    again = pl.concat(ratings.with_columns(pl.col("scenario") + f"_{copy}") for copy in range(6))

    def width(table: pl.DataFrame) -> float:
        kappa = kappa_interval(
            table, pl.col("category"), pl.col("rater_1"), CATEGORIES, settings, "a test"
        )
        return kappa.ci_high - kappa.ci_low

    assert 0 < width(again) < 0.6 * width(ratings)


def test_the_order_of_the_ratings_changes_nothing(ratings, audit, settings):
    shuffled = ratings.sample(fraction=1, shuffle=True, seed=1)
    assert audit_labels(shuffled, settings).estimates == audit.estimates


def test_fleiss_kappa_pools_the_answers_of_both():
    table = pl.DataFrame({"left": ["a", "a", "b", "b"], "right": ["a", "b", "b", "b"]})
    pooled = (3 / 8) ** 2 + (5 / 8) ** 2
    assert fleiss_kappa(table, "left", "right") == pytest.approx((0.75 - pooled) / (1 - pooled))


@pytest.mark.parametrize(
    ("subject", "alike", "kappa"),
    [("rater_1", 69, 0.88), ("rater_2", 72, 0.93), ("raters", 73, 0.95)],
)
def test_the_committed_ratings_agree_as_was_published(committed, subject, alike, kappa):
    overall = committed.of(subject, ALL)
    assert overall["agreement"].value == alike / 76
    assert overall["kappa"].value == pytest.approx(kappa, abs=0.005)
    pair = PAIRS[subject]
    counts = (
        committed.ratings.group_by(pair.left, pair.right)
        .len()
        .pivot(pair.right, index=pair.left, values="len")
        .fill_null(0)
    )
    square = counts.sort(pair.left).select(sorted(CATEGORIES)).to_numpy()
    assert overall["kappa"].value == pytest.approx(cohens_kappa(square).kappa)
