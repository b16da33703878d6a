"""Paper audit: tests of every claim of the paper that its own figures can test."""

from __future__ import annotations

import re
from typing import Annotated

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.publish.audit.check import VERDICTS, AuditSettings
from failbench.publish.audit.counts import (
    ConfusionRows,
    ConfusionShare,
    FoldAccuracy,
    FoldDeviation,
    Granularity,
    Recalls,
)
from failbench.publish.audit.effects import Binomial, EffectSize, FScore, PairedT, Ties
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
