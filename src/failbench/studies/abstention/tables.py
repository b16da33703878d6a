"""Abstention: why the improved rules abstain, and what other thresholds are worth, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.abstention.results import (
    ALL,
    AS_MEASURED,
    CHOSEN,
    PER_FOLD,
    REASONS,
    THRESHOLDS,
)
from failbench.vocabulary import Reason

REASON_LABELS: Mapping[Reason, str] = {
    "low_confidence": "Low confidence",
    "conflict": "Conflict",
    "missing": "Missing",
}
"""In the order of the paper's Figure 5."""

REASONS_NOTE = (
    "Percent. Abstained: of the n scenarios, mean over seeds and repeats. Then the share of each "
    "reason in the abstentions: a confidence below tau, signals of categories that exclude one "
    "another, or no measurement at all. {interval:g} % intervals by resampling scenarios within "
    "categories, then their seeds, Wilson's where fewer than {wilson_below} scenarios are "
    "abstained from. –: none is."
)
COUNTS_NOTE = (
    "Reported: Section 6.1 and Figure 5. Of the {cases:.0f} cases that {abstained} % of "
    "{scenarios} are, the three shares would be {counts} cases."
)
THRESHOLDS_NOTE = (
    "Percent, but for tau, with {interval:g} % intervals by resampling n scenarios within "
    "categories, then their seeds. Coverage: share of scenarios that get a diagnosis. An "
    "abstention is never right. Tau decides last, and alone, so that each row is what the same "
    "fits answer. Chosen: in each of {folds} folds the lowest tau of the sweep that is right in "
    "{target:g} % of committed diagnoses on the scenarios of the training side, each predicted by "
    "an inner fit that saw neither it nor what the fold tests; median, lowest and highest tau. "
    "{reached} of the folds have such a tau; any other abstains from everything. Reported: "
    "Sections 4.2 and 6.1; the paper set tau for {aim:g} % of committed diagnoses to be right."
)


@dataclass(frozen=True)
class ReasonsRow:
    """A row of the first table, as text."""

    label: str
    abstained: str
    shares: Mapping[Reason, str]
    n: str


@dataclass(frozen=True)
class RatesRow:
    """A row of the second table, as text."""

    label: str
    tau: str
    coverage: str
    accuracy_when_committed: str
    accuracy: str
    n: str


def reasons_table(
    estimates: pl.DataFrame, paper: Reported, settings: ScenarioIntervalSettings
) -> Table:
    """Why the rules abstained, by category, reported above measured."""
    rate = reported_number(paper, "improved_rules_abstention")
    scenarios = reported_number(paper, "scenarios")
    shares = reported_shares(paper)
    rows = [
        ReasonsRow("All, reported", percent(rate), _percents(shares), f"{scenarios:.0f}"),
        *_measured_reasons(estimates.filter(pl.col("part") == REASONS)),
    ]
    return Table.of(
        "abstention",
        (
            Column("Category", align="left", cell=lambda row: row.label),
            Column("Abstained", cell=lambda row: row.abstained),
            *(
                Column(label, "of the abstentions", cell=partial(_share, reason))
                for reason, label in REASON_LABELS.items()
            ),
            Column("n", cell=lambda row: row.n),
        ),
        rows,
        "Why the improved rules abstain.",
        (
            REASONS_NOTE.format(
                interval=100 * settings.confidence, wilson_below=settings.wilson_below
            ),
            COUNTS_NOTE.format(
                cases=rate * scenarios,
                abstained=percent(rate),
                scenarios=f"{scenarios:.0f}",
                counts=" and ".join(
                    f"{share * round(rate * scenarios):.2f}" for share in shares.values()
                ),
            ),
        ),
    )


