"""Tables per category: precision, recall and F1 of methods, and the confusions of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.captions import development_note
from failbench.reporting.cells import (
    ABSENT,
    Estimate,
    Measured,
    one_decimal,
    percent,
    with_interval,
)
from failbench.reporting.labels import CATEGORY_LABELS, SHORT_LABELS, in_label_order, method_label
from failbench.reporting.reported import (
    CategoriesTable,
    Reported,
    ReportedCategory,
    reported_number,
)
from failbench.reporting.table import Column, Table
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.per_category.results import MERGED
from failbench.vocabulary import ABSTAIN, CATEGORIES, Category

RULES = "improved_rules"
"""The method whose confusions the paper's Table 5 counts."""

SCORES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}

REPORTED_LABEL = "Classifiers, reported"

SCORES_NOTE = (
    "Percent, on the paper's 19 features, each score computed per repeat and averaged, with "
    "{interval:g} % intervals by resampling scenarios within categories, then their seeds; "
    "Wilson's interval from {wilson_from:g} % upwards, where all resamples agree, and for a "
    "precision among fewer than {wilson_below} scenarios. n in a cell of precision: the scenarios "
    "for which the method names the category, mean over seeds and repeats; recall and F1: the n "
    "above. –: never named, so that it has no precision; its F1 is zero. An abstention is never "
    "right."
)
REPORTED_NOTE = (
    'Reported: {place}, on the paper\'s own scenarios, for "machine learning classifiers" and not '
    "for one of them; it has intervals for F1 alone."
)
CONFUSION_NOTE = (
    "Scenarios of each actual category, each the mean over its runs, by the category that the "
    "improved rules name; measured: means over seeds and repeats of the main study. Abstained: no "
    "category named. Both: unknown or abstained, as the paper's last column has it. Recall in "
    "percent with {interval:g} % intervals by resampling the n scenarios, then their seeds; to "
    "abstain on an unknown scenario is no hit here, and in the paper's table it is."
)
AUDIT_NOTE = (
    "The reported table ({place}) has {right} of {all} right, {accuracy} %, and {both} cases in "
    "its last column; elsewhere the paper has {claimed} % right and {abstained} % abstained, which "
    "would be {claimed_cases:.0f} and {abstained_cases:.0f} cases."
)


@dataclass(frozen=True)
class ScoreRow:
    """A row of the table of scores: what a score is of each category, reported or measured."""

    score: str
    label: str
    cells: Mapping[Category, str]


@dataclass(frozen=True)
class ConfusionRow:
    """A row of the table of confusions."""

    category: Category
    reported: tuple[int, ...]
    measured: Mapping[str, float]
    recall: Estimate | None

    @property
    def right(self) -> int:
        """The count on the diagonal of the reported table."""
        return self.reported[CATEGORIES.index(self.category)]


def _score_column(category: Category, scenarios: int) -> Column:
    return Column(
        f"{CATEGORY_LABELS[category]} (n = {scenarios})", cell=lambda row: row.cells[category]
    )


SCORE_COLUMNS = (
    Column("Score", align="left", cell=lambda row: SCORES[row.score]),
    Column("Method", align="left", cell=lambda row: row.label),
)


def _count_column(position: int, heading: str) -> Column:
    return Column(heading, "reported", cell=lambda row: str(row.reported[position]))


def _answer_column(answer: str, heading: str) -> Column:
    return Column(
        heading,
        "measured",
        cell=lambda row: one_decimal(row.measured[answer]) if answer in row.measured else ABSENT,
    )


CONFUSION_COLUMNS = (
    Column("Actual", align="left", cell=lambda row: CATEGORY_LABELS[row.category]),
    *(
        _count_column(position, SHORT_LABELS[category])
        for position, category in enumerate(CATEGORIES[:-1])
    ),
    _count_column(-1, "both"),
    Column("recall", "reported", cell=lambda row: percent(row.right / sum(row.reported))),
    *(_answer_column(category, SHORT_LABELS[category]) for category in CATEGORIES),
    _answer_column(ABSTAIN, "abstained"),
    _answer_column(MERGED, "both"),
    Column("recall", "measured", cell=lambda row: _measured_score(row.recall, "recall")),
    Column("n", "measured", cell=lambda row: _scenarios(row.recall)),
)


