"""Paper audit: tests of every claim that the paper's own figures can test, and their table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.publish.audit.counts import (
    ConfusionRows,
    ConfusionShare,
    FoldAccuracy,
    FoldDeviation,
    Granularity,
    Recalls,
)
from failbench.publish.audit.effects import Binomial, EffectSize, FScore, PairedT, Ties
from failbench.publish.audit.figures import VERDICTS, AuditSettings
from failbench.publish.audit.formulas import Formula
from failbench.publish.audit.intervals import (
    DeviationInterval,
    Disjoint,
    GapInterval,
    RateInterval,
    ScoreInterval,
)
from failbench.publish.audit.relations import (
    Ascending,
    Bound,
    Largest,
    Members,
    Same,
    Unverifiable,
    Within,
)
from failbench.study.captions import Captions
from failbench.study.plain_table import Column, Table

AnyCheck = (
    Granularity
    | FoldAccuracy
    | FoldDeviation
    | Recalls
    | ConfusionRows
    | ConfusionShare
    | Formula
    | Same
    | Bound
    | Largest
    | Within
    | Ascending
    | Members
    | RateInterval
    | DeviationInterval
    | GapInterval
    | ScoreInterval
    | Disjoint
    | FScore
    | EffectSize
    | PairedT
    | Ties
    | Binomial
    | Unverifiable
)
"""Every kind of test; a claim names one by its ``kind``."""

AUDIT_SCHEMA = pl.Schema(
    {
        "claim": pl.String,
        "place": pl.String,
        "against": pl.String,
        "quantity": pl.String,
        "label": pl.String,
        "printed": pl.String,
        "kind": pl.String,
        "computed": pl.String,
        "verdict": pl.String,
        "note": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "printed_low": pl.Float64,
        "printed_high": pl.Float64,
        "n": pl.Int64,
        "implied_n": pl.Int64,
    }
)


class AuditedClaim(Record):
    """A claim of the paper and its test."""

    quantity: str = Field(min_length=5)
    printed: str = Field(min_length=1)
    place: str = Field(min_length=5)
    against: str = ""
    check: Annotated[AnyCheck, Field(discriminator="kind")]
    note: str = ""
    label: str = ""


class AuditedPaper(Record):
    """All claims of the paper that are tested."""

    claims: dict[str, AuditedClaim] = Field(min_length=1)


def audit_paper(paper: AuditedPaper, settings: AuditSettings) -> pl.DataFrame:
    """Test every claim."""
    rows = []
    for name, claim in paper.claims.items():
        finding = claim.check.finding(settings)
        rows.append(
            {
                "claim": name,
                **claim.model_dump(exclude={"check"}),
                "kind": claim.check.kind,
                **vars(finding),
            }
        )
    return pl.DataFrame(rows, schema=AUDIT_SCHEMA)


def audit_metrics(audit: pl.DataFrame) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Shares of claims by verdict: over all, by place and by kind of test."""
    return {
        "all": {"claims": _shares(audit)},
        "kind": _shares_by(audit, "kind"),
        "place": _shares_by(audit, "place"),
    }


def _shares_by(audit: pl.DataFrame, column: str) -> dict[str, dict[str, dict[str, float]]]:
    # a dot in a name would be read as another level of keys when metrics are compared
    parts = audit.partition_by(column, as_dict=True)
    return {re.sub(r"\W", "_", str(name).lower()): _shares(part) for (name,), part in parts.items()}


def _shares(audit: pl.DataFrame) -> dict[str, dict[str, float]]:
    counts = {verdict: audit.filter(pl.col("verdict") == verdict).height for verdict in VERDICTS}
    return {
        verdict.replace(" ", "_"): {"value": count / audit.height, "n": audit.height}
        for verdict, count in counts.items()
    }


KIND_LABELS: Final[Mapping[str, str]] = {
    "ascending": "order",
    "binomial": "binomial test",
    "bound": "bound",
    "confusion_rows": "row sums",
    "confusion_share": "confusion matrix",
    "deviation": "standard deviation",
    "deviation_interval": "interval from deviation",
    "difference": "difference",
    "disjoint": "overlap of intervals",
    "effect_size": "effect size",
    "exponential": "exponential of the loss",
    "f_score": "F1 from its parts",
    "fold_accuracy": "granularity over folds",
    "fold_deviation": "deviation over folds",
    "gap_interval": "interval of a difference",
    "granularity": "granularity",
    "largest": "largest of counts",
    "members": "membership",
    "missing_member": "value that a mean implies",
    "mixture_deviation": "deviation of a mixture",
    "orders": "orders of magnitude",
    "paired_t": "p from effect size",
    "rate_interval": "interval of a rate",
    "ratio": "ratio",
    "recalls": "recalls against accuracy",
    "relative_gain": "relative gain",
    "same": "figures quoted twice",
    "score_interval": "interval of F1",
    "sigma_threshold": "threshold from range",
    "span": "range",
    "sum": "sum",
    "ties": "ties",
    "unverifiable": "–",
    "variance": "variance from range",
    "weighted_mean": "weighted mean",
    "within": "range that holds it",
}
"""Label of each kind of test in the table."""


def _computed(claim: Mapping[str, str]) -> str:
    sentences = (claim["computed"], claim["note"].removesuffix("."))
    return ". ".join(filter(None, sentences)) + "."


def _places(claim: Mapping[str, str]) -> str:
    return "; ".join(filter(None, (claim["place"], claim["against"])))


def _quantity(claim: Mapping[str, str]) -> str:
    return claim["quantity"][0].upper() + claim["quantity"][1:]


COLUMNS = (
    Column("Claim", align="left", width=0.23, cell=_quantity),
    Column("Printed", align="left", width=0.12, cell=lambda claim: claim["printed"]),
    Column("Place", align="left", width=0.12, cell=_places),
    Column("Test", align="left", width=0.12, cell=lambda claim: KIND_LABELS[claim["kind"]]),
    Column("Computed", align="left", width=0.26, cell=_computed),
    Column("Verdict", align="left", width=0.15, cell=lambda claim: claim["verdict"]),
)


def audit_table(audit: pl.DataFrame, said: Captions) -> Table:
    """Every claim with its test, those that do not fit first."""
    parts = [audit.filter(pl.col("verdict") == verdict) for verdict in VERDICTS]
    named = said.with_numbers(
        {"claims": audit.height},
        {
            verdict.replace(" ", "_"): part.height
            for verdict, part in zip(VERDICTS, parts, strict=True)
        },
    )
    rows = [claim for part in parts for claim in part.iter_rows(named=True)]
    caption, notes = named.caption("paper_audit"), named.notes("paper_audit")
    return Table.of("paper_audit", COLUMNS, rows, caption, notes)
