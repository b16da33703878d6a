"""The committed tables are what PROVENANCE.md says, and a damaged copy is refused."""

from __future__ import annotations

import shutil

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.external.tables import (
    BUGGY,
    CORRECT,
    DETECTION,
    LABEL,
    POSITIVES,
    crashed,
    path_of,
    read_released,
)
from pipeline import REPOSITORY

COPY = REPOSITORY / "data/external/default"


@pytest.fixture(scope="module")
def released():
    return read_released(COPY)


def test_detection_has_the_runs_that_the_authors_count(released):
    counts = dict(released.detection[LABEL].value_counts().rows())
    assert counts == {BUGGY: 7617, CORRECT: 4797}


def test_the_runs_that_crashed_are_all_labelled_correct(released):
    empty = crashed(released.detection)
    assert empty.sum() == 392
    assert set(released.detection.filter(empty)[LABEL]) == {CORRECT}


def test_the_seven_categories_are_9855_different_runs(released):
    assert released.categories.height == 9855
    assert not released.categories.drop(LABEL).is_duplicated().any()
    assert not crashed(released.categories).any()


@pytest.mark.parametrize("name", POSITIVES)
def test_every_negative_is_a_positive_of_another_table(released, name):
    rows = released.tables[name]
    known = released.categories
    assert rows.join(known, on=rows.columns, how="anti", nulls_equal=True).is_empty()


def test_every_faulty_run_of_the_first_level_is_one_of_the_second(released):
    columns = [column for column in released.detection.columns if column != LABEL]
    faulty = released.detection.filter(pl.col(LABEL) == BUGGY)
    assert faulty.join(released.categories, on=columns, how="anti", nulls_equal=True).is_empty()


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(COPY, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop("epoch"), "epoch: the column is missing"),
        (lambda table: table.with_columns(epoch=pl.lit(1)), "epoch: is Int32, not Float64"),
        (lambda table: table.clear(), "there are none"),
        (lambda table: table.with_columns(label=pl.lit(BUGGY)), "label: has the labels buggy"),
    ],
)
def test_a_damaged_table_is_refused(copy, change, words):
    path = path_of(copy, DETECTION)
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(BadInputError, match=words):
        read_released(copy)


def test_a_missing_table_names_the_command_that_makes_it(copy):
    path_of(copy, "loss").unlink()
    with pytest.raises(BadInputError, match="failbench external-default"):
        read_released(copy)
