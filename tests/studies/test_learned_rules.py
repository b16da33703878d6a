"""What rules are learned, and what they ask first, on runs that a signal tells apart or not."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.method_settings import LearnedRulesSettings
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.learned_rules import LearnedRule
from failbench.prediction.splits import make_splits
from learned_rules import conditions, signal_shares
from measure_learned_rules import learned_fits, rules_to_table
from shared.learned_rules import RULE_SCHEMA, TOP_SCHEMA

SETTINGS = LearnedRulesSettings(
    max_depth=5, inner_folds=2, max_leaf_nodes=(8,), min_samples_leaf=(1,)
)


def learn(failures: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    splits = make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)
    return learned_fits(failures, splits, SETTINGS, FEATURE_SETS["19"], 0)


def test_a_signal_that_alone_tells_the_label_is_at_every_root(failures):
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    rules, tops = learn(failures.with_columns(max_loss=pl.col("category").replace_strict(codes)))
    shares = signal_shares(tops)
    assert shares.rows() == [("max_loss", "training_dynamics", "loss", 1.0, 1.0, 6)]
    assert set(rules["category"]) == set(CATEGORIES)
    assert (rules["share"] == 1).all()


def test_each_fit_has_one_root_and_at_most_three_signals_on_top(failures):
    _, tops = learn(failures)
    assert tops.schema == TOP_SCHEMA
    assert tops.height == 6
    signals = signal_shares(tops)
    assert signals["at_root"].sum() == pytest.approx(1, abs=1e-5)
    assert (signals["on_top"] >= signals["at_root"]).all()
    assert 1 <= signals["on_top"].sum() <= 3


def test_a_fit_that_asks_nothing_counts_among_the_fits():
    tops = pl.DataFrame(
        [(0, 0, ["max_loss", "oov_rate"]), (0, 1, [])], schema=TOP_SCHEMA, orient="row"
    )
    shares = signal_shares(tops).select("signal", "at_root", "on_top", "fits")
    assert shares.rows() == [("max_loss", 0.5, 0.5, 2), ("oov_rate", 0.0, 0.5, 2)]


def test_rules_survive_the_table_even_one_that_always_holds():
    rules = (
        LearnedRule((("max_loss", "above", 0.1), ("oov_rate", "below", 1 / 3)), "unknown", 0.7, 4),
        LearnedRule((), "optimization", 1.0, 9),
    )
    table = rules_to_table(rules)
    assert table.schema == RULE_SCHEMA
    written = [conditions(rule) for rule in table.to_dicts()]
    assert written == ["max_loss > 0.1 and oov_rate <= 0.3333", ""]
