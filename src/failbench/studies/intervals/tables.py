"""Tables: reported numbers beside measured ones, for the README and for a paper."""

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
    reported_number,
    validate_reported,
)
from failbench.reporting.table import Column, Table


@dataclass(frozen=True)
class Quantity:
    """A metric that a table shows: its key, its heading and how its numbers are written."""

    metric: str
    heading: str
    form: Callable[[float], str] = percent


PRIMARY_QUANTITIES = (
    Quantity("accuracy", "Accuracy"),
    Quantity("abstention_rate", "Abstention"),
    Quantity("accuracy_when_committed", "Accuracy when committed"),
    Quantity("macro_f1", "Macro-F1"),
    Quantity("conditions_to_read", "Conditions to read", one_decimal),
)
"""What the methods table shows of the paper's features; of other feature sets, accuracy alone."""

SCORE_QUANTITIES = (
    Quantity("balanced_accuracy", "Balanced accuracy"),
    Quantity("accuracy_abstaining_on_unknown", "Accuracy if abstaining on unknown is right"),
    Quantity("brier", "Brier score", three_decimals),
    Quantity("log_loss", "Log loss", three_decimals),
    Quantity("calibration_error", "Calibration error", three_decimals),
    Quantity("calibration_floor", "Its floor", three_decimals),
)
"""What the table of scores shows of every feature set."""

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


def methods_table(
    measured: Measured, reported: Mapping[str, object], *, confidence: float
) -> Table:
    """The results of every method, reported beside measured.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    reported
        The parsed ``data/reported/paper.yaml``.
    confidence
        Of the measured intervals, as a fraction.

    Returns
    -------
    Table
        A row a method: first all those of the paper's Table 1 in its order, measured or not, then
        those that it has not.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or a method
        was measured that has no label.
    """
    paper = validate_reported(reported)
    others = [name for name in FEATURE_SET_LABELS if name != PRIMARY_SET]
    columns = (
        Column("Method", align="left"),
        *(
            Column(one, "reported")
            for one in ("Accuracy", "Abstention", "Interpretable", "Quality")
        ),
        *(Column(one.heading, FEATURE_SET_LABELS[PRIMARY_SET]) for one in PRIMARY_QUANTITIES),
        *(Column(PRIMARY_QUANTITIES[0].heading, FEATURE_SET_LABELS[name]) for name in others),
        Column("n"),
    )
    rows = []
    for method in _in_order(measured, paper):
        row = paper.tables.methods.rows.get(method)
        primary = _estimates(measured, PRIMARY_SET, method)
        rows.append(
            (
                method_label(method),
                _reported_accuracy(method, paper),
                ABSENT if row is None or row.abstention is None else percent(row.abstention),
                ABSENT if row is None else row.interpretable,
                ABSENT if row is None or row.quality is None else one_decimal(row.quality),
                *(_cell(primary, one) for one in PRIMARY_QUANTITIES),
                *(
                    _cell(_estimates(measured, name, method), PRIMARY_QUANTITIES[0])
                    for name in others
                ),
                _size(_estimates(measured, name, method) for name in FEATURE_SET_LABELS),
            )
        )
    return Table(
        "methods",
        columns,
        tuple(rows),
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
        A row a measured method and feature set.

    Raises
    ------
    BadInputError
        If a method was measured that has no label.
    """
    rows = []
    for method in _labelled(measured):
        for name, heading in FEATURE_SET_LABELS.items():
            estimates = _estimates(measured, name, method)
            if estimates:
                cells = (_cell(estimates, one) for one in SCORE_QUANTITIES)
                rows.append((method_label(method), heading, *cells, _size([estimates])))
    return Table(
        "scores",
        (
            Column("Method", align="left"),
            Column("Features", align="left"),
            *(Column(one.heading) for one in SCORE_QUANTITIES),
            Column("n"),
        ),
        tuple(rows),
        "How well each method does over categories of any size, and what its confidence is worth.",
        (f"Percent in the first two. {_measured_note(confidence)}", SCORES_NOTE),
    )


def _labelled(measured: Measured) -> list[str]:
    """The measured methods, in the order of their labels."""
    found = {method for methods in measured.values() for method in methods}
    return in_label_order(found)


def _in_order(measured: Measured, paper: Reported) -> list[str]:
    in_paper = list(paper.tables.methods.rows)
    return [*in_paper, *(method for method in _labelled(measured) if method not in in_paper)]


def _estimates(measured: Measured, feature_set: str, method: str) -> Mapping[str, Estimate]:
    return measured.get(feature_set, {}).get(method, {})


def _cell(estimates: Mapping[str, Estimate], quantity: Quantity) -> str:
    one = estimates.get(quantity.metric)
    if one is None:
        return ABSENT
    return with_interval(one["value"], one["ci_low"], one["ci_high"], quantity.form)


def _size(measurements: Iterable[Mapping[str, Estimate]]) -> str:
    sizes = {int(one["accuracy"]["n"]) for one in measurements if "accuracy" in one}
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
