"""The table of the controls: what each reads, how well it tells the label, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from failbench.reporting.cells import (
    ABSENT,
    interval_cell,
    percent,
    three_decimals,
    with_interval,
)
from failbench.reporting.table import Column, Table
from failbench.statistics.bootstrap import Interval
from failbench.studies.controls.results import ControlResult, ControlSettings, LeakTest
from failbench.studies.controls.settings import CHANCE

PLANTED_LEAK: Final = "planted_leak"

CONTROL_LABELS: Final = {
    "permuted_labels": (
        "Permuted labels",
        "the features of failing runs, labels permuted over scenarios",
    ),
    "before_onset": (
        "Before onset",
        "the features of failing runs, cut a step before the fault is switched on",
    ),
    "twins": ("Twins", "the features of the healthy twins"),
    "twins_step_times": ("Step times of twins", "ratios of step times of the healthy twins"),
    "nominal_configuration": (
        "Nominal configuration",
        "what was drawn for a failing run before any fault acted",
    ),
    PLANTED_LEAK: (
        "Planted leak",
        "the nominal configuration, whose batch size is shifted by the label",
    ),
}
"""What a control is called, and what it reads."""

RAW_TWINS_LABEL: Final = "Raw step series of twins"

FOUND, NOT_FOUND = "found, as it must be", "not found, which is an alarm"

KNOWN_FROM = 0.95
"""Accuracy from which labels in all rows count as read: a tree of depth 4 can part five labels."""

NOTE = (
    "Balanced accuracy in percent, mean over {repeats} repeats of {folds} folds over scenarios, "
    "with {interval:g} % intervals by resampling n scenarios within categories; of permuted labels "
    "the mean over permutations with its t interval. Classifier: a forest of {trees} trees, on all "
    "seeds of the {architecture} with {optimizer}. p: one-sided, the share of permutations of the "
    "labels over scenarios, each refitted, that score at least as high (smallest p {smallest}); of "
    "permuted labels a t test of the mean against chance. Pass: p above {level:g} and an interval "
    "that ends at {bound} or lower; fail: p up to {level:g}; else inconclusive."
)
LEAK_NOTE = (
    "A planted leak is the alarm's own test: the controls are worth nothing unless they find it. "
    "Raw step series: the method on step series that the main study has, asked of twins, without a "
    "test. Labels of tested runs: a column that holds the labels of the runs of the test fold "
    "alone, in the nested cross-validation itself; it passes if every prediction stays what it is "
    "with a constant column. Labels of all runs: the same column filled in training too, and no "
    "other to choose; accuracy, not balanced."
)


@dataclass(frozen=True)
class ControlRow:
    """A row of the table: a control, or a test of the harness."""

    control: str
    reads: str
    accuracy: str
    n: int
    permutations: str
    p: str
    verdict: str


COLUMNS: Final = (
    Column("Control", align="left", cell=lambda row: row.control),
    Column("Reads", align="left", cell=lambda row: row.reads),
    Column("Balanced accuracy", cell=lambda row: row.accuracy),
    Column("n", cell=lambda row: str(row.n)),
    Column("Permutations", cell=lambda row: row.permutations),
    Column("p", cell=lambda row: row.p),
    Column("Verdict", align="left", cell=lambda row: row.verdict),
)


def controls_table(
    results: Mapping[str, ControlResult],
    twins: Interval,
    leak: LeakTest,
    planted: int,
    settings: ControlSettings,
) -> Table:
    """What each control reads and finds, the planted leak and the leak test included."""
    note = NOTE.format(
        repeats=settings.repeats,
        folds=settings.folds,
        interval=100 * settings.confidence,
        trees=settings.trees,
        architecture=settings.architecture,
        optimizer=settings.optimizer,
        smallest=three_decimals(1 / (1 + settings.permutations)),
        level=settings.significance,
        bound=percent(settings.upper_bound),
    )
    return Table.of(
        "controls",
        COLUMNS,
        (
            *(_control(name, result) for name, result in results.items()),
            _raw_twins(twins, settings),
            *_leak_rows(leak, planted),
        ),
        "Whether the category can be told from what must not tell it; chance is "
        f"{percent(CHANCE)} % balanced accuracy.",
        (note, LEAK_NOTE),
    )


def _control(name: str, result: ControlResult) -> ControlRow:
    control, reads = CONTROL_LABELS[name]
    return ControlRow(
        control,
        reads,
        with_interval(result.value, result.ci_low, result.ci_high),
        result.n,
        str(result.permutations),
        three_decimals(result.p),
        leak_verdict(result) if name == PLANTED_LEAK else result.verdict,
    )


def leak_verdict(result: ControlResult) -> str:
    """A leak that was planted must fail the control."""
    return FOUND if result.verdict == "fail" else NOT_FOUND


def twins_verdict(twins: Interval, settings: ControlSettings) -> str:
    """Of a control with an interval and no test: whether it holds chance and is narrow enough."""
    if twins.ci_low > CHANCE:
        return "fail: the interval lies above chance"
    return "pass, by the interval" if twins.ci_high <= settings.upper_bound else "inconclusive"


def _raw_twins(twins: Interval, settings: ControlSettings) -> ControlRow:
    return ControlRow(
        RAW_TWINS_LABEL,
        "the step series of the healthy twins",
        interval_cell(twins),
        twins.n,
        ABSENT,
        ABSENT,
        twins_verdict(twins, settings),
    )


def _leak_rows(leak: LeakTest, planted: int) -> tuple[ControlRow, ControlRow]:
    known = leak.positive_control_accuracy
    return (
        ControlRow(
            "Labels of tested runs",
            "the 19 features and a column with the labels of the tested runs",
            ABSENT,
            planted,
            ABSENT,
            ABSENT,
            "pass: no prediction changes" if leak.identical_predictions else "fail: some change",
        ),
        ControlRow(
            "Labels of all runs",
            "a column with the labels, in training too",
            percent(known),
            planted,
            ABSENT,
            ABSENT,
            FOUND if known >= KNOWN_FROM else NOT_FOUND,
        ),
    )
