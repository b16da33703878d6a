"""Conditions choose rows that exist, and every accuracy stands as its study prints it."""

from __future__ import annotations

import polars as pl
import pytest

from crosswalk import CONDITIONS, accuracies, points_schema
from failbench.base.errors import BadInputError
from failbench.base.stage import read_points
from failbench.study.captions import Captions


@pytest.fixture(scope="module")
def points(repository):
    names = {condition.points for condition in CONDITIONS.values()}
    return {
        name: read_points(repository / f"data/plots/{name}.csv", points_schema(name))
        for name in names
    }


@pytest.fixture(scope="module")
def predictions(repository):
    keys = {
        (condition.predictions, method)
        for condition in CONDITIONS.values()
        for method in condition.methods
    }
    folder = repository / "data/predictions"
    return {key: pl.read_parquet(folder / key[0] / f"{key[1]}.parquet") for key in keys}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS.keys())
def test_a_condition_chooses_a_single_published_accuracy_and_no_answer_twice(
    points, predictions, condition
):
    for method in condition.methods:
        chosen = condition.rows_of(points[condition.points]).filter(method=method)
        assert chosen[condition.value].null_count() == 0
        assert chosen.height == 1
        answers = condition.answers(predictions[condition.predictions, method])
        assert answers.height > 0
        assert not answers.select("repeat", "run_id", "fold").is_duplicated().any()


def test_accuracies_can_be_recomputed_from_the_predictions_that_they_are_said_to_come_from(
    points, predictions
):
    rows = accuracies(points, predictions, Captions.read("crosswalk"))
    for method in ("improved_rules", "random_forest"):
        for name, condition in CONDITIONS.items():
            if method in condition.methods:
                answers = condition.answers(predictions[condition.predictions, method])
                right = (pl.col("prediction") == pl.col("category")).mean()
                value = answers.group_by("scenario").agg(right=right)["right"].mean()
                printed = float(next(rows)[8].split(" ")[0])
                assert printed == pytest.approx(100 * value, abs=0.051), (method, name)
    assert next(rows, None) is None


def test_an_accuracy_that_is_not_printed_is_named(points, predictions):
    without = points | {"intervals": points["intervals"].filter(pl.col("metric") != "accuracy")}
    with pytest.raises(BadInputError, match=r"intervals\.csv: metric: has 0 accuracies of improv"):
        tuple(accuracies(without, predictions, Captions.read("crosswalk")))
