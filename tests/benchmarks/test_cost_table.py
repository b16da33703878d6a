"""The table of costs says which runs it is of, and its figures are theirs."""

import re

import polars as pl
import pytest

from cost_cases import CASES, REPOSITORY, SIZES
from cost_summary import COSTS, rows_of_costs, rows_of_runs
from measured_child import MeasuredChild, Works, can_measure

TABLES = REPOSITORY / "paper" / "tables"
TEXT = (TABLES / "cost.md").read_text(encoding="utf-8")


def committed(name: str) -> pl.DataFrame:
    return pl.read_csv(TABLES / f"{name}.csv", schema=COSTS)


def test_it_names_the_commit_that_was_measured_and_the_machine():
    assert len(set(re.findall(r"commit `([0-9a-f]{7,40})`", TEXT))) == 1
    assert "2 cores" in TEXT
    assert {"`make cost`", "`make million`"} < set(re.findall(r"`[^`\n]+`", TEXT))


def test_its_rows_are_those_of_the_run():
    rows = rows_of_costs(committed("cost"), SIZES) + rows_of_runs(committed("million"))
    printed = [line for line in TEXT.splitlines() if line.startswith("| ")]
    heads = [line for line in printed if line.startswith(("| Work", "| ---", "| Runs"))]
    assert [line for line in printed if line not in heads] == rows


def test_every_work_was_measured_at_every_size_or_its_limit_is_declared():
    expected = {
        (f"{name} {work}", size)
        for name, case in CASES.items()
        for work in case.works
        for size in SIZES
        if case.measured(work, size)
    }
    assert set(committed("cost").select("work", "size").rows()) == expected


MEBIBYTE = 2**20


def takes_memory(mebibytes: int) -> Works:
    return {"fill": lambda: len(b"1" * (mebibytes * MEBIBYTE)), "rest": lambda: None}


@pytest.mark.skipif(not can_measure(), reason="memory is read from Linux's /proc")
def test_peak_memory_is_that_of_the_work_and_is_forgotten_before_the_next():
    child = MeasuredChild(takes_memory, size=200, warm_up=1)
    peaks = {}
    for work in ("fill", "rest"):
        child.prepare(work)
        peaks[work] = child.do(work).peak_mib
    child.close()
    assert 195 < peaks["fill"] - peaks["rest"] < 205
