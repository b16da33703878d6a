"""Diagnoses of the cases: what each method says of them, and on which evidence, as a table."""

from __future__ import annotations

import math
from typing import Final

from failbench.reporting.cells import ABSENT, three_decimals, words
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table
from failbench.studies.case_studies.results import CaseAnswer, CaseStudies
from failbench.studies.case_studies.tables import CASE_LABELS, significant
from failbench.verdicts import Evidence

SHOWN_EVIDENCE = 3
"""Signals of a diagnosis that the table shows."""

LISTS_OF_RULES = ("simple_rules", "improved_rules", "learned_rules", "decision_tree")
"""Methods that check conditions in order, so that the last ones decide; of others the first do."""

DIAGNOSES_NOTE = (
    "Answers on feature set 19 by the fits of the main study that test the scenario, and so have "
    "not learnt from it. Most frequent: the answer of most repeats, and of how many. Right: in how "
    "many of the repeats. Explained: a single fit, that of the first repeat, whose answer may be "
    "another than the most frequent; its confidence (of an abstention, what was not enough) and "
    "its evidence, the {shown} conditions that decide, of rules and trees the last ones on the "
    "path; of other methods the leading ones."
)


def evidence_text(answer: CaseAnswer) -> str:
    """The conditions that decide, as words; a dash where a method shows none."""
    seen = [evidence for evidence in answer.diagnosis.evidence if evidence.value != ""]
    last = answer.method in LISTS_OF_RULES
    shown = seen[-SHOWN_EVIDENCE:] if last else seen[:SHOWN_EVIDENCE]
    return "; ".join(map(_in_words, shown)) or ABSENT


def _in_words(evidence: Evidence) -> str:
    signal = words(evidence.signal)
    if isinstance(evidence.value, str):
        return f"error text has “{evidence.value}”"
    if math.isnan(evidence.value):
        return f"{signal} missing"
    threshold = evidence.threshold
    limit = threshold if isinstance(threshold, str) else significant(threshold)
    return f"{signal} {significant(evidence.value)} {evidence.relation} {limit}"


def _answer(answer: str, row: CaseAnswer) -> str:
    return words(answer) + (" (right)" if answer == row.case.category else "")


def _most_frequent(row: CaseAnswer) -> str:
    answers = " or ".join(_answer(answer, row) for answer in row.most_frequent)
    return f"{answers}, {row.count} of {row.repeats}" + " each" * (len(row.most_frequent) > 1)


REPEATS, EXPLAINED = "all repeats", "explained, first repeat"

COLUMNS: Final = (
    Column("Case", align="left", cell=lambda row: CASE_LABELS[row.case.name]),
    Column("Method", align="left", cell=lambda row: method_label(row.method)),
    Column("Most frequent", REPEATS, align="left", cell=_most_frequent),
    Column("Right", REPEATS, cell=lambda row: f"{row.right} of {row.repeats}"),
    Column(
        "Answer",
        EXPLAINED,
        align="left",
        cell=lambda row: _answer(row.diagnosis.category, row),
    ),
    Column("Confidence", EXPLAINED, cell=lambda row: three_decimals(row.diagnosis.confidence)),
    Column("Evidence", EXPLAINED, align="left", cell=evidence_text),
)


def diagnoses_table(studies: CaseStudies) -> Table:
    """What each method says of each case, and on which evidence."""
    return Table.of(
        "case_diagnoses",
        COLUMNS,
        studies.answers,
        "What each method says of the two cases: its most frequent answer over the repeats, and "
        "the diagnosis of one fit with its evidence.",
        (DIAGNOSES_NOTE.format(shown=SHOWN_EVIDENCE),),
    )
