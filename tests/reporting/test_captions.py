from __future__ import annotations

import polars as pl
import pytest

from failbench.base.scenarios import read_scenarios
from failbench.study.notes import REPLACED, SCALE_NOTE
from failbench.study.scope import Scope, scale_of
from unknown_anatomy import ARBITRARY, CONFLICTING


@pytest.fixture(scope="module")
def runs(repository):
    return pl.read_parquet(repository / "data/telemetry/runs.parquet")


def test_the_note_on_scale_says_what_was_recorded(runs):
    assert scale_of(runs) == SCALE_NOTE
    assert set(runs["device"]) == {"cpu"}
    assert set(runs["tokenizer_vocabulary"].drop_nulls()) == {512}


def test_the_scale_of_some_runs_is_theirs_alone(runs):
    one = scale_of(runs.filter(run_id=runs["run_id"][0]))
    assert one.startswith("Measured on small models: 1 runs on a CPU, 2 layers,")
    assert " to " not in one.split("planned steps")[0]


def test_a_scope_is_counted_from_its_rows():
    rows = pl.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "scenario": ["x", "x", None],
            "seed": [0, 0, 1],
            "architecture": ["t5", "t5", "gru"],
            "optimizer": ["sgd", "sgd", "sgd"],
            "repeat": [0, 1, 0],
        }
    )
    assert Scope.of(rows) == Scope(2, 1, 2, ("gru-sgd", "t5-sgd"), repeats=2, folds=1)
    assert Scope.of(rows).setting == "2 settings (architecture and optimizer)"
    assert Scope.of(rows.head(2)).setting == "one setting (t5-sgd)"


def test_the_scenarios_that_were_replaced_are_gone_and_what_replaced_them_is_there(repository):
    there = {scenario.id for scenario in read_scenarios(repository / "data/scenarios")}
    assert there.isdisjoint(REPLACED)
    assert there.issuperset(REPLACED.values())


def test_unknown_labels_that_conflict_are_unknown(repository):
    unknown = {
        scenario.id
        for scenario in read_scenarios(repository / "data/scenarios")
        if scenario.category == "unknown"
    }
    assert unknown.issuperset((*CONFLICTING, *ARBITRARY))
