"""Columns of the tables of intervals: which figures are shown, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.cells import ABSENT, one_decimal, percent, three_decimals, with_interval
from failbench.reporting.labels import FEATURE_SET_LABELS, method_label
from failbench.reporting.reported import ReportedMethod
from failbench.reporting.table import Column
from failbench.studies.intervals.rows import Estimates, MethodRow


@dataclass(frozen=True)
class Quantity:
    """A metric that a table shows: its key, its heading and how its numbers are written."""

    metric: str
    heading: str
    form: Callable[[float], str] = percent

    def cell(self, estimates: Estimates) -> str:
        """The estimate with its interval, if it has one, or a dash."""
        estimate = estimates.get(self.metric)
        if estimate is None:
            return ABSENT
        if "ci_low" not in estimate:
            return self.form(estimate["value"])
        return with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"], self.form)


ACCURACY = Quantity("accuracy", "Accuracy")


def _of_paper(cell: Callable[[ReportedMethod], str]) -> Callable[[MethodRow], str]:
    """A cell that says what Table 1 of the paper says, or a dash."""
    return lambda row: ABSENT if row.reported is None else cell(row.reported)


def _abstention(reported: ReportedMethod) -> str:
    return ABSENT if reported.abstention is None else percent(reported.abstention)


def _quality(reported: ReportedMethod) -> str:
    return ABSENT if reported.quality is None else one_decimal(reported.quality)


def _measured_column(quantity: Quantity, feature_set: str) -> Column:
    return Column(
        quantity.heading,
        FEATURE_SET_LABELS[feature_set],
        cell=lambda row: quantity.cell(row.measured[feature_set]),
    )


def _accuracy_on(row: MethodRow, feature_set: str) -> str:
    return ACCURACY.cell(row.measured[feature_set])


def _score_column(quantity: Quantity) -> Column:
    return Column(quantity.heading, cell=lambda row: quantity.cell(row.estimates))


def _sizes(measurements: Iterable[Estimates]) -> str:
    sizes = {
        int(estimates["accuracy"]["n"]) for estimates in measurements if "accuracy" in estimates
    }
    return " / ".join(str(size) for size in sorted(sizes)) or ABSENT


PRIMARY_QUANTITIES = (
    ACCURACY,
    Quantity("abstention_rate", "Abstention"),
    Quantity("accuracy_when_committed", "Accuracy when committed"),
    Quantity("macro_f1", "Macro-F1"),
    Quantity("conditions_to_read", "Conditions to read", one_decimal),
)
"""What the methods table shows of the paper's features; of other feature sets, accuracy alone."""

METHODS_COLUMNS = (
    Column("Method", align="left", cell=lambda row: row.label),
    Column("Reads", align="left", cell=lambda row: row.reads),
    Column("Accuracy", "reported", cell=lambda row: row.reported_accuracy),
    Column("Abstention", "reported", cell=_of_paper(_abstention)),
    Column("Interpretable", "reported", cell=_of_paper(lambda reported: reported.interpretable)),
    Column("Quality", "reported", cell=_of_paper(_quality)),
    *(_measured_column(quantity, PRIMARY_SET) for quantity in PRIMARY_QUANTITIES),
    *(_measured_column(ACCURACY, name) for name in FEATURE_SET_LABELS if name != PRIMARY_SET),
    Column("n", cell=lambda row: _sizes(row.measured.values())),
)

HEADLINE_COLUMNS = (
    Column("Method", align="left", cell=lambda row: row.label),
    Column("Reads", align="left", cell=lambda row: row.reads),
    Column("Reported", cell=lambda row: row.reported_accuracy),
    *(
        Column(f"Measured, {label}", cell=partial(_accuracy_on, feature_set=name))
        for name, label in FEATURE_SET_LABELS.items()
    ),
)
"""What the README shows of the methods table."""

SCORE_QUANTITIES = (
    Quantity("balanced_accuracy", "Balanced accuracy"),
    Quantity("accuracy_abstaining_on_unknown", "Accuracy if abstaining on unknown is right"),
    Quantity("brier", "Brier score", three_decimals),
    Quantity("log_loss", "Log loss", three_decimals),
    Quantity("calibration_error", "Calibration error", three_decimals),
    Quantity("calibration_floor", "Its floor", three_decimals),
)
"""What the table of scores shows of every feature set."""

SCORE_COLUMNS = (
    Column("Method", align="left", cell=lambda row: method_label(row.method)),
    Column("Features", align="left", cell=lambda row: FEATURE_SET_LABELS[row.feature_set]),
    *map(_score_column, SCORE_QUANTITIES),
    Column("n", cell=lambda row: _sizes([row.estimates])),
)
