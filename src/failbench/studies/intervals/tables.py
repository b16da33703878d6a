"""Tables of intervals: reported numbers beside measured ones, for the README and for a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.captions import SCALE_NOTE
from failbench.reporting.cells import (
    ABSENT,
    Estimate,
    Measured,
    one_decimal,
    percent,
    three_decimals,
    with_interval,
)
from failbench.reporting.labels import (
    FEATURE_SET_LABELS,
    in_label_order,
    method_label,
    reads_label,
    told_the_truth,
)
from failbench.reporting.reported import (
    REPORTED_HYBRIDS,
    Reported,
    ReportedMethod,
    reported_number,
)
from failbench.reporting.table import Column, Divider, Table

Estimates = Mapping[str, Estimate]
"""By metric, of one method on one feature set."""


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


@dataclass(frozen=True)
class MethodRow:
    """A row of the methods table.

    Attributes
    ----------
    label, reads
        What the method is called, and what its answers rest on.
    reported
        Its row of the paper's Table 1, if it has one.
    reported_accuracy
        As the paper prints it, wherever it does.
    measured
        Estimates by feature set.
    """

    label: str
    reads: str
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


def _accuracy_on(row: MethodRow, feature_set: str) -> str:
    return ACCURACY.cell(row.measured[feature_set])


def _score_column(quantity: Quantity) -> Column:
    return Column(quantity.heading, cell=lambda row: quantity.cell(row.estimates))


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

ASSUMED = Divider("Handed the true category:")
"""Above the methods that are assumptions and no diagnoses."""

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
    "Measured: the category named for the recorded failures of n scenarios, {runs} runs of {seeds} "
    "seeds, with {interval:g} % intervals by resampling scenarios within categories, then their "
    "seeds; nested cross-validation, {repeats} repeats of {folds} folds by scenario, each fit on "
    "the runs of all seeds of its training scenarios; an abstention is never right. 19: the "
    "paper's features; 19 + keywords: with the presence of words in the error text. Both sets of "
    "rules and the hybrids read the error text itself under either; methods on raw series (all "
    "that each step logs but its seconds, by MiniRocket) and raw error text (TF-IDF) read no "
    "features, and are the same under both."
)
TRUTH_NOTE = (
    "Methods that diagnose never saw the scenario they are tested on. Those handed the true "
    "category are no diagnoses: a simulated person is assumed to be right as often as the paper's "
    "skill levels say (70.5 % on average), and answers for the three-way hybrid where neither "
    "rules nor forest are sure."
)
CONDITIONS_NOTE = (
    "Conditions to read: how many a reader must check to verify a diagnosis, on average. Rules "
    "and single trees: the tests on the path to the answer, and one for each rule of a list that "
    "was passed over. Logistic regression, EBM and raw telemetry: the fewest terms that make 95 % "
    "of the answer's score. Forests and boosted trees: the tests on the paths through all trees. "
    "Language models: the values that the answer cites. Hybrids: those of the rules or the forest; "
    "of the three-way hybrid that is the minority of runs that no person answered."
)
REPORTED_NOTE = (
    "Reported: the paper's own figures, on its own scenarios, with its 95 % intervals (Table 1; "
    "the hybrids from Section 6.2 and Figure 8); ± is a standard deviation; interpretable and "
    "quality (of explanations, 1 to 5) as the paper judges them. –: not measured, or not reported."
)
MAJORITY_NOTE = (
    "Majority category: what naming the most frequent category of all {n} scenarios would score."
)
SCORES_NOTE = (
    "Brier score: squared error summed over categories, from 0 to 2. Log loss: in nats. "
    "Calibration error: between the confidence of answers and how often they are right, in ten "
    "bins; its floor is what a perfectly calibrated method with the same confidences would show "
    "at this n. –: not measured."
)


@dataclass(frozen=True)
class Design:
    """How often and on what methods were tested, for the notes.

    Attributes
    ----------
    folds, repeats
        Of the cross-validation.
    runs, seeds
        How many runs were predicted, and how many seeds they have.
    majority
        Share of the most frequent category, and the number of scenarios.
    """

    folds: int
    repeats: int
    runs: int
    seeds: int
    majority: Estimate

    @classmethod
    def of(cls, predictions: pl.DataFrame) -> Design:
        """The design of the study that some predictions belong to."""
        scenarios = predictions.select("category", "scenario").unique()
        largest = scenarios.group_by("category").len()["len"].to_numpy().max()
        majority = {"value": float(largest) / scenarios.height, "n": scenarios.height}
        folds, repeats, runs, seeds = (
            predictions[name].n_unique() for name in ("fold", "repeat", "run_id", "seed")
        )
        return cls(folds, repeats, runs, seeds, majority)


def methods_table(
    measured: Measured, paper: Reported, design: Design, *, confidence: float
) -> Table:
    """The results of every method, reported beside measured.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    paper
        The numbers that the paper prints.
    design
        Of the study, for the notes and the row of the majority category.
    confidence
        Of the measured intervals, as a fraction.

    Returns
    -------
    Table
        A row per method: first all those of the paper's Table 1 in its order, measured or not, then
        those that it has not, then what needs no method, then those that are handed the truth.

    Raises
    ------
    BadInputError
        If ``paper`` lacks a claim about a hybrid, or a method was measured that has no label.
    """
    return Table.of(
        "methods",
        METHODS_COLUMNS,
        _rows(measured, paper, design),
        "How often each method names the right cause, and what a reader must check to verify it.",
        (
            f"Percent, but for conditions and quality. {_measured_note(design, confidence)}",
            TRUTH_NOTE,
            CONDITIONS_NOTE,
            f"{REPORTED_NOTE} {MAJORITY_NOTE.format(n=design.majority['n'])}",
            SCALE_NOTE,
        ),
    )


def headline_table(
    measured: Measured, paper: Reported, design: Design, *, confidence: float
) -> Table:
    """The accuracies of the methods table alone, for the README; parameters are the same."""
    return Table.of(
        "headline",
        HEADLINE_COLUMNS,
        _rows(measured, paper, design),
        f"How often each method names the right cause of a failure ({design.majority['n']} "
        f"scenarios), in percent.",
        (_measured_note(design, confidence), TRUTH_NOTE, SCALE_NOTE),
    )


def _rows(measured: Measured, paper: Reported, design: Design) -> list[MethodRow | Divider]:
    reported = paper.tables.methods.rows
    methods = [*reported, *(name for name in _methods(measured) if name not in reported)]
    rows = {
        method: MethodRow(
            method_label(method),
            reads_label(method),
            reported.get(method),
            _reported_accuracy(method, paper),
            {name: _estimates(measured, name, method) for name in FEATURE_SET_LABELS},
        )
        for method in methods
    }
    majority = MethodRow(
        "Majority category",
        "nothing",
        None,
        ABSENT,
        {name: {"accuracy": design.majority} for name in FEATURE_SET_LABELS},
    )
    return [
        *(row for method, row in rows.items() if not told_the_truth(method)),
        majority,
        ASSUMED,
        *(row for method, row in rows.items() if told_the_truth(method)),
    ]


def scores_table(measured: Measured, design: Design, *, confidence: float) -> Table:
    """What the methods table leaves out: balance over categories, probabilities, calibration.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    design
        Of the study, for the notes.
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
        (
            f"Percent in the first two. {_measured_note(design, confidence)}",
            TRUTH_NOTE,
            SCORES_NOTE,
        ),
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


def _measured_note(design: Design, confidence: float) -> str:
    return MEASURED_NOTE.format(
        interval=100 * confidence,
        repeats=design.repeats,
        folds=design.folds,
        runs=design.runs,
        seeds=design.seeds,
    )
