"""The report of negative results: one declaration as a table of the paper and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.reporting.cells import ABSENT
from failbench.reporting.scope import scale_note
from failbench.reporting.study_report import StudyReport, Summary
from failbench.reporting.table import Column, Table
from failbench.studies.negative_results.declared import (
    NegativeResult,
    NegativeResults,
    NegativeResultsSettings,
)
from failbench.studies.negative_results.placeholders import (
    DECLARED,
    Metrics,
    estimates_in,
    files_compared,
    files_named,
    filled,
    unmet,
)

CAPTION: Final = "What was tried and did not help, with what was measured of it."

VALUES_NOTE: Final = (
    "Values are percent, differences points, with {interval:g} % intervals and n as in the tables "
    "that each row names, whose captions say what was read, how often, and over which seeds; n are "
    "scenarios unless that table says otherwise. Every number is taken from the metrics, and a row "
    "whose sentence they no longer support is refused. What is named a simulated person is told "
    "the true category, with errors drawn at random; a hybrid that asks one is, too."
)
OTHERS_NOTE: Final = (
    "Rows on notebooks, on the runs that DEFault's authors released, and on traces of reasoning "
    "rest on other material, which the tables that they name describe."
)

HEAD: Final = f"""# What did not help

{CAPTION} The stage `negative_results` writes this page and the table of the paper's
appendix from `{DECLARED}`; no number in it is typed by hand.
"""


RECORDED: Final = "benchmark"
"""Metrics of the stage that counts what was recorded."""

NO_LONGER: Final = "No longer borne out by the metrics:"
"""How a conclusion begins that new results contradict; a test refuses to have it committed."""


@dataclass(frozen=True)
class Shown:
    """One negative result with its numbers filled in."""

    entry: NegativeResult
    tried: str
    expected: str
    measured: str
    concluded: str
    unmet: tuple[str, ...]
    n: tuple[int, ...]


def metrics_files(declared: NegativeResults) -> tuple[str, ...]:
    """Names of the metrics files that entries and their conditions need, sorted."""
    named = {
        file
        for entry in declared.entries
        for text in (entry.tried, entry.expected, entry.measured, entry.concluded)
        for file in files_named(text)
    }
    compared = {
        file
        for entry in declared.entries
        for condition in entry.holds
        for file in files_compared(condition)
    }
    return tuple(sorted({RECORDED} | named | compared))


def shown(declared: NegativeResults, metrics: Metrics) -> tuple[Shown, ...]:
    """The entries with their numbers."""
    return tuple(_shown(entry, metrics) for entry in declared.entries)


def _shown(entry: NegativeResult, metrics: Metrics) -> Shown:
    problems = (unmet(condition, metrics, entry.name) for condition in entry.holds)
    reasons = tuple(problem for problem in problems if problem is not None)
    concluded = filled(entry.concluded, metrics)
    if reasons:
        concluded = f"{NO_LONGER} {'; '.join(reasons)}."
    return Shown(
        entry,
        filled(entry.tried, metrics),
        filled(entry.expected, metrics),
        filled(entry.measured, metrics),
        concluded,
        reasons,
        tuple(sorted({each.n for each in estimates_in(entry.measured, metrics) if each.n})),
    )


def _notes(metrics: Metrics, confidence: float) -> tuple[str, ...]:
    recorded = metrics[RECORDED]
    return (
        VALUES_NOTE.format(interval=100 * confidence),
        DEVELOPMENT_NOTE,
        scale_note(recorded["runs"]["all"], recorded),
        OTHERS_NOTE,
    )


def report(
    declared: NegativeResults, metrics: Metrics, settings: NegativeResultsSettings
) -> StudyReport:
    """The table of negative results."""
    rows = shown(declared, metrics)
    return StudyReport(
        tables=(_table(rows, metrics, settings),),
        summary=(Summary(("entry", "conditions", "unmet"), [_counted(row) for row in rows]),),
    )


def _counted(row: Shown) -> tuple[str, int, int]:
    return row.entry.name, len(row.entry.holds), len(row.unmet)


def _n(row: Shown) -> str:
    return ", ".join(map(str, row.n)) or ABSENT


def _table(rows: Sequence[Shown], metrics: Metrics, settings: NegativeResultsSettings) -> Table:
    return Table.of(
        "negative_results",
        (
            Column("Tried", align="left", width=0.2, cell=lambda row: row.tried),
            Column("Why it should help", align="left", width=0.17, cell=lambda row: row.expected),
            Column("Measured", align="left", width=0.29, cell=lambda row: row.measured),
            Column("n", align="left", width=0.06, cell=_n),
            Column("Concluded", align="left", width=0.18, cell=lambda row: row.concluded),
            Column("Table", align="left", width=0.1, cell=lambda row: row.entry.source),
        ),
        rows,
        CAPTION,
        _notes(metrics, settings.confidence),
    )


def document(declared: NegativeResults, metrics: Metrics, settings: NegativeResultsSettings) -> str:
    """The page of negative results, in markdown: a section each."""
    sections = (
        f"## {row.entry.title}\n\n"
        f"- **Tried.** {row.tried}\n"
        f"- **Why it should help.** {row.expected}\n"
        f"- **Measured.** {row.measured} (n = {_n(row)}; {row.entry.source})\n"
        f"- **Concluded.** {row.concluded}\n"
        for row in shown(declared, metrics)
    )
    notes = "\n\n".join(_notes(metrics, settings.confidence))
    return "\n".join((HEAD, *sections, "## How to read it\n", notes)) + "\n"
