"""Per category: precision, recall and F1 of every method, and the confusions of the rules."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.cells import ABSENT, Measured, one_decimal, percent, with_interval
from failbench.reporting.labels import CATEGORY_LABELS, SHORT_LABELS, in_label_order, method_label
from failbench.reporting.reported import ReportedCategory, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.scenarios import COUNTS
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.per_category.results import MERGED
from failbench.vocabulary import ANSWERS, CATEGORIES

RULES = "improved_rules"
"""The method whose confusions the paper's Table 5 counts."""

SCORES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}

REPORTED_LABEL = "Classifiers, reported"

SCORES_NOTE = (
    "Percent, on the paper's 19 features, each score computed per repeat and averaged, with "
    "{interval:g} % intervals by resampling scenarios within categories; Wilson's interval from "
    "{wilson_from:g} % upwards, where all resamples agree, and for a precision among fewer than "
    "{wilson_below} scenarios. n in a cell of precision: the scenarios for which the method names "
    "the category, mean over repeats; recall and F1: the n above. –: never named, so that it has "
    "no precision; its F1 is zero. An abstention is never right."
)
REPORTED_NOTE = (
    'Reported: {place}, on the paper\'s own scenarios, for "machine learning classifiers" and not '
    "for one of them; it has intervals for F1 alone."
)
CONFUSION_NOTE = (
    "Scenarios of each actual category by the category that the improved rules name; measured: "
    "means over repeats of the main study. Abstained: no category named. Both: unknown or "
    "abstained, as the paper's last column has it. Recall in percent with {interval:g} % intervals "
    "by resampling the n scenarios; to abstain on an unknown scenario is no hit here, and in the "
    "paper's table it is."
)
AUDIT_NOTE = (
    "The reported table ({place}) has {right} of {all} right, {accuracy} %, and {both} cases in "
    "its last column; elsewhere the paper has {claimed} % right and {abstained} % abstained, which "
    "would be {claimed_cases:.0f} and {abstained_cases:.0f} cases."
)


def scores_by_category(
    measured: Measured,
    precisions: Measured,
    reported: Mapping[str, object],
    settings: IntervalSettings,
) -> Table:
    """Precision, recall and F1 of every method on the paper's features, reported first.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    precisions
        The same of ``data/metrics/per_category.json``.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        How the measured intervals were made.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or a method
        was measured that has no label.
    """
    paper = validate_reported(reported).tables.per_category
    methods = measured.get(PRIMARY_SET, {})
    rows = []
    for score, label in SCORES.items():
        cells = (_reported_score(paper.rows.get(category), score) for category in CATEGORIES)
        rows.append((label, REPORTED_LABEL, *cells))
        for method in in_label_order(methods):
            estimates = {**methods[method], **precisions.get(PRIMARY_SET, {}).get(method, {})}
            found = (estimates.get(f"{score}_{category}") for category in CATEGORIES)
            rows.append((label, method_label(method), *(_score(one, score) for one in found)))
    return Table(
        "per_category",
        (
            Column("Score", align="left"),
            Column("Method", align="left"),
            *(Column(f"{CATEGORY_LABELS[one]} (n = {COUNTS[one]})") for one in CATEGORIES),
        ),
        tuple(rows),
        "How often each method is right when it names a category, and how much of it it finds.",
        (
            SCORES_NOTE.format(
                interval=100 * settings.confidence,
                wilson_from=100 * settings.wilson_from,
                wilson_below=settings.wilson_below,
            ),
            REPORTED_NOTE.format(place=paper.place),
        ),
    )


def confusion_of_rules(
    confusions: pl.DataFrame,
    measured: Measured,
    reported: Mapping[str, object],
    *,
    confidence: float,
) -> Table:
    """The confusions of the improved rules on the paper's features, reported beside measured.

    Parameters
    ----------
    confusions
        As :func:`failbench.studies.per_category.results.confusion_table` returns them.
    measured, reported
        See :func:`scores_by_category`.
    confidence
        Of the measured intervals, as a fraction.
    """
    paper = validate_reported(reported)
    counts = paper.tables.confusion.rows
    mine = confusions.filter(pl.col("method") == RULES, pl.col("feature_set") == PRIMARY_SET)
    found = {row[:2]: row[2] for row in mine.select("category", "answer", "scenarios").rows()}
    recalls = measured.get(PRIMARY_SET, {}).get(RULES, {})
    rows = []
    for position, category in enumerate(CATEGORIES):
        own = counts[category]
        rows.append(
            (
                CATEGORY_LABELS[category],
                *(str(count) for count in own),
                percent(own[position] / sum(own)),
                *(
                    one_decimal(found[category, one]) if (category, one) in found else ABSENT
                    for one in (*ANSWERS, MERGED)
                ),
                _score(recalls.get(f"recall_{category}"), "recall"),
                str(COUNTS[category]),
            )
        )
    everything = sum(map(sum, counts.values()))
    right = sum(counts[category][position] for position, category in enumerate(CATEGORIES))
    claimed = reported_number(paper, "improved_rules_accuracy")
    abstained = reported_number(paper, "improved_rules_abstention")
    return Table(
        "confusion",
        (
            Column("Actual", align="left"),
            *(Column(SHORT_LABELS[one], "reported") for one in CATEGORIES[:-1]),
            Column("both", "reported"),
            Column("recall", "reported"),
            *(Column(SHORT_LABELS[one], "measured") for one in CATEGORIES),
            *(Column(one, "measured") for one in ("abstained", "both", "recall", "n")),
        ),
        tuple(rows),
        "What the improved rules take each category for.",
        (
            CONFUSION_NOTE.format(interval=100 * confidence),
            AUDIT_NOTE.format(
                place=paper.tables.confusion.place,
                right=right,
                all=everything,
                accuracy=percent(right / everything),
                both=sum(row[-1] for row in counts.values()),
                claimed=percent(claimed),
                abstained=percent(abstained),
                claimed_cases=claimed * everything,
                abstained_cases=abstained * everything,
            ),
        ),
    )


def _reported_score(row: ReportedCategory | None, score: str) -> str:
    if row is None:
        return ABSENT
    if score == "f1":
        return with_interval(row.f1, *row.interval)
    return percent(row.precision if score == "precision" else row.recall)


def _score(estimate: Mapping[str, float] | None, score: str) -> str:
    if estimate is None:
        return ABSENT
    text = with_interval(estimate["value"], estimate["ci_low"], estimate["ci_high"])
    return f"{text}, n = {int(estimate['n'])}" if score == "precision" else text
