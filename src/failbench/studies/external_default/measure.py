"""Measure what is told of DEFault's runs by each protocol, from each set of columns.

Everything is answered out of sample, row by row. Folds that are grouped keep the rows of a group on
one side; see :mod:`failbench.studies.external_default.grouping` for what a group is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from failbench.arrays import Labels
from failbench.external.tables import DETECTION, ColumnNote, ReleasedTables
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.workers import parallel_map
from failbench.studies.external_default.classifiers import classifier, fitted
from failbench.studies.external_default.grouping import groups_of
from failbench.studies.external_default.printed_protocol import printed_answers
from failbench.studies.external_default.rules import our_features, simple_answers
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    CATEGORY,
    COLUMN_SETS,
    GROUPINGS,
    HOST_COLUMNS,
    HOUSE_METHODS,
    PRINTED,
    SHUFFLED,
    SIMPLE_RULES,
    THEIR_FOREST,
    WITH_CRASHED,
    ExternalDefaultDesign,
    grouped_by,
)
from failbench.studies.external_default.tasks import Task, of_second_level, tasks_of

Positions = npt.NDArray[np.intp]
Fold = tuple[Positions, Positions]
"""Rows to fit, and rows to answer."""

ANSWER_SCHEMA: Final = pl.Schema(
    {
        "task": pl.String(),
        "protocol": pl.String(),
        "columns": pl.String(),
        "method": pl.String(),
        "row": pl.Int32(),
        "answer": pl.String(),
    }
)
"""A row per answer; ``row`` counts the rows of the task from zero."""


@dataclass(frozen=True)
class Condition:
    """One way to ask: a task, a protocol, columns and a method."""

    task: str
    protocol: str
    columns: str
    method: str


@dataclass(frozen=True)
class Measured:
    """What was answered, and how rows were grouped."""

    answers: pl.DataFrame
    groups: pl.DataFrame


def measure(
    released: ReleasedTables,
    design: ExternalDefaultDesign,
    rules: SimpleRulesSettings,
    workers: int = 1,
) -> Measured:
    """Fit and answer under all conditions."""
    tasks = tasks_of(released)
    numbers = (design.groups, *design.other_groups)
    groups = groups_of(tasks, released, numbers, design.folds, design.seed)
    folds = _folds(tasks, groups, design)
    work: list[tuple[Any, ...]] = []
    for condition in conditions(design):
        task = tasks[condition.task]
        if condition.protocol == PRINTED:
            work.append((condition, task, None, None, design, rules, released.columns))
        else:
            of_rows, splits = folds[condition.task, condition.protocol]
            work += [
                (condition, task, fold, of_rows, design, rules, released.columns) for fold in splits
            ]
    answers = pl.concat(parallel_map(_answers, work, workers))
    return Measured(answers.sort(ANSWER_SCHEMA.names()[:-1]), groups)


def conditions(design: ExternalDefaultDesign) -> Iterator[Condition]:
    """Every condition that is asked, in the order of tables."""
    grouped = [grouped_by(way, design.groups) for way in GROUPINGS]
    for columns in COLUMN_SETS:
        yield Condition(DETECTION, PRINTED, columns, THEIR_FOREST)
        yield Condition(DETECTION, WITH_CRASHED, columns, THEIR_FOREST)
    for task, protocol, columns in product(
        (DETECTION, CATEGORY), (SHUFFLED, *grouped), COLUMN_SETS
    ):
        yield Condition(task, protocol, columns, THEIR_FOREST)
    for task, way, number in product((DETECTION, CATEGORY), GROUPINGS, design.other_groups):
        yield Condition(task, grouped_by(way, number), ALL_COLUMNS, THEIR_FOREST)
    for task, protocol, method in product(
        (DETECTION, CATEGORY), (SHUFFLED, *grouped), HOUSE_METHODS
    ):
        yield Condition(task, protocol, ALL_COLUMNS, method)
    for protocol in (SHUFFLED, *grouped):
        yield Condition(DETECTION, protocol, ALL_COLUMNS, SIMPLE_RULES)
    for task in of_second_level():
        yield Condition(task, PRINTED, ALL_COLUMNS, THEIR_FOREST)
        yield Condition(task, PRINTED, HOST_COLUMNS, THEIR_FOREST)
        for protocol in grouped:
            yield Condition(task, protocol, ALL_COLUMNS, THEIR_FOREST)


def _folds(
    tasks: Mapping[str, Task], groups: pl.DataFrame, design: ExternalDefaultDesign
) -> dict[tuple[str, str], tuple[Positions | None, list[Fold]]]:
    """Folds of each task and protocol, with the group of every row where they keep groups."""
    folds: dict[tuple[str, str], tuple[Positions | None, list[Fold]]] = {}
    for name, task in tasks.items():
        healthy = np.flatnonzero(~task.crashed)
        rows = np.arange(len(task.labels))
        folds[name, WITH_CRASHED] = None, _shuffled(task, rows, design)
        folds[name, SHUFFLED] = None, _shuffled(task, healthy, design)
    for (name, way, number), part in groups.group_by("task", "grouping", "groups"):
        task = tasks[str(name)]
        of_rows = np.full(len(task.labels), -1)
        of_rows[part["row"].to_numpy()] = part["group"].to_numpy()
        healthy = np.flatnonzero(~task.crashed)
        splitter = StratifiedGroupKFold(design.folds, shuffle=True, random_state=design.seed)
        splits = splitter.split(healthy, task.labels[healthy].astype(str), of_rows[healthy])
        folds[str(name), f"{way}_{number}"] = (
            of_rows,
            [(healthy[trained], healthy[tested]) for trained, tested in splits],
        )
    return folds


def _shuffled(task: Task, rows: Positions, design: ExternalDefaultDesign) -> list[Fold]:
    splitter = StratifiedKFold(design.folds, shuffle=True, random_state=design.seed)
    splits = splitter.split(rows, task.labels[rows].astype(str))
    return [(rows[trained], rows[tested]) for trained, tested in splits]


def _answers(
    condition: Condition,
    task: Task,
    fold: Fold | None,
    groups: Positions | None,
    design: ExternalDefaultDesign,
    rules: SimpleRulesSettings,
    notes: tuple[ColumnNote, ...],
) -> pl.DataFrame:
    """The answers of one condition, in one fold unless its protocol has a split of its own."""
    if fold is None:
        rows, named = printed_answers(task, condition.columns, design.printed)
        return _frame(condition, rows, named)
    trained, tested = fold
    labels = task.labels[trained]
    if condition.method == SIMPLE_RULES:
        features = our_features(task.rows, notes)
        named = simple_answers(features.iloc[trained], labels, features.iloc[tested], rules)
        return _frame(condition, tested, named)
    columns = task.columns(condition.columns)
    values = task.rows[columns]
    pipeline = fitted(
        classifier(condition.method, columns, design),
        values.iloc[trained],
        labels.astype(str),
        None if groups is None else groups[trained],
    )
    return _frame(condition, tested, pipeline.predict(values.iloc[tested]))


def _frame(condition: Condition, rows: Positions, answers: Labels) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "task": condition.task,
            "protocol": condition.protocol,
            "columns": condition.columns,
            "method": condition.method,
            "row": rows,
            "answer": answers.astype(str),
        },
        schema=ANSWER_SCHEMA,
    )
