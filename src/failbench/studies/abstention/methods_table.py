"""Abstention: the methods that may abstain, side by side, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from failbench.reporting.captions import development_note
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.table import Column, Table
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.abstention.results import METHODS
from failbench.studies.abstention.tables import (
    REASON_LABELS,
    estimate,
    estimate_cell,
    reason_cells,
)
from failbench.vocabulary import Reason

NOTE = (
    "Percent, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds. Coverage: share of n scenarios that get a diagnosis. An abstention is never right. "
    "Then the share of each reason in the abstentions: of the improved rules as in their own "
    "table, of the monitor missing where nothing broke, and of its abstaining variant also a low "
    "confidence, below that at which it still answers a set share of the training scenarios. –: "
    "there is none."
)


@dataclass(frozen=True)
class MethodRow:
    """A row of the table, as text."""

    label: str
    coverage: str
    accuracy_when_committed: str
    accuracy: str
    n: str
    shares: Mapping[Reason, str]


def methods_table(estimates: pl.DataFrame, settings: ScenarioIntervalSettings) -> Table:
    """Coverage, accuracy and reasons of each method that may abstain."""
    measured = estimates.filter(pl.col("part") == METHODS)
    methods = in_label_order(measured["key"])
    return Table.of(
        "abstention_methods",
        (
            Column("Method", align="left", cell=lambda row: row.label),
            Column("Coverage", cell=lambda row: row.coverage),
            Column("Accuracy when committed", cell=lambda row: row.accuracy_when_committed),
            Column("Accuracy", cell=lambda row: row.accuracy),
            Column("n", cell=lambda row: row.n),
            *(
                Column(label, "of the abstentions", cell=partial(_share, reason))
                for reason, label in REASON_LABELS.items()
            ),
        ),
        [
            MethodRow(
                method_label(method),
                estimate_cell(measured, method, "coverage"),
                estimate_cell(measured, method, "accuracy_when_committed"),
                estimate_cell(measured, method, "accuracy"),
                str(estimate(measured, method, "accuracy")["n"]),
                reason_cells(measured, method),
            )
            for method in methods
        ],
        "What methods that may abstain are worth, and why they do.",
        (NOTE.format(interval=100 * settings.confidence), *development_note(methods)),
    )


def _share(reason: Reason, row: MethodRow) -> str:
    return row.shares[reason]
