"""Generalization: methods on other architectures and on scenarios that they know, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.prediction.known import read_by
from failbench.prediction.main_study import SAME_REPEATS
from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, with_interval
from failbench.reporting.labels import (
    FEATURE_SET_LABELS,
    in_label_order,
    label_inside,
    method_label,
)
from failbench.reporting.table import Column, Table
from failbench.studies.generalization.results import GAIN

STUDIES_NOTE = (
    "Accuracy: percent of runs whose category of cause, one of five, is named right; the gain in "
    "points, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds: the runs of a scenario and seed move together. Reference architecture: the main study, "
    "over all of its repeats and once more over as many as the other columns have (repeats, in the "
    "order of the columns), with which these compare. All architectures: trained and tested on all "
    "of them, with several runs per scenario, none of which was trained on. Architecture left out: "
    "trained on the other architectures alone, their successful runs included, and tested on this "
    "one. Known scenarios: the tested scenarios were trained on in the other architectures, with "
    "other seeds than the tested one, because the runs of a scenario and seed share their nominal "
    "configuration, onset included, in all architectures. –: not measured."
)
GAIN_NOTE = (
    "Gain: what knowing the scenario is worth, on the same runs; these fits learn from a quarter "
    "more scenarios and from fewer seeds."
)
BASELINE_NOTE = (
    " The symptom baseline, which reads no measurement but the number of steps, gains {baseline} "
    "points itself, beside the {method}'s {gain}: so much of a gain may be no diagnosis."
)
MONITOR_NOTE = (
    "Methods on what the monitor knows learn, away from the main study, from the runs of the seeds "
    "that it watched in every architecture, and are asked of these (runs); of an architecture that "
    "is left out no healthy run bounds anything."
)
FOREST, BASELINE = "random_forest", "symptom_baseline"


def _estimate(study: str, metric: str) -> Callable[[pl.DataFrame], str]:
    """The cell of a method's estimates that holds one of them."""

    def cell(estimates: pl.DataFrame) -> str:
        matches = estimates.filter(pl.col("study") == study, pl.col("metric") == metric)
        if matches.is_empty():
            return ABSENT
        row = matches.row(0, named=True)
        return with_interval(row["value"], row["ci_low"], row["ci_high"])

    return cell


def _sizes(sizes: Iterable[int]) -> str:
    return " / ".join(str(size) for size in sorted(set(sizes)))


def _of_accuracy(estimates: pl.DataFrame, size: str) -> str:
    """A size of the studies that have the method, which differ in it."""
    return _sizes(estimates.filter(pl.col("metric") == "accuracy")[size])


def _repeats(estimates: pl.DataFrame) -> str:
    """Repeats of each study that has the method, in the order of the columns."""
    accuracy = estimates.filter(pl.col("metric") == "accuracy")
    repeats = dict(accuracy.select("study", "repeats").iter_rows())
    return " / ".join(str(repeats[study]) for study in SHOWN_STUDIES if study in repeats)


def _gain_note(table: pl.DataFrame) -> str:
    """What the gain is, and how much of it a baseline has that diagnoses nothing."""
    gains = table.filter(pl.col("metric") == GAIN, pl.col("feature_set") == PRIMARY_SET)
    cells = {
        row["method"]: with_interval(row["value"], row["ci_low"], row["ci_high"])
        for row in gains.iter_rows(named=True)
    }
    if not {FOREST, BASELINE} <= set(cells):
        return GAIN_NOTE
    return GAIN_NOTE + BASELINE_NOTE.format(
        baseline=cells[BASELINE], method=label_inside(FOREST), gain=cells[FOREST]
    )


SHOWN_STUDIES = (NESTED_CV, SAME_REPEATS, POOLED, LEFT_OUT, KNOWN_SCENARIOS)
"""In the order of the columns."""

NEW, KNOWN = "new scenarios", "known scenarios"

COLUMNS: Final = (
    Column("Method", align="left", cell=lambda estimates: method_label(estimates["method"][0])),
    Column(
        "Features",
        align="left",
        cell=lambda estimates: FEATURE_SET_LABELS[estimates["feature_set"][0]],
    ),
    Column("Reference architecture", NEW, cell=_estimate(NESTED_CV, "accuracy")),
    Column("Reference architecture, equal repeats", NEW, cell=_estimate(SAME_REPEATS, "accuracy")),
    Column("All architectures", NEW, cell=_estimate(POOLED, "accuracy")),
    Column("Architecture left out", NEW, cell=_estimate(LEFT_OUT, "accuracy")),
    Column("Architecture left out", KNOWN, cell=_estimate(KNOWN_SCENARIOS, "accuracy")),
    Column("Gain of knowing", cell=_estimate(KNOWN_SCENARIOS, GAIN)),
    Column("Scenarios", cell=lambda estimates: _of_accuracy(estimates, "n")),
    Column("Runs", cell=lambda estimates: _of_accuracy(estimates, "runs")),
    Column("Repeats", cell=_repeats),
)
"""A row is made of the estimates of a method on a feature set."""


def studies_table(table: pl.DataFrame, *, confidence: float) -> Table:
    """Accuracy of every method in every study."""
    rows = [
        table.filter(pl.col("method") == method, pl.col("feature_set") == feature_set)
        for method in in_label_order(table["method"])
        for feature_set in FEATURE_SET_LABELS
    ]
    return Table.of(
        "generalization",
        COLUMNS,
        [estimates for estimates in rows if set(estimates["study"]) - {NESTED_CV, SAME_REPEATS}],
        "How often each method names the right one of five categories of cause, on architectures "
        "and on scenarios that it has not seen.",
        (
            STUDIES_NOTE.format(interval=100 * confidence),
            _gain_note(table),
            *((MONITOR_NOTE,) if read_by(table["method"]) else ()),
            *development_note(table["method"].unique()),
        ),
    )
