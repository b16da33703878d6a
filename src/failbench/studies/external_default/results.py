"""Results: how many of DEFault's runs are told right, with intervals by resampling groups.

The runs of a group go together, so that groups and not runs are drawn. Where folds keep groups
together, these are the groups; elsewhere they are contiguous blocks. Intervals take the fits as
given. Where all runs are right or none is, resamples all agree, and Wilson's interval with
n = groups takes their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.arrays import Array, Labels
from failbench.errors import BadInputError
from failbench.external.tables import ReleasedTables
from failbench.statistics.bootstrap import BootstrapSettings, resample
from failbench.statistics.intervals import wilson
from failbench.statistics.row_weights import Weights, single_seeds
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    GROUPINGS,
    HOUSE_METHODS,
    SIMPLE_RULES,
    THEIR_FOREST,
    ExternalDefaultSettings,
    grouped_by,
)
from failbench.studies.external_default.tasks import tasks_of

MAJORITY: Final = "majority"
"""The method that names the most frequent label of the tested rows, and reads nothing."""

NO_COLUMNS: Final = "none"

ACCURACY, BALANCED, DIFFERENCE = "accuracy", "balanced_accuracy", "difference"
PRECISION: Final = "precision"
"""Metrics: a difference is what a method of ours has above the authors' forest, a precision the
share of faulty runs among those in which a rule holds."""

KEY: Final = ("task", "protocol", "columns", "method")

ESTIMATE_SCHEMA: Final = pl.Schema(
    {
        **dict.fromkeys(KEY, pl.String()),
        "metric": pl.String(),
        "value": pl.Float64(),
        "ci_low": pl.Float64(),
        "ci_high": pl.Float64(),
        "n": pl.Int64(),
        "rows": pl.Int64(),
    }
)
"""A row per figure; ``n`` counts the groups that are resampled, ``rows`` the runs that it is of."""

REMEDY: Final = "Run `dvc repro measure_external_default`."


@dataclass(frozen=True)
class Counted:
    """Runs of one condition by group and label."""

    key: tuple[str, ...]
    right: Array
    size: Array

    @property
    def held(self) -> int:
        """Runs that rules call buggy."""
        return int((self.right[:, 0] + self.size[:, 1] - self.right[:, 1]).sum())


def estimates(
    answers: pl.DataFrame,
    groups: pl.DataFrame,
    released: ReleasedTables,
    settings: ExternalDefaultSettings,
) -> pl.DataFrame:
    """Accuracies of all conditions, and what ours have above the authors' forest."""
    labels = {name: task.labels for name, task in tasks_of(released).items()}
    unit = {
        grouped_by(way, number): (way, number)
        for way in GROUPINGS
        for number in (settings.groups, *settings.other_groups)
    }
    usual = (BLOCKS, settings.groups)
    tables = []
    for (task, way, number), of_rows in groups.group_by(
        "task", "grouping", "groups", maintain_order=True
    ):
        protocols = [
            protocol
            for protocol in answers.filter(task=task)["protocol"].unique().sort()
            if unit.get(protocol, usual) == (way, number)
        ]
        part = answers.filter(pl.col("task") == task, pl.col("protocol").is_in(protocols))
        if str(task) not in labels or part.is_empty():
            continue
        counted = list(_counted(part, of_rows, labels[str(task)]))
        tables.append(_estimated(counted, settings))
    if not tables:
        place = "data/measurements/external_default"
        raise BadInputError(place, "task", "no answer has a group.", REMEDY)
    return pl.concat(tables).sort(*KEY, "metric")


def metrics(table: pl.DataFrame) -> dict[str, Any]:
    """Estimates as nested scalars, a level per part of the key and one for the metric."""
    nested: dict[str, Any] = {}
    for row in table.iter_rows(named=True):
        level = nested
        for part in KEY:
            level = level.setdefault(row[part], {})
        level[row["metric"]] = {
            name: row[name] for name in ("value", "ci_low", "ci_high", "n", "rows")
        }
    return nested


