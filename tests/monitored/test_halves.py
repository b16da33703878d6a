"""The halves of the scenarios were fixed before any monitored run of a fault was recorded."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from failbench.base.scenarios import read_scenarios
from failbench.monitor.records.scoring import HALF_SCHEMA, halves

REPOSITORY = Path(__file__).parents[2]
COMMITTED = REPOSITORY / "data/monitor/halves.csv"
SCENARIOS = read_scenarios(REPOSITORY / "data/scenarios")


def test_the_committed_halves_are_those_of_the_rule():
    committed = pl.read_csv(COMMITTED, schema=HALF_SCHEMA)
    assert_frame_equal(halves(SCENARIOS), committed)


def test_halves_are_of_equal_size_in_all_and_differ_by_one_scenario_in_a_category():
    table = halves(SCENARIOS)
    assert dict(table["half"].value_counts().iter_rows()) == {"development": 38, "test": 38}
    counts = table.pivot("half", index="category", values="scenario", aggregate_function="len")
    assert (counts["development"].cast(int) - counts["test"].cast(int)).abs().max() == 1
