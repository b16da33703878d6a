"""Groups: blocks follow one another, clusters have like hosts, and second tables take both over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.external.tables import DETECTION, POSITIVES
from failbench.studies.external_default.grouping import (
    contiguous_blocks,
    groups_of,
    host_clusters,
)
from failbench.studies.external_default.settings import BLOCKS, CATEGORY, CLUSTERS
from failbench.studies.external_default.tasks import tasks_of
from made_up_default import RUNS


@pytest.fixture(scope="module")
def groups(tables):
    return groups_of(tasks_of(tables), tables, (16, 8), folds=5, seed=0)


def test_blocks_follow_one_another_and_differ_by_one_row_at_most():
    blocks = contiguous_blocks([100], 7, least=1)
    assert (np.diff(blocks) >= 0).all()
    sizes = np.bincount(blocks)
    assert len(sizes) == 7
    assert sizes.max() - sizes.min() <= 1


def test_no_block_spans_two_parts_and_a_small_part_has_the_least():
    blocks = contiguous_blocks([90, 10], 10, least=5)
    assert set(blocks[:90]) & set(blocks[90:]) == set()
    assert len(set(blocks[90:])) == 5


def test_runs_of_a_session_are_one_cluster(tables):
    task = tasks_of(tables)[DETECTION]
    clusters = host_clusters(task, 16, seed=0)[~task.crashed].reshape(16, RUNS)
    assert (clusters == clusters[:, :1]).mean() > 0.9
    assert len(np.unique(clusters)) == 16


def test_a_crashed_run_has_a_block_and_no_cluster(tables, groups):
    crashed = np.flatnonzero(tasks_of(tables)[DETECTION].crashed)
    rows = {
        way: groups.filter(task=DETECTION, grouping=way, groups=16)["row"].to_list()
        for way in (BLOCKS, CLUSTERS)
    }
    assert len(crashed) == 6
    assert set(crashed) <= set(rows[BLOCKS])
    assert not set(crashed) & set(rows[CLUSTERS])


def test_a_run_has_one_group_whichever_table_it_stands_in(tables, groups):
    known = tables.categories.with_row_index("known").join(
        groups.filter(task=CATEGORY, groups=16).with_columns(known=pl.col("row").cast(pl.UInt32)),
        on="known",
    )
    for name in POSITIVES:
        table = tables.tables[name].with_row_index("row").with_columns(pl.col("row").cast(pl.Int32))
        rows = table.join(groups.filter(task=name), on="row")
        same = rows.join(known, on=[*tables.categories.columns, "grouping"], suffix="_known")
        assert same.height == 2 * table.height
        assert (same["group"] == same["group_known"]).all()


def test_a_negative_that_is_no_positive_elsewhere_is_refused(tables):
    strange = tables.tables["loss"].with_columns(
        cpu=pl.when(pl.col("label") == "Weight").then(-1.0).otherwise("cpu")
    )
    other = replace(tables, tables={**tables.tables, "loss": strange})
    with pytest.raises(BadInputError, match=r"tables/loss\.parquet"):
        groups_of(tasks_of(other), other, (16,), folds=5, seed=0)
