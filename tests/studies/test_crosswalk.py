import polars as pl
import pytest

from crosswalk import CONDITIONS, accuracies, points_schema
from failbench.base.stage import read_points
from failbench.study.captions import Captions


def test_accuracies_are_those_of_predictions_of_which_none_counts_twice(repository):
    points = {
        each.points: read_points(
            repository / f"data/plots/{each.points}.csv", points_schema(each.points)
        )
        for each in CONDITIONS.values()
    }
    folder = repository / "data/predictions"
    predictions = {
        (each.predictions, name): pl.read_parquet(folder / each.predictions / f"{name}.parquet")
        for each in CONDITIONS.values()
        for name in each.methods
    }
    rows = accuracies(points, predictions, Captions.read("crosswalk"))
    for method in ("improved_rules", "random_forest"):
        for name, condition in CONDITIONS.items():
            if method in condition.methods:
                answers = condition.answers(predictions[condition.predictions, method])
                assert not answers.select("repeat", "run_id", "fold").is_duplicated().any()
                right = (pl.col("prediction") == pl.col("category")).mean()
                value = answers.group_by("scenario").agg(right=right)["right"].mean()
                printed = float(next(rows)[8].split(" ")[0])
                assert printed == pytest.approx(100 * value, abs=0.051), (method, name)
    assert next(rows, None) is None
