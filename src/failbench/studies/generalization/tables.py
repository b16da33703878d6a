"""Generalization: methods on other architectures and on scenarios that they know, as a table."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.reporting.cells import ABSENT, with_interval
from failbench.reporting.labels import FEATURE_SET_LABELS, in_label_order, method_label
from failbench.reporting.table import Column, Table
from failbench.studies.generalization.results import GAIN

STUDY_COLUMNS = {
    NESTED_CV: Column("Reference architecture", "new scenarios"),
    POOLED: Column("All architectures", "new scenarios"),
    LEFT_OUT: Column("Architecture left out", "new scenarios"),
    KNOWN_SCENARIOS: Column("Architecture left out", "known scenarios"),
}
"""The studies in the order of the table."""

STUDIES_NOTE = (
    "Accuracy in percent, and the gain in points, with {interval:g} % intervals by resampling "
    "scenarios within categories: all runs of a scenario move together. Reference architecture: "
    "the main study, one run a scenario. All architectures: trained and tested on all of them, "
    "with several runs a scenario, none of which was trained on. Architecture left out: trained on "
    "the other architectures alone, their successful runs included, and tested on this one. Known "
    "scenarios: the tested scenarios were trained on in the other architectures, with other seeds "
    "than the tested one, because the runs of a scenario and seed share their nominal "
    "configuration, onset included, in all architectures. Gain: what that is worth, on the same "
    "runs; these fits learn from a quarter more scenarios and from fewer seeds. What the symptom "
    "baseline gains, which reads no measurement but the number of steps, shows what is no "
    "diagnosis. –: not measured."
)


def studies_table(table: pl.DataFrame, *, confidence: float) -> Table:
    """Accuracy of every method in every study.

    Parameters
    ----------
    table
        As :func:`failbench.studies.generalization.results.generalization_table` returns it.
    confidence
        Of the intervals, as a fraction.

    Returns
    -------
    Table
        A row a method and feature set, but for sets that the main study alone has.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    rows = []
    for method in in_label_order(table["method"]):
        for name, heading in FEATURE_SET_LABELS.items():
            mine = table.filter(pl.col("method") == method, pl.col("feature_set") == name)
            overall = mine.filter(pl.col("metric") == "accuracy")
            if set(mine["study"]) - {NESTED_CV}:
                rows.append(
                    (
                        method_label(method),
                        heading,
                        *(_cell(mine, study, "accuracy") for study in STUDY_COLUMNS),
                        _cell(mine, KNOWN_SCENARIOS, GAIN),
                        _sizes(overall["n"]),
                        _sizes(overall["runs"]),
                    )
                )
    return Table(
        "generalization",
        (
            Column("Method", align="left"),
            Column("Features", align="left"),
            *STUDY_COLUMNS.values(),
            Column("Gain of knowing"),
            Column("Scenarios"),
            Column("Runs"),
        ),
        tuple(rows),
        "What each method is worth on architectures and on scenarios that it has not seen.",
        (STUDIES_NOTE.format(interval=100 * confidence),),
    )


def _cell(table: pl.DataFrame, study: str, metric: str) -> str:
    found = table.filter(pl.col("study") == study, pl.col("metric") == metric)
    if found.is_empty():
        return ABSENT
    row = found.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def _sizes(sizes: Iterable[int]) -> str:
    return " / ".join(str(size) for size in sorted(set(sizes)))
