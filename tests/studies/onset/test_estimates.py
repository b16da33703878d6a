"""Association, rules of thumb, and verdicts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats.contingency import association as scipy_association

from failbench.studies.onset.association import cramers_v, permutation_test
from failbench.studies.onset.claims import Measured, verdict
from failbench.studies.onset.estimates import Rule, association, indicators
from failbench.studies.onset.settings import OnsetSettings
from failbench.vocabulary import CATEGORIES

SETTINGS = OnsetSettings(
    persistence=5,
    near_steps=10,
    other_near_steps=(),
    healthy_sds=3,
    growth=10,
    growth_history=20,
    permutations=200,
    equivalence_margin=0.1,
    confidence=0.95,
    resamples=1000,
    seed=0,
    wilson_from=0.9,
    wilson_below=2,
)


def rows_of(kind_of, scenarios=6, seeds=2):
    """Runs of every category, whose kind of onset is a function of category and scenario."""
    return pl.DataFrame(
        [
            {
                "category": category,
                "scenario": f"{category}{number}",
                "seed": seed,
                "onset": kind_of(category, number),
            }
            for category in CATEGORIES
            for number in range(scenarios)
            for seed in range(seeds)
        ]
    )


def test_v_is_that_of_scipy():
    table = np.array([[12.0, 3.0, 5.0], [4.0, 9.0, 2.0], [7.0, 7.0, 8.0]])
    assert cramers_v(table) == pytest.approx(scipy_association(table.astype(int)))


def test_v_is_one_where_the_kind_tells_the_category_and_zero_where_it_does_not():
    assert cramers_v(np.diag([3.0, 5.0, 2.0])) == pytest.approx(1.0)
    assert cramers_v(np.outer([1.0, 2.0], [3.0, 4.0])) == pytest.approx(0.0)


def test_permutations_reject_what_depends_and_not_what_does_not():
    shares = np.eye(2)[[0] * 20 + [1] * 20]
    groups = np.array(["a"] * 20 + ["b"] * 20, dtype=object)
    rng = np.random.default_rng(0)
    assert permutation_test(shares, groups, 199, rng).p == 1 / 200
    mixed = np.array(["a", "b"] * 20, dtype=object)
    assert permutation_test(shares, mixed, 199, rng).p > 0.5


def test_more_seeds_of_the_same_scenarios_are_no_more_evidence():
    def kind(category, number):
        return "gradual" if (number + CATEGORIES.index(category)) % 2 else "none"

    few, many = (association(rows_of(kind, seeds=seeds), SETTINGS) for seeds in (1, 6))
    assert few.independence == many.independence
    assert few.v.value == many.v.value


def test_precision_recall_and_base_count_scenarios_by_the_share_of_their_runs():
    rows = rows_of(lambda category, number: "gradual" if number < 3 else "none", seeds=1)
    of_memory = pl.col("category") == "memory_hardware"
    rule = Rule(
        (pl.col("onset") == "gradual") & (of_memory | (pl.col("scenario") == "unknown0")), of_memory
    )
    found = indicators(rows, {"rule": rule}, SETTINGS)["rule"]
    assert found.precision.value == pytest.approx(3 / 4)
    assert found.recall.value == pytest.approx(3 / 6)
    assert found.base == pytest.approx(1 / 5)
    assert (found.scenarios, found.runs) == (4.0, 4)


def test_a_sign_that_nothing_shows_has_no_precision():
    rows = rows_of(lambda *_: "none")
    rule = Rule(pl.col("onset") == "gradual", pl.col("category") == "unknown")
    assert indicators(rows, {"rule": rule}, SETTINGS)["rule"].precision is None


def measured(value, low, high, base=None, p=None):
    return Measured(value, low, high, base, p, 76.0, 228)


@pytest.mark.parametrize(
    ("test", "found", "said"),
    [
        ("chance", measured(0.3, 0.2, 0.4, p=0.01), "holds"),
        ("chance", measured(0.3, 0.2, 0.4, p=0.2), "undecided"),
        ("base", measured(0.7, 0.5, 0.8, base=0.46), "holds"),
        ("base", measured(0.5, 0.4, 0.55, base=0.46), "does not hold"),
        ("base", measured(0.5, 0.4, 0.65, base=0.46), "undecided"),
        ("half", measured(0.7, 0.51, 0.8, base=0.5), "holds"),
        ("half", measured(0.3, 0.2, 0.49, base=0.5), "does not hold"),
        ("half", measured(0.6, 0.4, 0.8, base=0.5), "undecided"),
        ("margin", measured(0.2, 0.11, 0.3, base=0.1), "holds"),
        ("margin", measured(0.05, 0.01, 0.09, base=0.1), "does not hold"),
        ("gain", measured(0.05, 0.01, 0.09, base=0.0), "holds"),
        ("gain", measured(0.0, -0.1, 0.09, base=0.0), "does not hold"),
        ("gain", measured(0.0, -0.1, 0.2, base=0.0), "undecided"),
        ("absent", measured(0.0, 0.0, 0.1), "holds"),
        ("absent", measured(0.01, 0.0, 0.1), "does not hold"),
    ],
)
def test_verdicts_follow_from_the_interval_alone(test, found, said):
    assert verdict(test, found, 0.1, 0.05) == said
