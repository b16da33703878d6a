"""The crosswalk of the committed results: every accuracy stands as its study prints it."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.crosswalk.conditions import CONDITIONS, METHODS
from failbench.studies.crosswalk.report import report


@pytest.fixture(scope="module")
def points(repository):
    names = {condition.points for condition in CONDITIONS}
    return {
        name: pl.read_csv(repository / f"data/plots/{name}.csv", infer_schema_length=None)
        for name in names
    }


@pytest.fixture(scope="module")
def predictions(repository):
    keys = {(condition.predictions, name) for condition in CONDITIONS for name in condition.methods}
    return {
        (folder, method): pl.read_parquet(
            repository / f"data/predictions/{folder}/{method}.parquet"
        )
        for folder, method in keys
    }


def test_accuracies_can_be_recomputed_from_the_predictions_that_they_are_said_to_come_from(
    points, predictions
):
    (table,) = report(points, predictions).tables
    rows = iter(table.rows)
    for method in METHODS:
        for condition in CONDITIONS:
            if method in condition.methods:
                answers = predictions[condition.predictions, method].filter(condition.answers)
                right = (pl.col("prediction") == pl.col("category")).mean()
                value = answers.group_by("scenario").agg(right=right)["right"].mean()
                shown = float(next(rows)[8].split(" ")[0])
                assert shown == pytest.approx(100 * value, abs=0.051), (method, condition.study)
    assert next(rows, None) is None


def test_the_main_study_is_the_first_of_each_method_and_differs_by_nothing(points, predictions):
    (table,) = report(points, predictions).tables
    first = {}
    for row in table.rows:
        first.setdefault(row[0], row)
    assert [row[1] for row in first.values()] == ["Main study", "Main study"]
    assert {row[10] for row in first.values()} == {"0.0"}


def test_an_accuracy_that_is_not_printed_is_named(points, predictions):
    without = points | {"intervals": points["intervals"].filter(pl.col("metric") != "accuracy")}
    with pytest.raises(
        BadInputError, match=r"intervals\.csv: metric: has 0 accuracies of improved"
    ):
        report(without, predictions)
