"""Rows of the tables of intervals: what is known of a method, reported and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from failbench.reporting.cells import ABSENT, Estimate, Measured, percent, with_interval
from failbench.reporting.labels import (
    FEATURE_SET_LABELS,
    in_label_order,
    is_blind,
    made_in_view,
    method_label,
    reads_label,
    reads_true_category,
)
from failbench.reporting.reported import (
    REPORTED_HYBRIDS,
    Reported,
    ReportedMethod,
    reported_number,
)
from failbench.reporting.table import Divider

Estimates = Mapping[str, Estimate]
"""By metric, of one method on one feature set."""

DEVELOPED = Divider("Rules made with these scenarios in view:")
"""Above the methods whose figures are development."""

ASSUMED = Divider("Handed the true category:")
"""Above the methods that are assumptions and no diagnoses."""


@dataclass(frozen=True)
class MethodRow:
    """A row of the methods table."""

    label: str
    reads: str
    reported: ReportedMethod | None
    reported_accuracy: str
    measured: Mapping[str, Estimates]


@dataclass(frozen=True)
class ScoreRow:
    """A row of the table of scores: a method on a feature set."""

    method: str
    feature_set: str
    estimates: Estimates


def method_rows(
    measured: Measured, paper: Reported, majority: Estimate
) -> list[MethodRow | Divider]:
    """Rows of the methods table, those that are not blind below dividers."""
    reported = paper.tables.methods.rows
    methods = [*reported, *(name for name in _methods(measured) if name not in reported)]
    rows = {
        method: MethodRow(
            method_label(method),
            reads_label(method),
            reported.get(method),
            _reported_accuracy(method, paper),
            {name: _estimates(measured, name, method) for name in FEATURE_SET_LABELS},
        )
        for method in methods
    }
    nothing = MethodRow(
        "Majority category",
        "nothing",
        None,
        ABSENT,
        {name: {"accuracy": majority} for name in FEATURE_SET_LABELS},
    )
    return [
        *(row for method, row in rows.items() if is_blind(method)),
        nothing,
        *_below(DEVELOPED, (row for method, row in rows.items() if made_in_view(method))),
        *_below(ASSUMED, (row for method, row in rows.items() if reads_true_category(method))),
    ]


def _below(divider: Divider, rows: Iterable[MethodRow]) -> list[MethodRow | Divider]:
    """Rows with a divider above them, if there are any."""
    listed = list(rows)
    return [divider, *listed] if listed else []


def score_rows(measured: Measured) -> list[ScoreRow]:
    """Rows of the table of scores: each measured method on each feature set."""
    return [
        ScoreRow(method, feature_set, estimates)
        for method in _methods(measured)
        for feature_set in FEATURE_SET_LABELS
        if (estimates := _estimates(measured, feature_set, method))
    ]


def _methods(measured: Measured) -> list[str]:
    """The measured methods, in the order of their labels."""
    return in_label_order({method for methods in measured.values() for method in methods})


def _estimates(measured: Measured, feature_set: str, method: str) -> Estimates:
    return measured.get(feature_set, {}).get(method, {})


def _reported_accuracy(method: str, paper: Reported) -> str:
    row = paper.tables.methods.rows.get(method)
    if row is None:
        claim = REPORTED_HYBRIDS.get(method)
        return ABSENT if claim is None else percent(reported_number(paper, claim))
    if row.interval is not None:
        return with_interval(row.accuracy, *row.interval)
    if row.standard_deviation is not None:
        return f"{percent(row.accuracy)} ± {percent(row.standard_deviation)}"
    return percent(row.accuracy)
