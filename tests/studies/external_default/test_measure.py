"""What is answered, of which rows, by which folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from failbench.external.tables import BUGGY, CORRECT, DETECTION
from failbench.studies.external_default.measure import ANSWER_SCHEMA, conditions, measure
from failbench.studies.external_default.printed_protocol import printed_answers
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    CATEGORY,
    HOST_COLUMNS,
    HOUSE_METHODS,
    PRINTED,
    SHUFFLED,
    THEIR_FOREST,
    TRAINING_COLUMNS,
    WITH_CRASHED,
)
from failbench.studies.external_default.tasks import tasks_of
from made_up_default import RULES


def accuracy(measured, tables, **key):
    rows = measured.answers.filter(**{"method": THEIR_FOREST, **key})
    labels = tasks_of(tables)[key["task"]].labels[rows["row"].to_numpy()]
    return (rows["answer"].to_numpy() == labels).mean()


def test_every_condition_answers_each_of_its_rows_once(measured, small, tables):
    assert measured.answers.schema == ANSWER_SCHEMA
    key = ANSWER_SCHEMA.names()[:-1]
    assert not measured.answers.select(key).is_duplicated().any()
    crashed = {name: int(task.crashed.sum()) for name, task in tasks_of(tables).items()}
    for condition in conditions(small):
        rows = measured.answers.filter(
            task=condition.task,
            protocol=condition.protocol,
            columns=condition.columns,
            method=condition.method,
        )
        whole = len(tasks_of(tables)[condition.task].labels)
        if condition.protocol == PRINTED:
            assert rows.height == np.ceil(0.2 * whole)
        elif condition.protocol == WITH_CRASHED:
            assert rows.height == whole
        else:
            assert rows.height == whole - crashed[condition.task]


@pytest.mark.system
def test_the_same_answers_come_from_two_workers(tables, small, measured):
    again = measure(tables, small, RULES, workers=2)
    assert again.answers.equals(measured.answers)
    assert again.groups.equals(measured.groups)


@pytest.mark.parametrize("task", [DETECTION, CATEGORY])
def test_the_host_tells_the_label_only_while_sessions_are_on_both_sides(
    measured, tables, small, task
):
    shuffled = accuracy(measured, tables, task=task, protocol=SHUFFLED, columns=HOST_COLUMNS)
    key = {"task": task, "protocol": f"clusters_{small.groups}", "columns": HOST_COLUMNS}
    assert shuffled > 0.8
    assert accuracy(measured, tables, **key) < shuffled - 0.2


def test_columns_of_the_training_tell_nothing_where_they_are_noise(measured, tables):
    key = {"task": DETECTION, "protocol": SHUFFLED, "columns": TRAINING_COLUMNS}
    assert 0.3 < accuracy(measured, tables, **key) < 0.7


def test_crashed_runs_are_told_by_being_empty(measured, tables):
    rows = measured.answers.filter(protocol=WITH_CRASHED, columns=ALL_COLUMNS)
    crashed = tasks_of(tables)[DETECTION].crashed
    of_crashed = rows.filter(crashed[rows["row"].to_numpy()])
    assert of_crashed.height == 6
    assert set(of_crashed["answer"]) <= {BUGGY, CORRECT}


def test_all_our_methods_answer_the_rows_of_the_authors_forest(measured):
    for task in (DETECTION, CATEGORY):
        part = measured.answers.filter(task=task, protocol=SHUFFLED, columns=ALL_COLUMNS)
        theirs = part.filter(method=THEIR_FOREST)["row"]
        for method in HOUSE_METHODS:
            assert part.filter(method=method)["row"].equals(theirs)


def test_the_printed_protocol_tests_the_rows_of_the_authors_split(tables, small):
    task = tasks_of(tables)[DETECTION]
    rows, named = printed_answers(task, ALL_COLUMNS, small.printed)
    _, tested = train_test_split(np.arange(len(task.labels)), test_size=0.2, random_state=42)
    assert rows.tolist() == tested.tolist()
    assert set(named) <= {BUGGY, CORRECT}


def test_the_printed_protocol_searches_a_grid_of_several_settings(tables, small):
    task = tasks_of(tables)[DETECTION]
    searched = small.printed.model_copy(update={"trees": (1, 5), "inner_folds": 2})
    _, named = printed_answers(task, HOST_COLUMNS, searched)
    alternatives = [
        printed_answers(task, HOST_COLUMNS, small.printed.model_copy(update={"trees": (trees,)}))[1]
        for trees in (1, 5)
    ]
    assert any((named == other).all() for other in alternatives)
