from __future__ import annotations

from failbench.reporting.table import Divider
from failbench.studies.intervals.rows import MethodRow, method_rows, score_rows

MAJORITY = {"value": 20 / 76, "n": 76}


def test_each_method_has_one_row_with_what_is_reported_and_what_is_measured(measured, reported):
    rows = [row for row in method_rows(measured, reported, MAJORITY) if isinstance(row, MethodRow)]
    labels = [row.label for row in rows]
    assert len(set(labels)) == len(labels)
    simple = rows[labels.index("Simple rules")]
    assert simple.reported == reported.tables.methods.rows["simple_rules"]
    assert simple.measured["19"] == measured["19"]["simple_rules"]


def test_the_majority_category_reads_nothing_and_stands_last_above_the_divider(measured, reported):
    rows = method_rows(measured, reported, MAJORITY)
    divider = next(number for number, row in enumerate(rows) if isinstance(row, Divider))
    majority = rows[divider - 1]
    assert isinstance(majority, MethodRow)
    assert (majority.label, majority.reads) == ("Majority category", "nothing")
    assert {name: estimates["accuracy"] for name, estimates in majority.measured.items()} == {
        "19": MAJORITY,
        "19+keywords": MAJORITY,
    }


def test_scores_have_a_row_where_something_was_measured_and_none_elsewhere(measured):
    del measured["19+keywords"]["ebm"]
    keys = [(row.method, row.feature_set) for row in score_rows(measured)]
    assert ("ebm", "19") in keys
    assert ("ebm", "19+keywords") not in keys
    assert len(keys) == sum(len(methods) for methods in measured.values())
