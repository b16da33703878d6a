from __future__ import annotations

import polars as pl
import pytest

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.prediction.splits import make_splits
from failbench.studies.learned_rules.results import SIGNAL_SCHEMA, LearnedSignals, learned_signals
from failbench.vocabulary import CATEGORIES

SETTINGS = LearnedRulesSettings(
    max_depth=5, inner_folds=2, max_leaf_nodes=(8,), min_samples_leaf=(1,)
)


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


def learn(failures: pl.DataFrame, splits: pl.DataFrame, workers: int = 1) -> LearnedSignals:
    return learned_signals(failures, splits, SETTINGS, FEATURE_SETS["19"], 0, workers)


def test_a_signal_that_alone_tells_the_label_is_at_every_root(failures, splits):
    codes = {category: float(code) for code, category in enumerate(CATEGORIES)}
    told = failures.with_columns(max_loss=pl.col("category").replace_strict(codes))
    found = learn(told, splits)
    assert found.signals.rows() == [("max_loss", "training_dynamics", "loss", 1.0, 1.0, 6)]
    assert {rule.category for rule in found.rules} == set(CATEGORIES)
    assert all(rule.share == 1 for rule in found.rules)


def test_each_fit_has_one_root_and_at_most_three_signals_on_top(failures, splits):
    signals = learn(failures, splits).signals
    assert signals.schema == SIGNAL_SCHEMA
    assert signals["at_root"].sum() == pytest.approx(1)
    assert (signals["on_top"] >= signals["at_root"]).all()
    assert 1 <= signals["on_top"].sum() <= 3
    assert signals["at_root"].is_sorted(descending=True)


def test_the_workers_do_not_change_what_is_learned(failures, splits):
    alone, together = learn(failures, splits), learn(failures, splits, workers=2)
    assert alone.rules == together.rules
    assert alone.signals.equals(together.signals)
