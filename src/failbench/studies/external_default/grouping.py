"""Groups: guesses at which rows are of one program and session, which the tables do not say.

Both are ours. Rows of one program lie near one another in a file, so that contiguous blocks hold
most of them; runs of one session share what their machine was busy with, so that clusters of the
host's columns do. A block may cut a program in two or hold several, and so may a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from failbench.errors import BadInputError
from failbench.external.tables import DETECTION, POSITIVES, ReleasedTables
from failbench.studies.external_default.settings import (
    BLOCKS,
    CATEGORY,
    CLUSTERS,
    GROUPINGS,
    Grouping,
)
from failbench.studies.external_default.tasks import Task

Groups = npt.NDArray[np.int32]
"""A number per row; -1 for rows that have none."""

GROUP_SCHEMA = pl.Schema(
    {
        "task": pl.String(),
        "grouping": pl.String(),
        "groups": pl.Int32(),
        "row": pl.Int32(),
        "group": pl.Int32(),
    }
)


def contiguous_blocks(parts: Sequence[int], groups: int, least: int) -> Groups:
    """Blocks of rows that follow one another, of nearly equal size, none across parts.

    >>> contiguous_blocks([4, 2], 3, least=1)
    array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    total = sum(parts)
    numbers: list[npt.NDArray[np.intp]] = []
    before = 0
    for rows in parts:
        blocks = max(least, round(groups * rows / total))
        numbers.append(before + np.arange(rows) * blocks // rows)
        before += blocks
    return np.concatenate(numbers).astype(np.int32)


def host_clusters(task: Task, groups: int, seed: int) -> Groups:
    """Clusters of rows by the standardised columns of the host; -1 for crashed runs.

    k-means (Lloyd, 1982, "Least squares quantization in PCM") with one start.
    """
    host = task.rows.loc[~task.crashed, list(task.host)].to_numpy(dtype=np.float64)
    if not np.isfinite(host).all():
        problem = f"of {task.name} are not all finite."
        raise BadInputError("data/external/default", ", ".join(task.host), problem, "Restore it.")
    means = KMeans(groups, n_init=1, random_state=seed)
    clusters = np.full(len(task.rows), -1, dtype=np.int32)
    clusters[~task.crashed] = means.fit_predict(StandardScaler().fit_transform(host))
    return clusters


def groups_of(
    tasks: dict[str, Task], released: ReleasedTables, numbers: Sequence[int], folds: int, seed: int
) -> pl.DataFrame:
    """Groups of all tasks, both ways, in each number of groups.

    The tables of the second level take those of the seven categories together, of which every row
    of theirs is one.
    """
    parts = {
        DETECTION: [released.detection.height],
        CATEGORY: [
            int((released.categories["label"] == label).sum()) for label in POSITIVES.values()
        ],
    }
    tables = []
    for name in (DETECTION, CATEGORY):
        for number in numbers:
            least = folds if len(parts[name]) > 1 else 1
            found = {
                BLOCKS: contiguous_blocks(parts[name], number, least),
                CLUSTERS: host_clusters(tasks[name], number, seed),
            }
            tables += [_frame(name, way, number, found[way]) for way in GROUPINGS]
    of_categories = pl.concat(tables).filter(task=CATEGORY)
    tables += [
        _of_second_level(name, released, of_categories.filter(groups=numbers[0]))
        for name in POSITIVES
    ]
    return pl.concat(tables)


def _frame(task: str, grouping: Grouping, groups: int, numbers: Groups) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "task": task,
            "grouping": grouping,
            "groups": groups,
            "row": np.arange(len(numbers)),
            "group": numbers,
        },
        schema=GROUP_SCHEMA,
    )
    return frame.filter(pl.col("group") >= 0)


def _of_second_level(name: str, released: ReleasedTables, groups: pl.DataFrame) -> pl.DataFrame:
    """The groups of the rows of a table, which are rows of the seven categories together."""
    table = released.tables[name].with_row_index("row")
    known = released.categories.with_row_index("known")
    columns = [column for column in known.columns if column != "known"]
    matched = table.join(
        known, on=columns, how="left", nulls_equal=True, maintain_order="left"
    ).select("row", "known")
    if matched["known"].null_count() or matched.height != table.height:
        problem = "has rows that are no positive rows of one of the seven tables."
        raise BadInputError(f"tables/{name}.parquet", "(rows)", problem, "Restore it with git.")
    return (
        matched.with_columns(pl.col("known").cast(pl.Int32), pl.col("row").cast(pl.Int32))
        .join(groups.rename({"row": "known"}), on="known", maintain_order="left")
        .with_columns(task=pl.lit(name))
        .select(GROUP_SCHEMA.names())
        .sort("grouping", "groups", "row")
    )
