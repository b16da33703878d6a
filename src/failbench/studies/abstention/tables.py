"""Abstention: why the improved rules abstain, and what other thresholds are worth, as tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.statistics.intervals import IntervalSettings
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

WORTH = ("coverage", "accuracy_when_committed", "accuracy")

REASONS_NOTE = (
    "Percent. Abstained: of the n scenarios, mean over repeats. Then the share of each reason in "
    "the abstentions: a confidence below tau, signals of categories that exclude one another, or "
    "no measurement at all. {interval:g} % intervals by resampling scenarios within categories, "
    "Wilson's where fewer than {wilson_below} scenarios are abstained from. –: none is."
)
COUNTS_NOTE = (
    "Reported: Section 6.1 and Figure 5. Of the {cases:.0f} cases that {abstained} % of "
    "{scenarios} are, the three shares would be {counts} cases."
)
THRESHOLDS_NOTE = (
    "Percent, but for tau, with {interval:g} % intervals by resampling n scenarios within "
    "categories. Coverage: share of scenarios that get a diagnosis. An abstention is never right. "
    "Tau decides last, and alone, so that each row is what the same fits answer. Chosen: in each "
    "of {folds} folds the lowest tau of the sweep that is right in {target:g} % of committed "
    "diagnoses on the scenarios of the training side, each predicted by an inner fit that saw "
    "neither it nor what the fold tests; median, lowest and highest tau. {found} of the folds "
    "have such a tau; any other abstains from everything. Reported: Sections 4.2 and 6.1; the "
    "paper set tau for {aim:g} % of committed diagnoses to be right."
)


def reasons_table(
    figures: pl.DataFrame, reported: Mapping[str, object], settings: IntervalSettings
) -> Table:
    """Why the rules abstained, by category, reported above measured.

    Parameters
    ----------
    figures
        As :func:`failbench.studies.abstention.results.study_abstentions` returns them.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        How the measured intervals were made.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    rate = reported_number(paper, "improved_rules_abstention")
    scenarios = reported_number(paper, "scenarios")
    shares = reported_shares(paper)
    part = figures.filter(pl.col("part") == REASONS)
    labels = ((ALL, "All, measured"), *CATEGORY_LABELS.items())
    present = set(part["key"])
    return Table(
        "abstention",
        (
            Column("Category", align="left"),
            Column("Abstained"),
            *(Column(label, "of the abstentions") for label in REASON_LABELS.values()),
            Column("n"),
        ),
        (
            ("All, reported", percent(rate), *map(percent, shares.values()), f"{scenarios:.0f}"),
            *(
                (
                    label,
                    _cell(part, key, "abstention_rate"),
                    *(_cell(part, key, f"share_{reason}") for reason in REASON_LABELS),
                    str(_row(part, key, "abstention_rate")["n"]),
                )
                for key, label in labels
                if key in present
            ),
        ),
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
    figures: pl.DataFrame,
    reported: Mapping[str, object],
    *,
    tau: float,
    target: float,
    confidence: float,
) -> Table:
    """Coverage and accuracy at every tau, and at the one that training folds ask for.

    Parameters
    ----------
    figures, reported
        See :func:`reasons_table`.
    tau
        That of the study itself.
    target
        Share of right answers among the committed that was asked for.
    confidence
        Of the measured intervals, as a fraction.
    """
    paper = validate_reported(reported)
    chosen = figures.filter(pl.col("part") == CHOSEN)
    swept = figures.filter(pl.col("part") == THRESHOLDS)
    found = _row(chosen, PER_FOLD, "folds_with_a_threshold")
    paper_rates = (
        1 - reported_number(paper, "improved_rules_abstention"),
        reported_number(paper, "improved_rules_committed_accuracy"),
        reported_number(paper, "improved_rules_accuracy"),
    )
    reported_tau = reported_number(paper, "improved_rules_threshold")
    size = f"{reported_number(paper, 'scenarios'):.0f}"
    rows = [
        ("Reported", f"{reported_tau:.2f}", *map(percent, paper_rates), size),
        ("Measured", f"{tau:.2f}", *_worth(chosen, AS_MEASURED)),
        (f"Chosen for {100 * target:g} %", _range(chosen), *_worth(chosen, PER_FOLD)),
        *(("Sweep", key, *_worth(swept, key)) for key in swept["key"].unique().sort().to_list()),
    ]
    return Table(
        "abstention_threshold",
        (
            Column("Threshold", align="left"),
            Column("Tau"),
            Column("Coverage"),
            Column("Accuracy when committed"),
            Column("Accuracy"),
            Column("n"),
        ),
        tuple(rows),
        "What the improved rules are worth at other thresholds of confidence.",
        (
            THRESHOLDS_NOTE.format(
                interval=100 * confidence,
                target=100 * target,
                aim=100 * reported_number(paper, "improved_rules_target_precision"),
                folds=found["n"],
                found=round(found["value"] * found["n"]),
            ),
        ),
    )


def reported_shares(paper: Reported) -> dict[Reason, float]:
    """The share of each reason in the paper's abstentions, in the order of its Figure 5."""
    return {reason: reported_number(paper, f"abstention_{reason}") for reason in REASON_LABELS}


def _worth(figures: pl.DataFrame, key: str) -> tuple[str, ...]:
    cells = (_cell(figures, key, metric) for metric in WORTH)
    return (*cells, str(_row(figures, key, WORTH[0])["n"]))


def _range(chosen: pl.DataFrame) -> str:
    found = chosen.filter(pl.col("key") == PER_FOLD, pl.col("metric") == "tau")
    if found.is_empty():
        return ABSENT
    row = found.row(0, named=True)
    return f"{row['value']:.2f} ({row['ci_low']:.2f} to {row['ci_high']:.2f})"


def _cell(figures: pl.DataFrame, key: str, metric: str) -> str:
    found = figures.filter(pl.col("key") == key, pl.col("metric") == metric)
    if found.is_empty():
        return ABSENT
    row = found.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def _row(figures: pl.DataFrame, key: str, metric: str) -> dict[str, float]:
    return figures.filter(pl.col("key") == key, pl.col("metric") == metric).row(0, named=True)
