"""Drops and shares of a group whose two features tell the same."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.importance.results import (
    source_agreement,
)


def drop(table: pl.DataFrame, kind: str, name: str, column: str = "value") -> float:
    unit = table.filter(
        pl.col("feature_set") == "19", pl.col("kind") == kind, pl.col("name") == name
    )
    return float(unit[column][0])


def test_features_that_stand_in_for_one_another_are_found_as_a_group(importance):
    alone = max(drop(importance, "feature", name) for name in ("peak_memory", "memory_at_failure"))
    together = drop(importance, "group", "memory")
    assert together > 0.5
    assert together > alone + 0.2


def test_what_tells_nothing_is_worth_nothing(importance):
    assert abs(drop(importance, "group", "configuration")) < 0.05
    assert drop(importance, "group", "configuration", "own") < 0.2


def test_a_drop_lies_in_its_interval_and_shares_add_up_to_one(importance):
    assert (importance["ci_low"] <= importance["value"]).all()
    assert (importance["value"] <= importance["ci_high"]).all()
    for column in ("share", "own"):
        totals = importance.group_by("feature_set", "kind").agg(pl.col(column).sum())
        assert totals[column].to_numpy() == pytest.approx(1)


def test_the_sources_agree_on_what_is_worth_most(measured):
    agreement = source_agreement(measured)["19"]["random_forest"]
    assert agreement.n == 19
    assert agreement.tested == pytest.approx(60 / 3)
    assert agreement.ratio == pytest.approx(1, abs=0.4)
    assert 0 <= agreement.largest_difference < 0.3
