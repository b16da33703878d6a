"""Case studies: what two runs showed beside what the paper tells of its own, and who knew why."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.reporting.cells import ABSENT, percent, three_decimals
from failbench.reporting.labels import method_label
from failbench.reporting.reported import Reported, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.case_studies.cases import EXPLOSION, MISMATCH, Case
from failbench.studies.case_studies.measure import CaseDiagnosis, CaseStudies
from failbench.verdicts import Evidence

CASE_LABELS: Final[Mapping[str, str]] = {
    EXPLOSION: "Gradient explosion",
    MISMATCH: "Vocabulary mismatch",
}
PLACES: Final[Mapping[str, str]] = {EXPLOSION: "Section 7.3.1", MISMATCH: "Section 7.3.2"}

SHOWN_EVIDENCE = 3
"""Signals of a diagnosis that the table shows."""

LISTS_OF_RULES = ("simple_rules", "improved_rules", "learned_rules", "decision_tree")
"""Methods that check conditions in order, so that the last ones decide; of others the first do."""


def significant(value: float) -> str:
    """A number with three significant digits, or as many as it has before the point.

    >>> significant(40.714), significant(2847), significant(229784.1), significant(0.15)
    ('40.7', '2847', '2.3e+05', '0.15')
    """
    if abs(value) >= 1e5:
        return f"{value:.2g}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def whole(value: float) -> str:
    """A count.

    >>> whole(527.0)
    '527'
    """
    return f"{value:.0f}"


@dataclass(frozen=True)
class Fact:
    """A row of a case's table.

    Attributes
    ----------
    label
        What it says.
    quantity
        Of the facts.
    claim, position
        Where the paper's figure is, and which of a list.
    form
        How numbers are written.
    """

    label: str
    quantity: str
    claim: str | None = None
    position: int | None = None
    form: Callable[[float], str] = significant


FACTS: Final[Mapping[str, tuple[Fact, ...]]] = {
    EXPLOSION: (
        Fact("Learning rate, nominal", "learning_rate", "case_1_learning_rate"),
        Fact("Clipping threshold", "clip_norm"),
        Fact("Training loss, first step", "first_loss", "case_1_training_loss", 0),
        Fact("before onset", "loss_before", "case_1_training_loss", 1),
        Fact("largest from onset on", "largest_loss_after", "case_1_training_loss", 2),
        Fact("at the end", "last_loss"),
        Fact("Validation loss, first", "first_validation_loss", "case_1_validation_loss", 0),
        Fact("before onset", "validation_loss_before", "case_1_validation_loss", 1),
        Fact("largest from onset on", "largest_validation_loss_after", "case_1_validation_loss", 2),
        Fact("at the end", "last_validation_loss"),
        Fact(
            "Largest gradient norm, before onset",
            "largest_gradient_norm_before",
            "case_1_gradient_norm_healthy",
            1,
        ),
        Fact("from onset on", "largest_gradient_norm_after", "case_1_gradient_norm"),
        Fact(
            "Mean gradient norm, before onset",
            "mean_gradient_norm_before",
            "case_1_gradient_mean",
            0,
        ),
        Fact("from onset on", "mean_gradient_norm_after", "case_1_gradient_mean", 1),
        Fact(
            "Variance of the gradient norm, before onset",
            "gradient_norm_variance_before",
            "case_1_gradient_variance",
            0,
        ),
        Fact("from onset on", "gradient_norm_variance_after", "case_1_gradient_variance", 1),
        Fact("Peak memory, % of capacity", "peak_memory", "case_1_memory", form=percent),
    ),
    MISMATCH: (
        Fact("Steps begun", "steps", form=whole),
        Fact("Rows of the embedding", "model_vocabulary", "case_2_vocabulary", 0, whole),
        Fact("Highest token id", "highest_token", "case_2_highest_token", None, whole),
        Fact("Training loss before onset", "loss_before"),
        Fact("at the end", "last_loss"),
        Fact("Validation loss before onset", "validation_loss_before"),
        Fact("at the end", "last_validation_loss"),
        Fact("Largest gradient norm before onset", "largest_gradient_norm_before"),
        Fact("from onset on", "largest_gradient_norm_after"),
        Fact("Peak memory, % of capacity", "peak_memory", "case_2_memory", form=percent),
    ),
}

CASE_NOTE = (
    "Reported: the paper's own case ({place}). Measured: {run}, which a rule picked, the median of "
    "{count}: {rule}. Fault removed: its twin, the same run with the fault never switched on. The "
    "other columns are the same run, its fault still there, with a remedy. Losses in nats a token, "
    "averaged over {settled} steps before onset and at the end; figures are of finite values. One "
    "run each: no interval. –: not measured, or not reported."
)
RULES: Final[Mapping[str, str]] = {
    EXPLOSION: "optimization failures of the main study that diverged after an onset mid-run with "
    "a gradient norm of {growth:g} times the largest before, ranked by that factor",
    MISMATCH: "failures of the data pipeline in the main study that crashed after a token id "
    "beyond the embedding, ranked by how far",
}
DIAGNOSES_NOTE = (
    "Answers on feature set 19 by the fits of the main study that test the scenario in the first "
    "repeat, and so have not learnt from it. Right: in how many of the repeats. Confidence: of an "
    "abstention, what was not enough. Evidence: the {shown} conditions that decide, of rules and "
    "trees the last ones on the path; of other methods the leading ones."
)


def case_table(
    studies: CaseStudies,
    case: Case,
    reported: Mapping[str, object],
    *,
    growth: float,
    settled_steps: int,
) -> Table:
    """What the paper tells of its case, beside what was recorded of ours.

    Parameters
    ----------
    studies
        As :func:`failbench.studies.case_studies.measure.case_studies` returns them.
    case
        One of its cases.
    reported
        The parsed ``data/reported/paper.yaml``.
    growth, settled_steps
        The rule and the steps of the settings, for the note.

    Returns
    -------
    Table
        A row a fact; a column for the paper, the run, its twin and each remedy.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    facts = studies.facts.filter(pl.col("case") == case.name)
    roles = in_order(facts["role"].unique().to_list())
    values = {
        (role, quantity): value
        for role, quantity, value in facts.select("role", "quantity", "value").iter_rows()
    }
    words = {
        role: (outcome, error)
        for role, outcome, error in facts.select("role", "outcome", "error").unique().iter_rows()
    }
    rows = [("Outcome", ABSENT, *(words[role][0] for role in roles))]
    if any(error is not None for _, error in words.values()):
        rows.append(("Error", _printed_error(case), *(words[role][1] or "none" for role in roles)))
    for fact in FACTS[case.name]:
        cells = (_number(values[role, fact.quantity], fact.form) for role in roles)
        rows.append((fact.label, _printed(paper, fact), *cells))
    return Table(
        f"case_{case.name}",
        (
            Column("", align="left"),
            Column("Reported"),
            *(Column(role_label(role)) for role in roles),
        ),
        tuple(rows),
        f"{CASE_LABELS[case.name]}: what was seen, and what became of it when something was "
        "changed.",
        (
            CASE_NOTE.format(
                place=PLACES[case.name],
                run=case.run_id,
                count=len(case.candidates),
                rule=RULES[case.name].format(growth=growth),
                settled=settled_steps,
            ),
        ),
    )


