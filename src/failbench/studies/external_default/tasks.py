"""Tasks: what is to be told of a run, from which columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl

from failbench.arrays import Labels, Mask
from failbench.external.tables import (
    BUGGY,
    DETECTION,
    LABEL,
    POSITIVES,
    ReleasedTables,
    crashed,
)
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    CATEGORY,
    HOST_COLUMNS,
    TRAINING_COLUMNS,
)

OTHER = "other"
"""What the negative rows of a table of the second level are called."""


@dataclass(frozen=True)
class Task:
    """Rows with labels."""

    name: str
    rows: pd.DataFrame
    labels: Labels
    positive: str | None
    crashed: Mask
    host: tuple[str, ...]

    def columns(self, column_set: str) -> list[str]:
        """The columns of a set, in the order of the file."""
        if column_set == ALL_COLUMNS:
            return list(self.rows.columns)
        wanted = {HOST_COLUMNS: True, TRAINING_COLUMNS: False}[column_set]
        return [name for name in self.rows.columns if (name in self.host) == wanted]


def tasks_of(released: ReleasedTables) -> dict[str, Task]:
    """Detection, the seven categories, and each category against samples of the others."""
    tasks = {
        DETECTION: _task(DETECTION, released.detection, released.host, BUGGY),
        CATEGORY: _task(CATEGORY, released.categories, released.host, None),
    }
    for name, label in POSITIVES.items():
        table = released.tables[name].with_columns(
            pl.when(pl.col(LABEL) == label).then(LABEL).otherwise(pl.lit(OTHER)).alias(LABEL)
        )
        tasks[name] = _task(name, table, released.host, label)
    return tasks


def of_second_level() -> Iterator[str]:
    """Names of the tasks of one category against others."""
    yield from POSITIVES


def _task(name: str, table: pl.DataFrame, host: tuple[str, ...], positive: str | None) -> Task:
    return Task(
        name,
        table.drop(LABEL).to_pandas(),
        table[LABEL].to_numpy().astype(object),
        positive,
        np.asarray(crashed(table).to_numpy()),
        host,
    )
