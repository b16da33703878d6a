"""Sensitivity: choices of the main study made the other way, as a table."""

from __future__ import annotations

import polars as pl

from failbench.reporting.cells import with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table
from failbench.studies.sensitivity.results import VARIANTS

VARIANT_LABELS = {
    "faults_apart": "Folds by fault",
    "interactions": "Terms of pairs of features",
}
NOTE = (
    "Accuracy in percent and difference in points to the same repeats of the main study, with "
    "{interval:g} % intervals by resampling scenarios within categories (feature set 19). Folds by "
    "fault: scenarios that inject one fault, in whatever strength, are never on both sides. Terms "
    "of pairs: {interactions} pairs of features have a term of their own in the boosting machine, "
    "a surface a category, which a reader would have to see drawn. Intervals are conditional on "
    "the folds that were drawn, and these are other folds."
)


def sensitivity_table(table: pl.DataFrame, *, confidence: float, interactions: int) -> Table:
    """A row a variant and method.

    Parameters
    ----------
    table
        As :func:`failbench.studies.sensitivity.results.sensitivity` returns it.
    confidence
        Of the intervals, as a fraction.
    interactions
        Pairs of features that have a term.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    rows = []
    for variant in VARIANTS:
        of_variant = table.filter(pl.col("variant") == variant)
        for method in of_variant["method"].unique(maintain_order=True):
            mine = {
                row["metric"]: row
                for row in of_variant.filter(pl.col("method") == method).iter_rows(named=True)
            }
            cells = (
                with_interval(*(mine[metric][key] for key in ("value", "ci_low", "ci_high")))
                for metric in ("accuracy", "difference")
            )
            counts = (str(mine["accuracy"][key]) for key in ("repeats", "n"))
            rows.append((VARIANT_LABELS[variant], method_label(method), *cells, *counts))
    return Table(
        "sensitivity",
        (
            Column("Choice", align="left"),
            Column("Method", align="left"),
            Column("Accuracy"),
            Column("Difference to the main study"),
            Column("Repeats"),
            Column("n"),
        ),
        tuple(rows),
        "What two choices of the main study are worth.",
        (NOTE.format(interval=100 * confidence, interactions=interactions),),
    )
