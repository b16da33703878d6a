"""Language models as a table: what the paper reports of them, beside what was answered here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from failbench.reporting.cells import ABSENT, interval_cell, one_decimal, percent, with_interval
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.reported import Reported, ReportedMethod, reported_number
from failbench.reporting.table import Column, Table
from failbench.studies.llm_agents.results import AgentResult

REPORTED_UNKNOWN = {"mistral_7b": "unknown_right_mistral", "llama_3_8b": "unknown_right_llama"}
"""Claims on how many of its 8 unknown cases the paper says a model told."""

HEADINGS = {
    "accuracy": "Accuracy",
    "unreadable": "Unreadable",
    "cites_evidence": "Cites values",
    "evidence_found": "Values found",
    "evidence_points": "Signals apt",
}

MEASURED_NOTE = (
    "Measured: percent, with {confidence:g} % intervals by resampling scenarios within categories, "
    "then their seeds; a model's only where it answered all runs of the main study, zero-shot. "
    "Answered: runs of them that it answered. Unreadable: answers that are not in the form asked "
    "for, which count as wrong. Cites values: answers with evidence. Values found: share of the "
    "cited values that the record shows for the signal that is cited. Signals apt: share of the "
    "cited signals that the paper's taxonomy ties to the category named. An answer that cites "
    "nothing counts as zero in both."
)
REPORTED_NOTE = (
    "Reported: the paper's figures, on its own scenarios and by its own prompt, with its 95 % "
    "intervals (Table 1); quality: people's ratings of explanations, 1 to 5 (Table 1), which "
    "nothing here measures; unknown told: of its 8 unknown cases (Section 6.12). –: not measured, "
    "or not reported."
)


@dataclass(frozen=True)
class AgentRow:
    """What the table says of a model: what the paper reports of it, and what was measured."""

    label: str
    reported: ReportedMethod | None
    unknown_right: float | None
    result: AgentResult | None


def agents_table(models: Mapping[str, AgentResult], paper: Reported, *, confidence: float) -> Table:
    """A row per model, reported first; what no model answered is a dash.

    Parameters
    ----------
    models
        What was answered, by label of the model.
    paper
        The numbers that the paper prints.
    confidence
        Of the measured intervals, as a fraction.
    """
    return Table.of(
        "llm_agents",
        (
            Column("Model", align="left", cell=lambda row: method_label(row.label)),
            Column("Accuracy", "reported", cell=_reported_accuracy),
            Column("Quality", "reported", cell=_reported_quality),
            Column("Unknown told", "reported", cell=_reported_unknown),
            Column("Answered", cell=_answered),
            *(
                Column(heading, "measured", cell=partial(_estimate, name))
                for name, heading in HEADINGS.items()
            ),
        ),
        [_row(label, paper, models.get(label)) for label in _labels(models)],
        "Language models that diagnose from error text, the last steps and the configuration.",
        (MEASURED_NOTE.format(confidence=100 * confidence), REPORTED_NOTE),
    )


def _labels(models: Mapping[str, AgentResult]) -> list[str]:
    return list(in_label_order((*REPORTED_UNKNOWN, *models)))


def _row(label: str, paper: Reported, result: AgentResult | None) -> AgentRow:
    claim = REPORTED_UNKNOWN.get(label)
    unknown_right = None if claim is None else reported_number(paper, claim)
    return AgentRow(label, paper.tables.methods.rows.get(label), unknown_right, result)


def _reported_accuracy(row: AgentRow) -> str:
    if row.reported is None:
        return ABSENT
    accuracy, interval = row.reported.accuracy, row.reported.interval
    return percent(accuracy) if interval is None else with_interval(accuracy, *interval)


def _reported_quality(row: AgentRow) -> str:
    if row.reported is None or row.reported.quality is None:
        return ABSENT
    return one_decimal(row.reported.quality)


def _reported_unknown(row: AgentRow) -> str:
    return ABSENT if row.unknown_right is None else f"{row.unknown_right:.0f} of 8"


def _answered(row: AgentRow) -> str:
    return ABSENT if row.result is None else f"{row.result.answered} of {row.result.runs}"


def _estimate(name: str, row: AgentRow) -> str:
    estimate = None if row.result is None else row.result.estimates.get(name)
    return ABSENT if estimate is None else interval_cell(estimate)
