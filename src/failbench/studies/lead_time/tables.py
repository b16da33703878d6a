"""Lead time: what is known some steps before the failure, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, one_decimal, percent, with_interval
from failbench.reporting.labels import METHOD_LABELS, method_label
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.studies.lead_time.results import (
    ALARM,
    MAIN_STUDY,
    MAIN_STUDY_EQUAL_REPEATS,
    POSSIBLE,
)
from failbench.studies.lead_time.settings import ON_KNOWN

REPORTED_METHOD = "improved_rules"
"""The paper's framework, whose accuracy its Figure 4 shows."""


@dataclass(frozen=True)
class Row:
    """A row of the table: a method at a number of steps before failure."""

    label: str
    steps: int
    reported: str
    rates: pl.DataFrame


def _rate(heading: str, group: str, metric: str) -> Column:
    return Column(heading, group, cell=lambda row: _cell(row.rates, metric))


def _size(heading: str, metric: str) -> Column:
    return Column(heading, "n scenarios", cell=lambda row: _count(row.rates, metric))


SHOWN = (
    "accuracy",
    "accuracy_past_onset",
    "twin_accuracy",
    "gain_over_twin",
    "named_on_healthy",
    "diagnosed_ahead",
)
"""Metrics of the table; a row has at least one of them."""

BESIDE = (MAIN_STUDY, MAIN_STUDY_EQUAL_REPEATS)
"""Metrics that stand beside those at the failure itself."""

COLUMNS = (
    Column("Method", align="left", cell=lambda row: row.label),
    Column("Steps before failure", cell=lambda row: str(row.steps)),
    Column("Accuracy", "reported", cell=lambda row: row.reported),
    _rate("All repeats", "main study", MAIN_STUDY),
    _rate("Equal repeats", "main study", MAIN_STUDY_EQUAL_REPEATS),
    _rate("All", "accuracy", "accuracy"),
    _rate("Past onset", "accuracy", "accuracy_past_onset"),
    _rate("Healthy twins", "accuracy", "twin_accuracy"),
    _rate("Gain over twins", "accuracy", "gain_over_twin"),
    _rate("Names a cause", "of healthy twins", "named_on_healthy"),
    _rate("So far ahead", "diagnosed for good", "diagnosed_ahead"),
    # Each rate is over one of these: twins, gains and false diagnoses over what had begun.
    _size("All", "accuracy"),
    _size("Past onset", "accuracy_past_onset"),
    _size("Begun", "twin_accuracy"),
)

SNAPSHOTS_NOTE = (
    "Percent with {interval:g} % intervals by resampling scenarios within categories; the gain in "
    "points. Runs are cut so many steps before their failure; classifiers "
    "are trained on snapshots of other scenarios cut as early, and do not see the number of steps. "
    "0: at the failure, error text included. All: a run that had not begun by then is not "
    "diagnosed. Past onset: the fault had been switched on. Healthy twins: the same runs without "
    "their fault, cut at the same steps, by methods trained on twins; what is right there is owed "
    "to when snapshots are taken and to how often categories occur. Gain: over these, of the runs "
    "that had begun by then. Names a cause: how often the method, trained on failing runs, names "
    "one of a healthy twin for a reason; a classifier knows no health, and always does."
)
MAIN_STUDY_NOTE = (
    "Main study: accuracy of the methods of the same name on whole runs, with all 19 features and "
    "the search over settings, which the classifiers go without here; over its {main} repeats of "
    "the folds, and over as many as the other columns have ({equal}), with which row 0 compares."
)
EVENT_NOTE = (
    "Diagnosed for good: of all runs, those with an alarm and a right diagnosis that holds from "
    "then on, at least so many steps before failure; failure is a competing event, and methods "
    "learn from snapshots of other scenarios between onset and failure. Any alarm: whatever the "
    "diagnosis. Possible: the fault was switched on so far ahead. The limit of the alarm comes "
    "from {calibration} healthy runs and is meant for {meant} % false alarms a run; healthy runs "
    "of other scenarios raised it in {false_alarms} % (n = {n} scenarios). Which runs calibrate is "
    "drawn {divisions} times, and figures are means over the draws: the limits lie from {lowest} "
    "to {highest} times as far as any successful run strayed."
)
KNOWN_NOTE = (
    "Methods on what the monitor knows read no features: of a run that is cut they know what had "
    "broken by then, and how it ended at the failure alone; of a twin, no end. Their bounds come "
    "from successful runs."
)
REPORTED_NOTE = (
    "Reported: the paper's framework on its own scenarios ({place}); at 10 and 50 steps it says "
    "only that accuracy stays above the number given. –: not measured, or not reported."
)