def _counted(part: pl.DataFrame, of_rows: pl.DataFrame, labels: Labels) -> Iterator[Counted]:
    """Every condition of a task whose groups are these, and the majority of its rows."""
    names = sorted(set(labels))
    codes = np.searchsorted(names, labels.astype(str))
    group = np.full(len(labels), -1)
    group[of_rows["row"].to_numpy()] = of_rows["group"].to_numpy()
    n_groups = int(group.max()) + 1
    seen: set[str] = set()
    for key, rows in part.group_by(*KEY, maintain_order=True):
        positions = rows["row"].to_numpy()
        if positions.max() >= len(labels) or (group[positions] < 0).any():
            place = "data/measurements/external_default"
            raise BadInputError(place, "row", f"of {'/'.join(map(str, key))} has no group.", REMEDY)
        right = rows["answer"].to_numpy().astype(str) == labels[positions].astype(str)
        task, protocol, *_ = (str(name) for name in key)
        shape = (n_groups, len(names))
        size = _sums(group[positions], codes[positions], np.ones(len(rows)), shape)
        yield Counted(
            tuple(map(str, key)), _sums(group[positions], codes[positions], right, shape), size
        )
        if protocol not in seen:
            seen.add(protocol)
            most = int(size.sum(axis=0).argmax())
            of_majority = np.where(np.arange(len(names)) == most, size, 0.0)
            yield Counted((task, protocol, NO_COLUMNS, MAJORITY), of_majority, size)


def _sums(group: Any, code: Any, values: Any, shape: tuple[int, int]) -> Array:
    flat = np.bincount(group * shape[1] + code, weights=values, minlength=shape[0] * shape[1])
    return np.asarray(flat.reshape(shape), dtype=np.float64)


def _estimated(counted: Sequence[Counted], settings: BootstrapSettings) -> pl.DataFrame:
    """All figures of conditions with the same groups, from the same resamples."""
    right = np.stack([each.right for each in counted])
    size = np.stack([each.size for each in counted])
    pairs = _pairs([each.key for each in counted])
    rules = [number for number, each in enumerate(counted) if each.key[-1] == SIMPLE_RULES]

    def figures(weights: Weights) -> Array:
        """``[n_figures, ...]`` of weights ``[..., n_groups]``."""
        of_right = np.tensordot(weights[0], right, axes=([-1], [1]))
        of_size = np.tensordot(weights[0], size, axes=([-1], [1]))
        accuracy = of_right.sum(axis=-1) / of_size.sum(axis=-1)
        drawn = of_size > 0
        recall = np.divide(of_right, of_size, out=np.zeros_like(of_right), where=drawn)
        balanced = recall.sum(axis=-1) / drawn.sum(axis=-1)
        # labels in alphabetical order: buggy, correct
        called = of_right[..., 0] + of_size[..., -1] - of_right[..., -1]
        precision = np.divide(of_right[..., 0], called, out=np.zeros_like(called), where=called > 0)
        ahead = [accuracy[..., ours] - accuracy[..., theirs] for ours, theirs in pairs]
        return np.stack(
            [
                *np.moveaxis(accuracy, -1, 0),
                *np.moveaxis(balanced, -1, 0),
                *ahead,
                *(precision[..., number] for number in rules),
            ]
        )

    n_groups = right.shape[1]
    resampled = resample(single_seeds([n_groups]), figures, settings)
    values = figures([np.ones(n_groups)])
    named = [
        *((each, ACCURACY) for each in counted),
        *((each, BALANCED) for each in counted),
        *((counted[ours], DIFFERENCE) for ours, _ in pairs),
        *((counted[number], PRECISION) for number in rules),
    ]
    rows = []
    for position, (each, metric) in enumerate(named):
        value = float(values[position])
        drawn = int((each.size.sum(axis=1) > 0).sum())
        low, high, _ = resampled.number(position, value)
        if metric != DIFFERENCE and value in (0.0, 1.0):
            low, high = wilson(value, drawn, settings.confidence)
        runs = each.held if metric == PRECISION else int(each.size.sum())
        rows.append((*each.key, metric, value, low, high, drawn, runs))
    return pl.DataFrame(rows, schema=ESTIMATE_SCHEMA, orient="row")


def _pairs(keys: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Positions of each of our methods and of the authors' forest on the same folds and columns."""
    position = {key: number for number, key in enumerate(keys)}
    return [
        (number, position[task, protocol, columns, THEIR_FOREST])
        for (task, protocol, columns, method), number in position.items()
        if method in (*HOUSE_METHODS, SIMPLE_RULES) and columns == ALL_COLUMNS
    ]


def cell(table: pl.DataFrame, **key: str) -> Mapping[str, Any]:
    """The one estimate with this key."""
    rows = table.filter(**key).to_dicts()
    if len(rows) != 1:
        place = "data/measurements/external_default/answers.parquet"
        problem = f"{', '.join(key.values())} was not answered."
        raise BadInputError(place, "answer", problem, REMEDY)
    return rows[0]