def diagnoses_table(studies: CaseStudies) -> Table:
    """What each method says of each case, and on which evidence.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    causes = {case.name: case.category for case in studies.cases}
    rows = [
        (
            CASE_LABELS[one.case],
            method_label(one.method),
            one.diagnosis.category.replace("_", " ")
            + (" (right)" if one.diagnosis.category == causes[one.case] else ""),
            three_decimals(one.diagnosis.confidence),
            f"{one.right} of {one.repeats}",
            evidence_text(one),
        )
        for one in studies.diagnoses
    ]
    return Table(
        "case_diagnoses",
        (
            Column("Case", align="left"),
            Column("Method", align="left"),
            Column("Answer", align="left"),
            Column("Confidence"),
            Column("Right"),
            Column("Evidence", align="left"),
        ),
        tuple(rows),
        "What each method says of the two cases.",
        (DIAGNOSES_NOTE.format(shown=SHOWN_EVIDENCE),),
    )


def in_order(roles: Sequence[str]) -> list[str]:
    """The failing run, its twin, and the remedies by name."""
    first = [role for role in ("failing", "twin") if role in roles]
    return [*first, *sorted(set(roles) - set(first))]


def role_label(role: str) -> str:
    """What a recording of a case is called.

    >>> role_label("twin"), role_label("half_rate")
    ('Fault removed', 'Half rate')
    """
    named = {"failing": "Failing run", "twin": "Fault removed"}
    return named.get(role, role.replace("_", " ").capitalize())


def evidence_text(one: CaseDiagnosis) -> str:
    """The conditions that decide, as words; a dash where a method shows none."""
    seen = [each for each in one.diagnosis.evidence if each.value != ""]
    last = one.method in LISTS_OF_RULES
    shown = seen[-SHOWN_EVIDENCE:] if last else seen[:SHOWN_EVIDENCE]
    return "; ".join(map(_words, shown)) or ABSENT


def _words(one: Evidence) -> str:
    signal = one.signal.replace("_", " ")
    if isinstance(one.value, str):
        return f"error text has “{one.value}”"
    if math.isnan(one.value):
        return f"{signal} missing"
    threshold = one.threshold if isinstance(one.threshold, str) else significant(one.threshold)
    return f"{signal} {significant(one.value)} {one.relation} {threshold}"


def _number(value: float | None, form: Callable[[float], str]) -> str:
    return ABSENT if value is None else form(value)


def _printed(paper: Reported, fact: Fact) -> str:
    if fact.claim is None:
        return ABSENT
    value = paper.claims[fact.claim].value
    if isinstance(value, tuple):
        assert fact.position is not None
        value = value[fact.position]
    return fact.form(value)


def _printed_error(case: Case) -> str:
    return PRINTED_ERRORS.get(case.name, "none")


PRINTED_ERRORS: Final[Mapping[str, str]] = {
    MISMATCH: "RuntimeError: CUDA error: device-side assert triggered"
}
"""What the paper's case died of, word for word (section 7.3.2)."""
