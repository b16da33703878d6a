"""Views: what one view is trained on is never tested in another."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.prediction.folds import by_view, make_splits, stacked


@pytest.fixture(scope="module")
def splits(failures):
    return make_splits(failures.select("scenario", "category").unique(), folds=3, repeats=1, seed=0)


def test_no_scenario_of_the_tested_views_is_trained_on(failures, splits):
    table = stacked({"near": failures, "far": failures})
    for plan in by_view("made_up", splits, "near", ("far",)):
        tested, trained = (table.filter(pl.Series(mask)) for mask in plan.rows(splits, table))
        assert set(tested["view"]) == {"far"}
        assert set(trained["view"]) == {"near"}
        assert not set(tested["scenario"]) & set(trained["scenario"])


def test_every_row_of_a_tested_view_is_tested_once(failures, splits):
    table = stacked({"near": failures, "far": failures})
    counts = sum(
        plan.rows(splits, table)[0].astype(int) for plan in by_view("m", splits, "near", ("far",))
    )
    assert counts.tolist() == (table["view"] == "far").cast(pl.Int64).to_list()


def test_a_view_that_is_not_there_is_refused(failures, splits):
    table = stacked({"near": failures})
    with pytest.raises(BadInputError, match="no run to test"):
        by_view("made_up", splits, "near", ("far",))[0].rows(splits, table)
    with pytest.raises(BadInputError, match="no run to train on"):
        by_view("made_up", splits, "far", ("near",))[0].rows(splits, table)
