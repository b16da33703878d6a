"""The report of the outside list, over what is stored and over made-up runs."""

from __future__ import annotations

import pytest

from failbench.monitored.tables import read_monitored
from failbench.outside_list.bugs import BUGS, read_bugs
from failbench.studies.outside_list.report import report
from failbench.studies.outside_list.results import LEVELS, OutsideListSettings
from failbench.studies.outside_list.tables import MEASURES
from made_up_bugs import bug_of, recorded_bugs

SETTINGS = OutsideListSettings(bounds=None, confidence=0.95)


@pytest.fixture(scope="module")
def stored(repository):
    bugs = read_bugs(repository / "data/outside" / BUGS)
    return bugs, report(read_monitored(repository / "data/outside"), bugs, {}, SETTINGS)


def test_every_recreated_bug_has_a_point_at_both_levels(stored):
    bugs, shown = stored
    ids = [bug.id for bug in bugs if bug.is_recreated]
    points = shown.points["outside_list"]
    assert points.select("level", "bug").rows() == [
        (level, name) for level in LEVELS for name in ids
    ]


def test_totals_are_sums_over_the_points(stored):
    _, shown = stored
    points = shown.points["outside_list"]
    for level in LEVELS:
        of_level = points.filter(level=level)
        for measure in ("detected", "told_apart", "named"):
            assert shown.metrics[level][measure]["count"] == of_level[measure].sum()
        assert shown.metrics[level]["detected"]["n"] == of_level.height


def test_the_tables_say_that_the_two_counts_are_not_of_the_same_set(stored):
    _, shown = stored
    tables = {table.name: table for table in shown.tables}
    assert "not of the same set" in " ".join(" ".join(tables["outside_list_totals"].notes).split())
    for table in tables.values():
        assert "re-created by us from its description" in table.notes[0]
    assert len(tables["outside_list_totals"].rows) == len(MEASURES)


def test_published_figures_stand_beside_ours(stored):
    _, shown = stored
    (totals,) = [table for table in shown.tables if table.name == "outside_list_totals"]
    published = {row[0]: row[-1] for row in totals.rows}
    assert published["Detected within one step"] == "18 of 20: 90.0 [69.9, 97.2]"
    assert published["Alarm in the healthy twin"] == "< 2"


def test_bugs_that_are_left_out_are_listed_with_the_reason(stored):
    bugs, shown = stored
    (listed,) = [table for table in shown.tables if table.name == "outside_list_bugs"]
    assert len(listed.rows) == len(bugs)
    for bug, row in zip(bugs, listed.rows, strict=True):
        assert (f"not re-created: {bug.left_out}" == row[-1]) == bool(bug.left_out)


def test_captions_say_whether_bounds_spoke():
    bugs = [bug_of()]
    monitored = recorded_bugs(bugs, {})
    for bounds, said in ((None, "Logic alone speaks"), ("data/bounds.json", "data/bounds.json")):
        settings = OutsideListSettings(bounds=bounds, confidence=0.95)
        first, *_ = report(monitored, bugs, {}, settings).tables
        assert said in " ".join(first.notes)
