"""The audit of the paper as a table: claim, place, test, what was computed, verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.publish.audit.check import VERDICTS
from failbench.study.plain_table import Column, Table

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

CAPTION = (
    "The paper's own figures tested against one another: of {n} claims, {inconsistent} do not fit "
    "what they are held against, {consistent} do, and {cannot} cannot be checked."
)
NOTE = (
    "A figure fits if some numbers that round to the printed ones give it, so that rounding is "
    "never held against it. Granularity: of n scenarios a rate is a whole number of n-ths (Brown "
    "and Heathers, 2017), n being 76 where nothing else is said; the accuracy of a classifier may "
    "also be a mean over five folds. Intervals are at {confidence:g} %. Inconsistent says that "
    "figures of the paper exclude each other, or that one cannot arise as stated; it does not say "
    "which is wrong, nor why, and one cause may show in several rows. The claims are those that "
    "could be found to test, and no sample of all: their shares say nothing of the rest of the "
    "paper."
)


def _kind(claim: Mapping[str, str]) -> str:
    label = KIND_LABELS.get(claim["kind"])
    if label is None:
        raise BadInputError(
            "paper_audit",
            claim["kind"],
            "is a kind of test without a label.",
            "Give it one in failbench.publish.audit.tables.",
        )
    return label


def _quantity(claim: Mapping[str, str]) -> str:
    return claim["quantity"][0].upper() + claim["quantity"][1:]


def _sections(claim: Mapping[str, str]) -> str:
    return "; ".join(filter(None, (claim["place"], claim["against"])))


def _computed(claim: Mapping[str, str]) -> str:
    sentences = (claim["computed"], claim["note"].removesuffix("."))
    return ". ".join(filter(None, sentences)) + "."


COLUMNS = (
    Column("Claim", align="left", width=0.23, cell=_quantity),
    Column("Printed", align="left", width=0.12, cell=lambda claim: claim["printed"]),
    Column("Place", align="left", width=0.12, cell=_sections),
    Column("Test", align="left", width=0.12, cell=_kind),
    Column("Computed", align="left", width=0.26, cell=_computed),
    Column("Verdict", align="left", width=0.15, cell=lambda claim: claim["verdict"]),
)


def audit_table(audit: pl.DataFrame, *, confidence: float) -> Table:
    """Every claim with its test, those that do not fit first."""
    claims = {verdict: audit.filter(pl.col("verdict") == verdict) for verdict in VERDICTS}
    return Table.of(
        "paper_audit",
        COLUMNS,
        [claim for part in claims.values() for claim in part.iter_rows(named=True)],
        CAPTION.format(
            n=audit.height,
            inconsistent=claims["inconsistent"].height,
            consistent=claims["consistent"].height,
            cannot=claims["cannot be checked"].height,
        ),
        (NOTE.format(confidence=100 * confidence),),
    )
