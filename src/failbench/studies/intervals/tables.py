"""Tables of intervals: reported numbers beside measured ones, for the README and for a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.cells import (
    ABSENT,
    Estimate,
    Measured,
    one_decimal,
    percent,
    three_decimals,
    with_interval,
)
from failbench.reporting.labels import FEATURE_SET_LABELS, in_label_order, method_label
from failbench.reporting.reported import (
    REPORTED_HYBRIDS,
    Reported,
    ReportedMethod,
    reported_number,
)
from failbench.reporting.table import Column, Table

Estimates = Mapping[str, Estimate]
"""By metric, of one method on one feature set."""


@dataclass(frozen=True)
class Quantity:
    """A metric that a table shows: its key, its heading and how its numbers are written."""

    metric: str
    heading: str
    form: Callable[[float], str] = percent

    def cell(self, estimates: Estimates) -> str:
        """The estimate with its interval, or a dash."""
        estimate = estimates.get(self.metric)
        if estimate is None:
            return ABSENT
        return with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"], self.form)


@dataclass(frozen=True)
class MethodRow:
    """A row of the methods table.

    Attributes
    ----------
    method
        Its name.
    reported
        Its row of the paper's Table 1, if it has one.
    reported_accuracy
        As the paper prints it, wherever it does.
    measured
        Estimates by feature set.
    """

    method: str
    reported: ReportedMethod | None
    reported_accuracy: str
    measured: Mapping[str, Estimates]


@dataclass(frozen=True)
class ScoreRow:
    """A row of the table of scores: a method on a feature set."""

    method: str
    feature_set: str
    estimates: Estimates


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


def _score_column(quantity: Quantity) -> Column:
    return Column(quantity.heading, cell=lambda row: quantity.cell(row.estimates))


ACCURACY = Quantity("accuracy", "Accuracy")

PRIMARY_QUANTITIES = (
    ACCURACY,
    Quantity("abstention_rate", "Abstention"),
    Quantity("accuracy_when_committed", "Accuracy when committed"),
    Quantity("macro_f1", "Macro-F1"),
    Quantity("conditions_to_read", "Conditions to read", one_decimal),
)
"""What the methods table shows of the paper's features; of other feature sets, accuracy alone."""

METHODS_COLUMNS = (
    Column("Method", align="left", cell=lambda row: method_label(row.method)),
    Column("Accuracy", "reported", cell=lambda row: row.reported_accuracy),
    Column("Abstention", "reported", cell=_of_paper(_abstention)),
    Column("Interpretable", "reported", cell=_of_paper(lambda reported: reported.interpretable)),
    Column("Quality", "reported", cell=_of_paper(_quality)),
    *(_measured_column(quantity, PRIMARY_SET) for quantity in PRIMARY_QUANTITIES),
    *(_measured_column(ACCURACY, name) for name in FEATURE_SET_LABELS if name != PRIMARY_SET),
    Column("n", cell=lambda row: _sizes(row.measured.values())),
)

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

MEASURED_NOTE = (
    "Measured: the category named for n recorded failures, one a scenario, each by a model that "
    "never saw its scenario (nested cross-validation, repeated; an abstention is never right), "
    "with {interval:g} % intervals by resampling scenarios within categories. 19: the paper's "
    "features; 19 + keywords: with the presence of words in the error text. Methods on raw series "
    "(all that each step logs but its seconds, by MiniRocket) and raw error text (TF-IDF) read no "
    "features, and are the same under both."
)
CONDITIONS_NOTE = (
    "Conditions to read: how many a reader must check to verify a diagnosis, on average. Rules "
    "and single trees: the tests on the path to the answer, and one for each rule of a list that "
    "was passed over. Logistic regression, EBM and raw telemetry: the fewest terms that make 95 % "
    "of the answer's score. Forests and boosted trees: the tests on the paths through all trees. "
    "Language models: the values that the answer cites. Hybrids: those of whoever answered, if it "
    "was no person."
)
REPORTED_NOTE = (
    "Reported: the paper's own figures, on its own scenarios, with its 95 % intervals (Table 1; "
    "the hybrids from Section 6.2 and Figure 8); ± is a standard deviation; interpretable and "
    "quality (of explanations, 1 to 5) as the paper judges them. –: not measured, or not reported."
)
SCORES_NOTE = (
    "Brier score: squared error summed over categories, from 0 to 2. Log loss: in nats. "
    "Calibration error: between the confidence of answers and how often they are right, in ten "
    "bins; its floor is what a perfectly calibrated method with the same confidences would show "
    "at this n. –: not measured."
)


def methods_table(measured: Measured, paper: Reported, *, confidence: float) -> Table:
    """The results of every method, reported beside measured.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    paper
        The numbers that the paper prints.
    confidence
        Of the measured intervals, as a fraction.

    Returns
    -------
    Table
        A row per method: first all those of the paper's Table 1 in its order, measured or not, then
        those that it has not.

    Raises
    ------
    BadInputError
        If ``paper`` lacks a claim about a hybrid, or a method was measured that has no label.
    """
    reported = paper.tables.methods.rows
    others = [method for method in _methods(measured) if method not in reported]
    return Table.of(
        "methods",
        METHODS_COLUMNS,
        [
            MethodRow(
                method,
                reported.get(method),
                _reported_accuracy(method, paper),
                {name: _estimates(measured, name, method) for name in FEATURE_SET_LABELS},
            )
            for method in (*reported, *others)
        ],
        "How often each method names the right cause, and what a reader must check to verify it.",
        (
            f"Percent, but for conditions and quality. {_measured_note(confidence)}",
            CONDITIONS_NOTE,
            REPORTED_NOTE,
        ),
    )


def scores_table(measured: Measured, *, confidence: float) -> Table:
    """What the methods table leaves out: balance over categories, probabilities, calibration.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    confidence
        Of the measured intervals, as a fraction.

    Returns
    -------
    Table
        A row per measured method and feature set.

    Raises
    ------
    BadInputError
        If a method was measured that has no label.
    """
    return Table.of(
        "scores",
        SCORE_COLUMNS,
        [
            ScoreRow(method, feature_set, estimates)
            for method in _methods(measured)
            for feature_set in FEATURE_SET_LABELS
            if (estimates := _estimates(measured, feature_set, method))
        ],
        "How well each method does over categories of any size, and what its confidence is worth.",
        (f"Percent in the first two. {_measured_note(confidence)}", SCORES_NOTE),
    )


def _methods(measured: Measured) -> list[str]:
    """The measured methods, in the order of their labels."""
    return in_label_order({method for methods in measured.values() for method in methods})


def _estimates(measured: Measured, feature_set: str, method: str) -> Estimates:
    return measured.get(feature_set, {}).get(method, {})


def _sizes(measurements: Iterable[Estimates]) -> str:
    sizes = {
        int(estimates["accuracy"]["n"]) for estimates in measurements if "accuracy" in estimates
    }
    return " / ".join(str(size) for size in sorted(sizes)) or ABSENT


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


def _measured_note(confidence: float) -> str:
    return MEASURED_NOTE.format(interval=100 * confidence)
