"""Sensitivity: choices of the main study made the other way, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from failbench.reporting.cells import with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table
from failbench.studies.sensitivity.settings import FAULTS_APART, INTERACTIONS, ONE_SEED

VARIANT_LABELS = {
    ONE_SEED: "One run per scenario",
    FAULTS_APART: "Folds by fault",
    INTERACTIONS: "Terms of pairs of features",
}
NOTE = (
    "Accuracy in percent and difference in points to the same repeats and runs of the main study, "
    "with {interval:g} % intervals by resampling scenarios within categories, then their seeds "
    "where there are several (feature set 19). One run per scenario: the form of the paper; runs "
    "of a single seed are trained on and tested, where the main study trains on those of all "
    "seeds. Folds by fault: scenarios that inject one fault, in whatever strength, are never on "
    "both sides. Terms of pairs: {interactions} pairs of features have a term of their own in the "
    "boosting machine, a surface a category, which a reader would have to see drawn. Intervals are "
    "conditional on the folds that were drawn; those by fault are other folds."
)


COLUMNS = (
    Column("Choice", align="left", cell=lambda row: VARIANT_LABELS[row["variant"]]),
    Column("Method", align="left", cell=lambda row: method_label(row["method"])),
    Column("Accuracy", cell=lambda row: _estimate(row["accuracy"])),
    Column("Difference to the main study", cell=lambda row: _estimate(row["difference"])),
    Column("Repeats", cell=lambda row: str(row["accuracy"]["repeats"])),
    Column("Runs", cell=lambda row: str(row["accuracy"]["runs"])),
    Column("n", cell=lambda row: str(row["accuracy"]["n"])),
)


def sensitivity_table(estimates: pl.DataFrame, *, confidence: float, interactions: int) -> Table:
    """A row per variant and method."""
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for row in estimates.iter_rows(named=True):
        key = {name: row[name] for name in ("variant", "method")}
        rows.setdefault((row["variant"], row["method"]), dict(key))[row["metric"]] = row
    return Table.of(
        "sensitivity",
        COLUMNS,
        rows.values(),
        "What choices of the main study are worth, each made the other way.",
        (NOTE.format(interval=100 * confidence, interactions=interactions),),
    )


def _estimate(row: Mapping[str, Any]) -> str:
    return with_interval(row["value"], row["ci_low"], row["ci_high"])