def scores_by_category(
    measured: Measured, precisions: Measured, paper: Reported, settings: ScenarioIntervalSettings
) -> Table:
    """Precision, recall and F1 of every method on the paper's features, reported first."""
    reported = paper.tables.per_category
    return Table.of(
        "per_category",
        (*SCORE_COLUMNS, *(_score_column(*size) for size in _sizes(measured).items())),
        [
            row
            for score in SCORES
            for row in (_reported_row(reported, score), *_rows(measured, precisions, score))
        ],
        "How often each method is right when it names a category, and how much of it it finds.",
        (
            SCORES_NOTE.format(
                interval=100 * settings.confidence,
                wilson_from=100 * settings.wilson_from,
                wilson_below=settings.wilson_below,
            ),
            REPORTED_NOTE.format(place=reported.place),
            *development_note(measured.get(PRIMARY_SET, {})),
        ),
    )


def _sizes(measured: Measured) -> dict[Category, int]:
    """Scenarios of each category, which are the same for all methods; 0 where none is measured."""
    methods = measured.get(PRIMARY_SET, {}).values()
    sizes = {}
    for category in CATEGORIES:
        recall = f"recall_{category}"
        measured_n = (estimates[recall]["n"] for estimates in methods if recall in estimates)
        sizes[category] = int(max(measured_n, default=0))
    return sizes


def _scenarios(recall: Estimate | None) -> str:
    return ABSENT if recall is None else str(int(recall["n"]))


def _reported_row(reported: CategoriesTable, score: str) -> ScoreRow:
    cells = {
        category: _reported_score(reported.rows.get(category), score) for category in CATEGORIES
    }
    return ScoreRow(score, REPORTED_LABEL, cells)


def _rows(measured: Measured, precisions: Measured, score: str) -> list[ScoreRow]:
    """A row per method."""
    methods = measured.get(PRIMARY_SET, {})
    rows = []
    for method in in_label_order(methods):
        estimates = {**methods[method], **precisions.get(PRIMARY_SET, {}).get(method, {})}
        cells = {
            category: _measured_score(estimates.get(f"{score}_{category}"), score)
            for category in CATEGORIES
        }
        rows.append(ScoreRow(score, method_label(method), cells))
    return rows


def confusion_of_rules(
    confusions: pl.DataFrame, measured: Measured, paper: Reported, *, confidence: float
) -> Table:
    """The confusions of the improved rules on the paper's features, reported beside measured."""
    of_rules = confusions.filter(pl.col("method") == RULES, pl.col("feature_set") == PRIMARY_SET)
    recalls = measured.get(PRIMARY_SET, {}).get(RULES, {})
    rows = [
        ConfusionRow(
            category,
            paper.tables.confusion.rows[category],
            dict(of_rules.filter(category=category).select("answer", "scenarios").rows()),
            recalls.get(f"recall_{category}"),
        )
        for category in CATEGORIES
    ]
    return Table.of(
        "confusion",
        CONFUSION_COLUMNS,
        rows,
        "What the improved rules take each category for.",
        (CONFUSION_NOTE.format(interval=100 * confidence), _audit_note(rows, paper)),
    )


def _audit_note(rows: list[ConfusionRow], paper: Reported) -> str:
    """The reported confusions held against what the paper says of the same rules elsewhere."""
    cases = sum(sum(row.reported) for row in rows)
    right = sum(row.right for row in rows)
    claimed = reported_number(paper, "improved_rules_accuracy")
    abstained = reported_number(paper, "improved_rules_abstention")
    return AUDIT_NOTE.format(
        place=paper.tables.confusion.place,
        right=right,
        all=cases,
        accuracy=percent(right / cases),
        both=sum(row.reported[-1] for row in rows),
        claimed=percent(claimed),
        abstained=percent(abstained),
        claimed_cases=claimed * cases,
        abstained_cases=abstained * cases,
    )


def _reported_score(row: ReportedCategory | None, score: str) -> str:
    if row is None:
        return ABSENT
    if score == "f1":
        return with_interval(row.f1, *row.interval)
    return percent(row.precision if score == "precision" else row.recall)


def _measured_score(estimate: Estimate | None, score: str) -> str:
    if estimate is None:
        return ABSENT
    text = with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"])
    return f"{text}, n = {int(estimate['n'])}" if score == "precision" else text
