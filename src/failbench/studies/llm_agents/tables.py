"""Language models as a table: what the paper reports of them, beside what was answered here."""

from __future__ import annotations

from collections.abc import Mapping

from failbench.reporting.cells import ABSENT, interval_cell, one_decimal, percent, with_interval
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.llm_agents.results import AgentResult

REPORTED_UNKNOWN = {"mistral_7b": "unknown_right_mistral", "llama_3_8b": "unknown_right_llama"}
"""Claims on how many of its 8 unknown cases the paper says a model told."""

FIGURES = {
    "accuracy": "Accuracy",
    "unreadable": "Unreadable",
    "cites_evidence": "Cites values",
    "evidence_found": "Values found",
    "evidence_points": "Signals apt",
}

MEASURED_NOTE = (
    "Measured: percent, with {confidence:g} % intervals by resampling scenarios within categories; "
    "a model's only where it answered all runs of the main study, one a scenario, zero-shot. "
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


def agents_table(
    models: Mapping[str, AgentResult], reported: Mapping[str, object], *, confidence: float
) -> Table:
    """A row a model, reported first; what no model answered is a dash.

    Parameters
    ----------
    models
        What was answered, by label of the model.
    reported
        The parsed ``data/reported/paper.yaml``.
    confidence
        Of the measured intervals, as a fraction.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    return Table(
        "llm_agents",
        (
            Column("Model", align="left"),
            *(Column(one, "reported") for one in ("Accuracy", "Quality", "Unknown told")),
            Column("Answered"),
            *(Column(heading, "measured") for heading in FIGURES.values()),
        ),
        tuple(
            (
                method_label(label),
                *_reported_cells(label, paper),
                *_measured_cells(models.get(label)),
            )
            for label in in_label_order((*REPORTED_UNKNOWN, *models))
        ),
        "Language models that diagnose from error text, the last steps and the configuration.",
        (MEASURED_NOTE.format(confidence=100 * confidence), REPORTED_NOTE),
    )


def _reported_cells(label: str, paper: Reported) -> tuple[str, str, str]:
    row = paper.tables.methods.rows.get(label)
    if row is None:
        return ABSENT, ABSENT, ABSENT
    told = reported_number(paper, REPORTED_UNKNOWN[label])
    return (
        percent(row.accuracy)
        if row.interval is None
        else with_interval(row.accuracy, *row.interval),
        ABSENT if row.quality is None else one_decimal(row.quality),
        f"{told:.0f} of 8",
    )


def _measured_cells(result: AgentResult | None) -> tuple[str, ...]:
    if result is None:
        return (ABSENT,) * (1 + len(FIGURES))
    found = (result.figures.get(name) for name in FIGURES)
    return (
        f"{result.answered} of {result.runs}",
        *(ABSENT if one is None else interval_cell(one) for one in found),
    )
