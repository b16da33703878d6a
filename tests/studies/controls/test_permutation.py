from __future__ import annotations

import numpy as np
import pytest

from failbench.studies.controls.permutation import (
    GroupedTable,
    balanced_accuracy,
    cross_validated_answers,
)
from failbench.studies.controls.settings import Forest
from failbench.vocabulary import CATEGORIES
from made_up_controls import table_of


def test_every_run_is_answered_by_a_forest_that_never_saw_its_scenario():
    """Labels that only a sister run could tell are not found."""
    table = table_of(signal=0.0, by_scenario=50.0)
    labels = np.array(table.categories)
    answers = cross_validated_answers(table, labels, Forest(3, 4, 2), seed=1)
    assert answers.shape == (2, len(table.members))
    assert set(np.unique(answers)) <= set(CATEGORIES)
    assert balanced_accuracy(table, labels, answers) < 0.45


def test_balanced_accuracy_weighs_scenarios_and_not_runs():
    table = GroupedTable(
        np.zeros((5, 1)),
        ("1", "2", "3", "4", "5"),
        ("a", "b", "c"),
        ("x", "x", "y"),
        np.array([0, 0, 0, 1, 2]),
    )
    labels = np.array(["x", "x", "y"])
    answers = np.array([["x", "x", "x", "y", "y"]])
    assert balanced_accuracy(table, labels, answers) == pytest.approx((0.5 + 1) / 2)
