"""The tree of the improved rules as data: its size, its sources, and a run for each leaf."""

import pandas as pd
import pytest

from failbench.base.vocabulary import ERROR_TEXT_SIGNAL
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.improved_tree import POINTS_TO, TREE, reduced_tree, route, signal_of
from failbench.methods.rules import EvaluatedConditions, resolve

LEAVES = {leaf.name: position for position, leaf in enumerate(TREE.leaves)}

OOM = ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes")
INDEX = ("IndexError", "index out of range in self")
STATE = ("RuntimeError", "Missing key(s) in state_dict: 'weight'.")
SHAPE = ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")
DECODE = ("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff in position 0")
KILLED = ("RuntimeError", "DataLoader worker (pid 7) is killed by signal: Killed.")
OTHER = ("ZeroDivisionError", "division by zero")
NONE = ("", "")

USUAL, AT_ONCE = {"steps_before_failure": 200.0}, {"steps_before_failure": 1.0}
FULL, GROWS = USUAL | {"memory_warning": 1.0}, USUAL | {"memory_growth_rate": 2.0}
RAGGED, UNKNOWN = USUAL | {"sequence_length_spread": 2.0}, USUAL | {"oov_rate": 2.0}
UNCOVERED, LOSS = USUAL | {"vocabulary_coverage": 0.5}, USUAL | {"max_loss": 2.0}
EXPLODES, STAGNATES = USUAL | {"max_gradient_norm": 1001.0}, USUAL | {"loss_trend": 2.0}
CATASTROPHE = USUAL | {"perplexity": 401.0}

RUNS = {
    "out_of_memory_at_once": (OOM, AT_ONCE),
    "out_of_memory_after_growth": (OOM, GROWS),
    "out_of_memory_near_capacity": (OOM, FULL),
    "out_of_memory_while_it_was_free": (OOM, USUAL),
    "index_outside_the_vocabulary": (INDEX, UNCOVERED),
    "index_at_the_first_batch": (INDEX, AT_ONCE),
    "index_past_the_positions": (INDEX, RAGGED),
    "index_in_usual_training": (INDEX, USUAL),
    "program_fails_at_once": (STATE, AT_ONCE),
    "program_fails_in_usual_training": (STATE, USUAL),
    "shapes_differ_at_once": (SHAPE, AT_ONCE),
    "shapes_follow_the_lengths": (SHAPE, RAGGED),
    "shapes_differ_in_usual_training": (SHAPE, USUAL),
    "reading_fails_at_once": (DECODE, AT_ONCE),
    "reading_fails_in_usual_training": (DECODE, USUAL),
    "killed_near_capacity": (KILLED, FULL),
    "killed_with_memory_free": (KILLED, USUAL),
    "other_error_at_once": (OTHER, AT_ONCE),
    "other_error_later": (OTHER, USUAL),
    "explosion_that_the_loss_follows": (NONE, EXPLODES | LOSS),
    "explosion_that_the_loss_survives": (NONE, EXPLODES),
    "loss_explodes_on_unknown_tokens": (NONE, LOSS | UNKNOWN),
    "loss_explodes_with_the_gradient": (NONE, LOSS | {"max_gradient_norm": 2.0}),
    "loss_explodes_alone": (NONE, LOSS),
    "memory_grows_to_capacity": (NONE, FULL | GROWS),
    "memory_is_high_and_steady": (NONE, FULL),
    "perplexity_of_uncovered_text": (NONE, CATASTROPHE | UNCOVERED),
    "perplexity_of_a_loss_that_stagnates": (NONE, CATASTROPHE | STAGNATES),
    "perplexity_of_usual_training": (NONE, CATASTROPHE),
    "nothing_was_measured": (NONE, AT_ONCE),
    "memory_leaks_slowly": (NONE, GROWS),
    "text_became_unknown": (NONE, UNKNOWN),
    "loss_stagnates": (NONE, STAGNATES),
    "everything_looks_usual": (NONE, USUAL),
}


def test_contradicting_signals_of_a_leaf_are_of_another_category_and_not_its_own():
    for leaf in (leaf for leaf in TREE.leaves if leaf.category):
        assert leaf.category not in {POINTS_TO[signal] for signal in leaf.against}
        assert not set(leaf.against) & set(leaf.confirms)

    for children in (TREE.refinements, *(node.leaves for node in TREE.refinements)):
        assert [bool(child.when) for child in children] == [True] * (len(children) - 1) + [False]


def test_every_leaf_is_reached_alone_and_together(context, run):
    limits = {"catastrophic_perplexity": 400.0, "gradient_norm": 1000.0}
    tree = TREE.with_conditions(lambda each: resolve(each, context.band, 3.0, limits))
    frame = pd.concat([run(*text, **features) for text, features in RUNS.values()])
    positions = [LEAVES[name] for name in RUNS]
    assert sorted(positions) == [*range(len(LEAVES))]
    assert route(tree, EvaluatedConditions(frame)).tolist() == positions
    for row, position in enumerate(positions):
        assert route(tree, EvaluatedConditions(frame.iloc[[row]])).tolist() == [position]


MEMORY = ("peak_memory", "memory_at_failure", "memory_growth_rate", "memory_warning")


@pytest.mark.parametrize("signals", [MEMORY, ("perplexity",), (ERROR_TEXT_SIGNAL,), ("oov_rate",)])
def test_no_condition_of_a_reduced_tree_looks_at_anything_else(signals):
    assert {signal_of(each) for each in reduced_tree(TREE, signals).conditions()} <= set(signals)
    assert reduced_tree(TREE, (*FEATURE_SETS["19"], ERROR_TEXT_SIGNAL)) == TREE
