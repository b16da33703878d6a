import polars as pl
import pytest

from crosswalk import CONDITIONS, accuracies, points_schema
from failbench.base.errors import BadInputError
from failbench.base.stage import read_points
from failbench.study.captions import Captions


@pytest.fixture(scope="module")
def points(repository):
    names = {condition.points for condition in CONDITIONS.values()}
    folder = repository / "data/plots"
    return {name: read_points(folder / f"{name}.csv", points_schema(name)) for name in names}


@pytest.fixture(scope="module")
def predictions(repository):
    folder = repository / "data/predictions"
    return {
        (each.predictions, name): pl.read_parquet(folder / each.predictions / f"{name}.parquet")
        for each in CONDITIONS.values()
        for name in each.methods
    }


def test_accuracies_are_those_of_predictions_of_which_none_counts_twice(points, predictions):
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


def test_an_accuracy_that_is_not_printed_is_named(points, predictions):
    without = points | {"intervals": points["intervals"].filter(pl.col("metric") != "accuracy")}
    with pytest.raises(BadInputError, match=r"intervals\.csv: metric: has 0 accuracies of improv"):
        tuple(accuracies(without, predictions, Captions.read("crosswalk")))
