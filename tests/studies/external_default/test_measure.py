"""What is answered, of which rows, by which folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from failbench.external.tables import BUGGY, CORRECT, DETECTION
from failbench.studies.external_default.measure import ANSWER_SCHEMA, conditions
from failbench.studies.external_default.printed_protocol import printed_answers
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    CATEGORY,
    HOST_COLUMNS,
    PRINTED,
    SHUFFLED,
    THEIR_FOREST,
    WITH_CRASHED,
)
from failbench.studies.external_default.tasks import tasks_of


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


@pytest.mark.parametrize("task", [DETECTION, CATEGORY])
def test_the_host_tells_the_label_only_while_sessions_are_on_both_sides(
    measured, tables, small, task
):
    shuffled = accuracy(measured, tables, task=task, protocol=SHUFFLED, columns=HOST_COLUMNS)
    key = {"task": task, "protocol": f"clusters_{small.groups}", "columns": HOST_COLUMNS}
    assert shuffled > 0.8
    assert accuracy(measured, tables, **key) < shuffled - 0.2


def test_crashed_runs_are_told_by_being_empty(measured, tables):
    rows = measured.answers.filter(protocol=WITH_CRASHED, columns=ALL_COLUMNS)
    crashed = tasks_of(tables)[DETECTION].crashed
    of_crashed = rows.filter(crashed[rows["row"].to_numpy()])
    assert of_crashed.height == 6
    assert set(of_crashed["answer"]) <= {BUGGY, CORRECT}


def test_the_printed_protocol_tests_the_rows_of_the_authors_split(tables, small):
    task = tasks_of(tables)[DETECTION]
    rows, named = printed_answers(task, ALL_COLUMNS, small.printed)
    _, tested = train_test_split(np.arange(len(task.labels)), test_size=0.2, random_state=42)
    assert rows.tolist() == tested.tolist()
    assert set(named) <= {BUGGY, CORRECT}
