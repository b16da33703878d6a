"""Lead time: what is known some steps before the failure, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from failbench.reporting.cells import ABSENT, one_decimal, percent, with_interval
from failbench.reporting.labels import METHOD_LABELS, method_label
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.lead_time.results import ALARM, POSSIBLE

REPORTED_METHOD = "improved_rules"
"""The paper's framework, whose accuracy its Figure 4 shows."""

QUANTITIES = {
    "accuracy": Column("All", "accuracy"),
    "accuracy_past_onset": Column("Past onset", "accuracy"),
    "twin_accuracy": Column("Healthy twins", "accuracy"),
    "gain_over_twin": Column("Gain over twins", "accuracy"),
    "named_on_healthy": Column("Names a cause", "of healthy twins"),
    "diagnosed_ahead": Column("So far ahead", "diagnosed for good"),
}
SIZES = {
    "accuracy": Column("All", "n scenarios"),
    "accuracy_past_onset": Column("Past onset", "n scenarios"),
    "twin_accuracy": Column("Begun", "n scenarios"),
}
"""Each figure is over one of these: twins, gains and false diagnoses over what had begun."""

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
REPORTED_NOTE = (
    "Reported: the paper's framework on its own scenarios ({place}); at 10 and 50 steps it says "
    "only that accuracy stays above the number given. –: not measured, or not reported."
)


def lead_time_table(
    rates: pl.DataFrame,
    reported: Mapping[str, object],
    *,
    calibration_runs: int,
    limits: Sequence[float],
    false_alarms: float,
    confidence: float,
) -> Table:
    """Accuracy and diagnoses at the paper's steps before failure, reported beside measured.

    Parameters
    ----------
    rates
        As :class:`failbench.studies.lead_time.results.LeadTime` holds them.
    reported
        The parsed ``data/reported/paper.yaml``.
    calibration_runs
        Healthy runs that a limit of the alarm comes from.
    limits
        Limits of the alarm, one a division of the healthy runs.
    false_alarms
        The rate that it is calibrated to, a fraction.
    confidence
        Of the intervals, as a fraction.

    Returns
    -------
    Table
        A row a method and number of steps: the failure itself, and those of the paper.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or a method
        has no label.
    """
    paper = validate_reported(reported)
    claim = paper.claims["lead_time_steps"]
    steps = [int(one) for one in claim.value] if isinstance(claim.value, tuple) else []
    rows = []
    for method, label in _rows(rates["method"].unique()):
        mine = rates.filter(pl.col("method") == method)
        for step in (0, *steps):
            here = mine.filter(pl.col("steps") == step)
            cells = [_cell(here, metric) for metric in QUANTITIES]
            if any(cell != ABSENT for cell in cells):
                sizes = (_size(here, metric) for metric in SIZES)
                given = _reported(paper, method, step, steps)
                rows.append((label, str(step), given, *cells, *sizes))
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
    return Table(
        "lead_time",
        (
            Column("Method", align="left"),
            Column("Steps before failure"),
            Column("Accuracy", "reported"),
            *QUANTITIES.values(),
            *SIZES.values(),
        ),
        tuple(rows),
        "How early each method names the right cause, and what it says of runs without a fault.",
        (
            SNAPSHOTS_NOTE.format(interval=100 * confidence),
            event_note,
            REPORTED_NOTE.format(place=claim.place),
        ),
    )


def _rows(found: Iterable[str]) -> list[tuple[str, str]]:
    """Methods with their labels in the order of labels, then the rows that stand beside them."""
    beside = {ALARM: "Any alarm", POSSIBLE: "Possible"}
    methods = {name: method_label(name) for name in sorted(found) if name not in beside}
    ordered = [(name, methods[name]) for name in METHOD_LABELS if name in methods]
    return [*ordered, *beside.items()]


def _reported(paper: Reported, method: str, step: int, steps: list[int]) -> str:
    if method != REPORTED_METHOD or step not in steps:
        return ABSENT
    if step == max(steps):
        return percent(reported_number(paper, "lead_time_100"))
    return f"> {percent(reported_number(paper, 'lead_time_floor'))}"


def _cell(rates: pl.DataFrame, metric: str) -> str:
    found = rates.filter(pl.col("metric") == metric)
    if found.is_empty():
        return ABSENT
    row = found.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def _size(rates: pl.DataFrame, metric: str) -> str:
    found = rates.filter(pl.col("metric") == metric)
    return ABSENT if found.is_empty() else str(found["n"].item())
