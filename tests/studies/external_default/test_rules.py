"""Which of our rules can be asked of the tables, and what those answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from failbench.external.tables import BUGGY, CORRECT, read_released
from failbench.features.feature import CEILING
from failbench.methods.improved_tree import TREE
from failbench.methods.rule_tree import Confirmation
from failbench.methods.simple_rules import SIMPLE_RULES
from failbench.studies.external_default.rules import (
    improved_rules_asked,
    our_features,
    simple_answers,
    simple_rules_asked,
)
from made_up_default import NOTES, RULES
from pipeline import REPOSITORY


@pytest.fixture(scope="module")
def notes():
    return read_released(REPOSITORY / "data/external/default").columns


def test_two_of_23_simple_rules_can_be_asked(notes):
    asked = simple_rules_asked(notes)
    assert (asked.rules, asked.of_text, asked.without_column) == (len(SIMPLE_RULES), 16, 5)
    assert asked.applicable == 2


def test_of_the_improved_rules_a_leaf_can_be_confirmed(notes):
    asked = improved_rules_asked(notes)
    naming = [leaf for leaf in TREE.leaves if isinstance(leaf, Confirmation)]
    assert asked.rules == len(naming)
    assert asked.applicable == 1


def test_what_is_not_finite_counts_as_the_ceiling_and_what_has_no_column_is_missing():
    rows = pd.DataFrame({"train_loss": [1.0, np.nan, np.inf], "gradient_max": [1.0, 2e9, 3.0]})
    features = our_features(rows, NOTES)
    assert features["max_loss"].tolist() == [1.0, CEILING, CEILING]
    assert features["max_gradient_norm"].tolist() == [1.0, CEILING, 3.0]
    assert features["oov_rate"].isna().all()
    assert set(features["error_message"]) == {""}


def answers(trained, labels, tested):
    features = [
        our_features(pd.DataFrame(rows, columns=["train_loss", "gradient_max"]), NOTES)
        for rows in (trained, tested)
    ]
    labels = np.array(labels, dtype=object)
    return simple_answers(features[0], labels, features[1], RULES).tolist()


def test_a_norm_above_the_limit_is_buggy_and_a_usual_run_correct():
    trained = [(1.0, 1.0), (1.1, 1.0), (0.9, 1.0)]
    tested = [(1.0, 1001.0), (1.0, 999.0)]
    assert answers(trained, [CORRECT] * 3, tested) == [BUGGY, CORRECT]


def test_a_loss_beyond_that_of_correct_training_runs_is_buggy():
    trained = [(1.0, 1.0), (1.2, 1.0), (0.8, 1.0), (50.0, 1.0)]
    labels = [CORRECT, CORRECT, CORRECT, BUGGY]
    tested = [(1.7, 1.0), (1.5, 1.0)]
    assert answers(trained, labels, tested) == [BUGGY, CORRECT]
    assert answers(trained, [CORRECT] * 4, tested) == [CORRECT, CORRECT]
