"""What rules are learned, and what they ask first, on runs that a signal tells apart or not."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.learned_rules import LearnedRule, LearnedRulesSettings
from failbench.prediction.splits import make_splits
from failbench.studies.learned_rules.measure import (
    RULE_SCHEMA,
    TOP_SCHEMA,
    LearnedFits,
    learned_fits,
    rules_from_table,
    rules_to_table,
)
from failbench.studies.learned_rules.results import (
    SIGNAL_SCHEMA,
    learned_rules_metrics,
    signal_shares,
)
from failbench.vocabulary import CATEGORIES

SETTINGS = LearnedRulesSettings(
    max_depth=5, inner_folds=2, max_leaf_nodes=(8,), min_samples_leaf=(1,)
)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


def learn(failures: pl.DataFrame, splits: pl.DataFrame, workers: int = 1) -> LearnedFits:
    return learned_fits(failures, splits, SETTINGS, FEATURE_SETS["19"], 0, workers)


@pytest.fixture(scope="module")
def fits(failures, splits) -> LearnedFits:
    return learn(failures, splits)


def test_a_signal_that_alone_tells_the_label_is_at_every_root(failures, splits):
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    told_by_loss = failures.with_columns(max_loss=pl.col("category").replace_strict(codes))
    fits = learn(told_by_loss, splits)
    shares = signal_shares(fits.tops)
    assert shares.rows() == [("max_loss", "training_dynamics", "loss", 1.0, 1.0, 6)]
    rules = rules_from_table(fits.rules)
    assert {rule.category for rule in rules} == set(CATEGORIES)
    assert all(rule.share == 1 for rule in rules)


def test_each_fit_has_one_root_and_at_most_three_signals_on_top(fits):
    assert fits.tops.schema == TOP_SCHEMA
    assert fits.tops.height == 6
    signals = signal_shares(fits.tops)
    assert signals.schema == SIGNAL_SCHEMA
    assert signals["at_root"].sum() == pytest.approx(1)
    assert (signals["on_top"] >= signals["at_root"]).all()
    assert 1 <= signals["on_top"].sum() <= 3
    assert signals["at_root"].is_sorted(descending=True)


def test_a_fit_that_asks_nothing_counts_among_the_fits():
    tops = pl.DataFrame(
        [(0, 0, ["max_loss", "oov_rate"]), (0, 1, [])], schema=TOP_SCHEMA, orient="row"
    )
    shares = signal_shares(tops).select("signal", "at_root", "on_top", "fits")
    assert shares.rows() == [("max_loss", 0.5, 0.5, 2), ("oov_rate", 0.0, 0.5, 2)]
    assert learned_rules_metrics(7, signal_shares(tops)) == {
        "rules": {"value": 7},
        "signals": {
            "max_loss": {"at_root": {"value": 0.5, "n": 2}, "on_top": {"value": 0.5, "n": 2}},
            "oov_rate": {"at_root": {"value": 0.0, "n": 2}, "on_top": {"value": 0.5, "n": 2}},
        },
    }


def test_rules_survive_the_table_even_one_that_always_holds():
    rules = (
        LearnedRule((("max_loss", "above", 0.1), ("oov_rate", "below", 1 / 3)), "unknown", 0.7, 4),
        LearnedRule((), "optimization", 1.0, 9),
    )
    table = rules_to_table(rules)
    assert table.schema == RULE_SCHEMA
    assert rules_from_table(table) == rules