def thresholds_table(
    estimates: pl.DataFrame, paper: Reported, *, tau: float, target: float, confidence: float
) -> Table:
    """Coverage and accuracy at every tau, and at the one that training folds ask for."""
    chosen = estimates.filter(pl.col("part") == CHOSEN)
    swept = estimates.filter(pl.col("part") == THRESHOLDS)
    reached = estimate(chosen, PER_FOLD, "folds_with_a_threshold")
    rows = [
        _reported_rates(paper),
        _rates("Measured", f"{tau:.2f}", chosen, AS_MEASURED),
        _rates(f"Chosen for {100 * target:g} %", _range(chosen), chosen, PER_FOLD),
        *(_rates("Sweep", key, swept, key) for key in swept["key"].unique().sort().to_list()),
    ]
    return Table.of(
        "abstention_threshold",
        (
            Column("Threshold", align="left", cell=lambda row: row.label),
            Column("Tau", cell=lambda row: row.tau),
            Column("Coverage", cell=lambda row: row.coverage),
            Column("Accuracy when committed", cell=lambda row: row.accuracy_when_committed),
            Column("Accuracy", cell=lambda row: row.accuracy),
            Column("n", cell=lambda row: row.n),
        ),
        rows,
        "What the improved rules are worth at other thresholds of confidence.",
        (
            THRESHOLDS_NOTE.format(
                interval=100 * confidence,
                target=100 * target,
                aim=100 * reported_number(paper, "improved_rules_target_precision"),
                folds=reached["n"],
                reached=round(reached["value"] * reached["n"]),
            ),
        ),
    )


def reported_shares(paper: Reported) -> dict[Reason, float]:
    """The share of each reason in the paper's abstentions, in the order of its Figure 5."""
    return {reason: reported_number(paper, f"abstention_{reason}") for reason in REASON_LABELS}


def reason_cells(estimates: pl.DataFrame, key: str) -> dict[Reason, str]:
    """The share of each reason in the abstentions of a key."""
    return {reason: estimate_cell(estimates, key, f"share_{reason}") for reason in REASON_LABELS}


def _percents(shares: Mapping[Reason, float]) -> dict[Reason, str]:
    return {reason: percent(share) for reason, share in shares.items()}


def _share(reason: Reason, row: ReasonsRow) -> str:
    return row.shares[reason]


def _measured_reasons(estimates: pl.DataFrame) -> list[ReasonsRow]:
    """A row for all scenarios, and one per category that has any."""
    labels = ((ALL, "All, measured"), *CATEGORY_LABELS.items())
    present = set(estimates["key"])
    return [
        ReasonsRow(
            label,
            estimate_cell(estimates, key, "abstention_rate"),
            reason_cells(estimates, key),
            str(estimate(estimates, key, "abstention_rate")["n"]),
        )
        for key, label in labels
        if key in present
    ]


def _reported_rates(paper: Reported) -> RatesRow:
    return RatesRow(
        "Reported",
        f"{reported_number(paper, 'improved_rules_threshold'):.2f}",
        percent(1 - reported_number(paper, "improved_rules_abstention")),
        percent(reported_number(paper, "improved_rules_committed_accuracy")),
        percent(reported_number(paper, "improved_rules_accuracy")),
        f"{reported_number(paper, 'scenarios'):.0f}",
    )


def _rates(label: str, tau: str, estimates: pl.DataFrame, key: str) -> RatesRow:
    return RatesRow(
        label,
        tau,
        estimate_cell(estimates, key, "coverage"),
        estimate_cell(estimates, key, "accuracy_when_committed"),
        estimate_cell(estimates, key, "accuracy"),
        str(estimate(estimates, key, "coverage")["n"]),
    )


def _range(chosen: pl.DataFrame) -> str:
    """The thresholds that the folds chose: median, lowest and highest."""
    taus = chosen.filter(pl.col("key") == PER_FOLD, pl.col("metric") == "tau")
    if taus.is_empty():
        return ABSENT
    row = taus.row(0, named=True)
    return f"{row['value']:.2f} ({row['ci_low']:.2f} to {row['ci_high']:.2f})"


def estimate_cell(estimates: pl.DataFrame, key: str, metric: str) -> str:
    """One estimate with its interval, or a dash."""
    matches = estimates.filter(pl.col("key") == key, pl.col("metric") == metric)
    if matches.is_empty():
        return ABSENT
    row = matches.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def estimate(estimates: pl.DataFrame, key: str, metric: str) -> dict[str, float]:
    """The row of one estimate of a key."""
    row = estimates.filter(pl.col("key") == key, pl.col("metric") == metric)
    return row.row(0, named=True)
