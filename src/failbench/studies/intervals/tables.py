"""Tables of intervals: reported numbers beside measured ones, for the README and for a paper."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.reporting.captions import development_note
from failbench.reporting.cells import Estimate, Measured
from failbench.reporting.reported import Reported
from failbench.reporting.scope import Scope, scale_of
from failbench.reporting.table import Table
from failbench.studies.intervals.columns import HEADLINE_COLUMNS, METHODS_COLUMNS, SCORE_COLUMNS
from failbench.studies.intervals.rows import method_rows, score_rows

MEASURED_NOTE = (
    "Measured: the category named for the recorded failures of n scenarios, {runs} runs of {seeds} "
    "seeds in {setting}, with {interval:g} % intervals by resampling scenarios within categories, "
    "then their seeds; nested cross-validation, {repeats} repeats of {folds} folds by scenario, "
    "each fit on the runs of all seeds of its training scenarios; an abstention is never right. "
    "19: the paper's features; 19 + keywords: with the presence of words in the error text. Both "
    "sets of rules and the hybrids read the error text itself under either; methods on raw series "
    "(all that each step logs but its seconds, by MiniRocket) and raw error text (TF-IDF) read no "
    "features, and are the same under both."
)
TRUTH_NOTE = (
    "No method was fitted to the scenario that it is tested on. Those handed the true "
    "category are no diagnoses: a simulated person is assumed to be right as often as the paper's "
    "skill levels say (70.5 % on average), and answers for the three-way hybrid where neither "
    "rules nor forest are sure."
)
CONDITIONS_NOTE = (
    "Conditions to read: how many a reader must check to verify a diagnosis, on average. Rules "
    "and single trees: the tests on the path to the answer, and one for each rule of a list that "
    "was passed over. Logistic regression, EBM and raw telemetry: the fewest terms that make 95 % "
    "of the answer's score. Forests and boosted trees: the tests on the paths through all trees. "
    "Language models: the values that the answer cites. Hybrids: those of the member that answers; "
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
    """How often and on what methods were tested, for the notes."""

    folds: int
    repeats: int
    runs: int
    seeds: int
    majority: Estimate
    setting: str = ""
    scale: tuple[str, ...] = ()

    @classmethod
    def of(cls, predictions: pl.DataFrame, recorded: pl.DataFrame | None = None) -> Design:
        """The design of the study that some predictions belong to, and how large its runs are."""
        scenarios = predictions.select("category", "scenario").unique()
        largest = scenarios.group_by("category").len()["len"].to_numpy().max()
        majority = {"value": float(largest) / scenarios.height, "n": scenarios.height}
        scope = Scope.of(predictions)
        scale: tuple[str, ...] = ()
        if recorded is not None:
            scale = (scale_of(recorded.join(predictions, on="run_id", how="semi")),)
        design = (scope.folds, scope.repeats, scope.runs, scope.seeds, majority)
        return cls(*design, scope.setting, scale)


def methods_table(
    measured: Measured, paper: Reported, design: Design, *, confidence: float
) -> Table:
    """The results of every method, reported beside measured."""
    return Table.of(
        "methods",
        METHODS_COLUMNS,
        method_rows(measured, paper, design.majority),
        "How often each method names the right one of five categories of cause, and what a reader "
        "must check to verify it.",
        (
            f"Percent, but for conditions and quality. {_measured_note(design, confidence)}",
            _sight_note(measured),
            CONDITIONS_NOTE,
            f"{REPORTED_NOTE} {MAJORITY_NOTE.format(n=design.majority['n'])}",
            *design.scale,
        ),
    )


def headline_table(
    measured: Measured, paper: Reported, design: Design, *, confidence: float
) -> Table:
    """The accuracies of the methods table alone, for the README; parameters are the same."""
    return Table.of(
        "headline",
        HEADLINE_COLUMNS,
        method_rows(measured, paper, design.majority),
        f"How often each method names the right one of five categories of cause "
        f"({design.majority['n']} scenarios), in percent.",
        (_measured_note(design, confidence), _sight_note(measured), *design.scale),
    )


def scores_table(measured: Measured, design: Design, *, confidence: float) -> Table:
    """What the methods table leaves out: balance over categories, probabilities, calibration."""
    return Table.of(
        "scores",
        SCORE_COLUMNS,
        score_rows(measured),
        "How well each method does over categories of any size, and what its confidence is worth.",
        (
            f"Percent in the first two. {_measured_note(design, confidence)}",
            _sight_note(measured),
            SCORES_NOTE,
        ),
    )


def _sight_note(measured: Measured) -> str:
    """What methods, or those who made them, knew of the scenarios that they are tested on."""
    methods = (method for of_set in measured.values() for method in of_set)
    return " ".join((TRUTH_NOTE, *development_note(methods)))


def _measured_note(design: Design, confidence: float) -> str:
    return MEASURED_NOTE.format(
        interval=100 * confidence,
        repeats=design.repeats,
        folds=design.folds,
        runs=design.runs,
        seeds=design.seeds,
        setting=design.setting,
    )
