"""Case studies: what two runs showed, beside what the paper tells of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.reporting.cells import ABSENT, percent
from failbench.reporting.reported import Reported
from failbench.reporting.table import Column, Table
from failbench.studies.case_studies.cases import EXPLOSION, MISMATCH, Case, CaseStudiesSettings
from failbench.studies.case_studies.results import CaseStudies

CASE_LABELS: Final[Mapping[str, str]] = {
    EXPLOSION: "Gradient explosion",
    MISMATCH: "Vocabulary mismatch",
}
PLACES: Final[Mapping[str, str]] = {EXPLOSION: "Section 7.3.1", MISMATCH: "Section 7.3.2"}


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
    """A row of a case's table."""

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

PRINTED_ERRORS: Final[Mapping[str, str]] = {
    MISMATCH: "RuntimeError: CUDA error: device-side assert triggered"
}
"""What the paper's case died of, word for word (section 7.3.2)."""

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


@dataclass(frozen=True)
class CaseRow:
    """A line of a case's table: what the paper reports, and what each recording shows, by role."""

    label: str
    reported: str
    measured: Mapping[str, str]


def case_table(
    studies: CaseStudies, case: Case, paper: Reported, settings: CaseStudiesSettings
) -> Table:
    """What the paper tells of its case, beside what was recorded of ours."""
    facts = studies.facts.filter(pl.col("case") == case.name)
    note = CASE_NOTE.format(
        place=PLACES[case.name],
        run=case.run_id,
        count=len(case.candidates),
        rule=RULES[case.name].format(growth=settings.smallest_growth),
        settled=settings.settled_steps,
    )
    return Table.of(
        f"case_{case.name}",
        (
            Column("", align="left", cell=lambda row: row.label),
            Column("Reported", cell=lambda row: row.reported),
            *(_role_column(role) for role in in_order(facts["role"].unique().to_list())),
        ),
        [*_endings(facts, case), *_quantities(facts, case, paper)],
        f"{CASE_LABELS[case.name]}: what was seen, and what became of it when something was "
        "changed.",
        (note,),
    )


def _role_column(role: str) -> Column:
    return Column(role_label(role), cell=lambda row: row.measured[role])


def _endings(facts: pl.DataFrame, case: Case) -> list[CaseRow]:
    """How each recording ended, and on which error if one of them did."""
    endings = facts.select("role", "outcome", "error").unique().rows()
    rows = [CaseRow("Outcome", ABSENT, {role: outcome for role, outcome, _ in endings})]
    errors = {role: error for role, _, error in endings}
    if any(error is not None for error in errors.values()):
        reported = PRINTED_ERRORS.get(case.name, "none")
        rows.append(
            CaseRow("Error", reported, {role: error or "none" for role, error in errors.items()})
        )
    return rows


def _quantities(facts: pl.DataFrame, case: Case, paper: Reported) -> list[CaseRow]:
    rows = []
    for fact in FACTS[case.name]:
        of_quantity = facts.filter(pl.col("quantity") == fact.quantity)
        values = dict(of_quantity.select("role", "value").iter_rows())
        cells = {
            role: ABSENT if value is None else fact.form(value) for role, value in values.items()
        }
        rows.append(CaseRow(fact.label, _reported(paper, fact), cells))
    return rows


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


def _reported(paper: Reported, fact: Fact) -> str:
    if fact.claim is None:
        return ABSENT
    claim = paper.claims.get(fact.claim)
    value = () if claim is None else claim.value
    values = value if isinstance(value, tuple) else (value,)
    position = fact.position or 0
    if position >= len(values):
        raise BadInputError(
            "data/reported/paper.yaml",
            f"claims.{fact.claim}",
            f"is missing or has fewer than {position + 1} numbers.",
            "Restore it from the paper.",
        )
    return fact.form(values[position])
