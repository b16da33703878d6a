from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.base.vocabulary import ERROR_TEXT_SIGNAL
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.improved_rules import ImprovedRules
from failbench.methods.improved_tree import TREE
from failbench.methods.reduced_tree import reduced_tree, signal_of
from failbench.methods.rule_tree import Abstention, Confirmation

EVERYTHING = (*FEATURE_SETS["19"], ERROR_TEXT_SIGNAL)
MEMORY = ("peak_memory", "memory_at_failure", "memory_growth_rate", "memory_warning")
CATASTROPHE = {"perplexity": 401.0, "steps_before_failure": 200.0}


def leaves(*signals: str):
    return {leaf.name: leaf for leaf in reduced_tree(TREE, signals).leaves}


def test_with_every_signal_it_is_the_whole_tree():
    assert reduced_tree(TREE, EVERYTHING) == TREE


@pytest.mark.parametrize("signals", [MEMORY, ("perplexity",), (ERROR_TEXT_SIGNAL,), ("oov_rate",)])
def test_no_condition_looks_at_anything_else(signals):
    assert {signal_of(condition) for condition in reduced_tree(TREE, signals).conditions()} <= set(
        signals
    )


def test_what_only_hidden_signals_lead_to_is_taken_out():
    actual = leaves(*MEMORY)
    assert "memory_grows_to_capacity" in actual
    assert not {"out_of_memory_at_once", "explosion_that_the_loss_follows"} & set(actual)


def test_a_leaf_is_content_with_the_signals_it_keeps():
    whole = next(leaf for leaf in TREE.leaves if leaf.name == "perplexity_of_usual_training")
    actual = leaves("perplexity")["perplexity_of_usual_training"]
    assert isinstance(whole, Confirmation)
    assert isinstance(actual, Confirmation)
    assert actual.confirms == whole.confirms[:1]
    assert actual.against == ()


def test_a_leaf_that_keeps_no_signal_abstains_as_missing():
    actual = leaves("oov_rate")["everything_looks_usual"]
    assert isinstance(actual, Abstention)
    assert actual.reason == "missing"


def answers(context, run, signals, *shown) -> list[str]:
    """Answers of rules that learned from a catastrophe, with missing or with reduced signals."""
    frame = pd.concat([run(**CATASTROPHE)] * 4)
    method = ImprovedRules(context.band, signals=signals)
    method.fit(frame, np.array(["data_pipeline"] * 4, dtype=object))
    return method.predict(pd.concat(shown)).tolist()


def test_the_whole_tree_wants_confirmation_that_perplexity_alone_cannot_give(context, run):
    alone = run(**CATASTROPHE)
    others = [column for column in FEATURE_SETS["19"] if column != "perplexity"]
    blind = alone.assign(**dict.fromkeys(others, np.nan))
    assert answers(context, run, None, alone) == ["data_pipeline"]
    assert answers(context, run, None, blind) == ["abstain"]
    assert answers(context, run, ("perplexity",), blind) == ["data_pipeline"]
