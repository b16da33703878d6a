"""The conditions of the crosswalk choose rows that exist, and no two are called the same."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.crosswalk.conditions import CONDITIONS

EACH_CONDITION = pytest.mark.parametrize(
    "condition", CONDITIONS, ids=lambda condition: f"{condition.study}-{condition.features}"
)


@EACH_CONDITION
def test_a_condition_chooses_a_single_published_accuracy_per_method(repository, condition):
    published = pl.read_csv(
        repository / f"data/plots/{condition.points}.csv", infer_schema_length=None
    )
    chosen = published.filter(condition.chosen)
    for method in condition.methods:
        assert chosen.filter(method=method)[condition.value].null_count() == 0
        assert chosen.filter(method=method).height == 1


@EACH_CONDITION
def test_a_condition_chooses_no_answer_twice(repository, condition):
    for method in condition.methods:
        folder = repository / "data/predictions" / condition.predictions
        chosen = pl.read_parquet(folder / f"{method}.parquet").filter(condition.answers)
        assert chosen.height > 0
        assert not chosen.select("repeat", "run_id", "fold").is_duplicated().any()