def lead_time_table(
    rates: pl.DataFrame,
    paper: Reported,
    *,
    calibration_runs: int,
    limits: Sequence[float],
    repeats: tuple[int, int],
    false_alarms: float,
    confidence: float,
) -> Table:
    """Accuracy and diagnoses at the paper's steps before failure, reported beside measured."""
    achieved = rates.filter(pl.col("metric") == "false_alarms").row(0, named=True)
    event_note = EVENT_NOTE.format(
        calibration=calibration_runs,
        meant=f"{100 * false_alarms:g}",
        false_alarms=with_interval(achieved["value"], achieved["ci_low"], achieved["ci_high"]),
        n=achieved["n"],
        divisions=len(limits),
        lowest=one_decimal(min(limits)),
        highest=one_decimal(max(limits)),
    )
    return Table.of(
        "lead_time",
        COLUMNS,
        _rows(rates, paper),
        "How early each method names the right one of five categories of cause, and what it says "
        "of runs without a fault.",
        (
            SNAPSHOTS_NOTE.format(interval=100 * confidence),
            MAIN_STUDY_NOTE.format(main=repeats[0], equal=repeats[1]),
            event_note,
            *(() if set(ON_KNOWN).isdisjoint(rates["method"]) else (KNOWN_NOTE,)),
            *development_note(rates["method"].unique()),
            REPORTED_NOTE.format(place=paper.claims["lead_time_steps"].place),
        ),
    )


def _rows(rates: pl.DataFrame, paper: Reported) -> list[Row]:
    """The failure itself and the paper's steps, of every method that has a rate there."""
    claimed = paper.claims["lead_time_steps"].value
    steps = [int(step) for step in claimed] if isinstance(claimed, tuple) else []
    rows = []
    for method, label in _labels(rates["method"].unique()):
        for step in (0, *steps):
            rates_then = rates.filter(
                pl.col("method") == method,
                pl.col("steps") == step,
                pl.col("metric").is_in([*SHOWN, *BESIDE]),
            )
            if rates_then.height:
                rows.append(Row(label, step, _reported(paper, method, step, steps), rates_then))
    return rows


def _labels(methods: Iterable[str]) -> list[tuple[str, str]]:
    """Methods with their labels in the order of labels, then the rows that stand beside them."""
    beside = {ALARM: "Any alarm", POSSIBLE: "Possible"}
    labels = {name: method_label(name) for name in sorted(methods) if name not in beside}
    ordered = [(name, labels[name]) for name in METHOD_LABELS if name in labels]
    return [*ordered, *beside.items()]


def _reported(paper: Reported, method: str, step: int, steps: list[int]) -> str:
    if method != REPORTED_METHOD or step not in steps:
        return ABSENT
    if step == max(steps):
        return percent(reported_number(paper, "lead_time_100"))
    return f"> {percent(reported_number(paper, 'lead_time_floor'))}"


def _cell(rates: pl.DataFrame, metric: str) -> str:
    matches = rates.filter(pl.col("metric") == metric)
    if matches.is_empty():
        return ABSENT
    row = matches.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def _count(rates: pl.DataFrame, metric: str) -> str:
    matches = rates.filter(pl.col("metric") == metric)
    return ABSENT if matches.is_empty() else str(matches["n"].item())
