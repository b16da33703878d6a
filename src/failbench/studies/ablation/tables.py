"""Tables of the ablation: with some groups of signals only, and without one group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from failbench.methods.reduced_tree import ERROR_TEXT_SIGNAL
from failbench.reporting.cells import ABSENT, percent, signed, three_decimals, with_interval
from failbench.reporting.reported import AblationTable, Reported, ReportedAblation
from failbench.reporting.table import Column, Table
from failbench.studies.ablation.measure import FOREST, RULES
from failbench.studies.ablation.results import AblationSettings
from failbench.studies.ablation.variants import (
    REPORTED_ROWS,
    VARIANTS,
    kept_subsets,
    left_out_subsets,
    subset_label,
)


@dataclass(frozen=True)
class SubsetRow:
    """A row of a table: one method with one subset of its signals."""

    method: str
    features: str
    subset: str
    accuracy: dict[str, Any]
    abstention: dict[str, Any]
    reported: ReportedAblation | None


def _reported_accuracy(row: SubsetRow) -> str:
    return ABSENT if row.reported is None else percent(row.reported.accuracy)


def _reported_drop(row: SubsetRow) -> str:
    drop = None if row.reported is None else row.reported.drop
    return ABSENT if drop is None else _points(drop)


def _accuracy(row: SubsetRow) -> str:
    accuracy = row.accuracy
    return with_interval(accuracy["value"], accuracy["ci_low"], accuracy["ci_high"])


def _difference(row: SubsetRow) -> str:
    names = ("difference", "difference_low", "difference_high")
    value, low, high = (row.accuracy[name] for name in names)
    if value is None:
        return ABSENT
    if low is None or high is None:
        return _points(value)
    return with_interval(value, low, high, _points)


def _p_value(row: SubsetRow) -> str:
    p_value = row.accuracy["p_holm"]
    return ABSENT if p_value is None else three_decimals(p_value)


def _points(value: float) -> str:
    return signed(100 * value)


def _percent_or_absent(value: float | None) -> str:
    return ABSENT if value is None else percent(value)


LABELS = (
    Column("Method", align="left", cell=lambda row: row.method),
    Column("Features", align="left", cell=lambda row: row.features),
    Column("Signals", align="left", cell=lambda row: subset_label(row.subset)),
)
REPORTED = (
    Column("Accuracy", "reported", cell=_reported_accuracy),
    Column("Less all", "reported", cell=_reported_drop),
)
MEASURED = (
    Column("Accuracy", "measured", cell=_accuracy),
    Column("Abstention", "measured", cell=lambda row: percent(row.abstention["value"])),
    Column("Less all", "measured", cell=_difference),
    Column("p, Holm", "measured", cell=_p_value),
    Column(
        "Detectable",
        "measured",
        cell=lambda row: _percent_or_absent(row.accuracy["detectable_difference"]),
    ),
    Column(
        "Smallest margin",
        "measured",
        cell=lambda row: _percent_or_absent(row.accuracy["smallest_margin"]),
    ),
    Column("n", cell=lambda row: str(row.accuracy["n"])),
)

NOTE = (
    "Percent, and percentage points for what is less all signals, with {confidence:g} % intervals "
    "by resampling n scenarios within categories, then their seeds: first {repeats} repeats of the "
    "main study's folds, the same for all rows. p: corrected resampled t, with Holm's adjustment "
    "over all subsets of the method on its features ({tests} tests for the rules). Detectable: the "
    "smallest true difference from all signals found with a power of {power:g} % before "
    "adjustment; –: no fold differs, so that it cannot be told. Smallest margin: from which on two "
    "one-sided tests would show equivalence to all signals; the margin of the study is {margin:g} "
    "points."
)
READINGS_NOTE = (
    "Improved rules: signals of other groups are missing from the runs, in training too, and a "
    "leaf that asks for one of them abstains. Reduced tree: conditions on them are taken out of "
    "the tree, and what is left of a leaf's signals confirms it. Both read the error text, a group "
    "of its own; their thresholds come from successful runs. Random forest: fitted to the columns "
    "that are left, with the first values of its grid in place of a search; its error text is the "
    "keywords. It was chosen beforehand, as the paper's."
)
REPORTED_NOTE = (
    "Reported: the paper's improved rules on its own scenarios ({place}), printed beside both "
    "readings of them; it does not say what becomes of the other signals. –: not reported."
)


REPLACED_NOTE = (
    "What a forest loses that is fitted without the error text ({removal} points on 19 + keywords) "
    "is not what a fitted one loses when the text of a run is replaced ({drop} points, table "
    "importance): a forest that never had the text learns from other signals."
)


def ablation_tables(
    points: pl.DataFrame, importance: pl.DataFrame, paper: Reported, settings: AblationSettings
) -> tuple[Table, Table]:
    """With some groups of signals only, reported beside measured; and without one group."""
    reported = paper.tables.ablation
    notes = _notes(points, settings)
    kept = Table.of(
        "ablation",
        (*LABELS, *REPORTED, *MEASURED),
        _rows(points, kept_subsets(points), reported),
        "What is left of each method when it sees some groups of signals only.",
        (*notes, REPORTED_NOTE.format(place=reported.place)),
    )
    left_out = Table.of(
        "ablation_left_out",
        (*LABELS, *MEASURED),
        _rows(points, left_out_subsets(points), reported),
        "What is left of each method when one group of signals is taken away.",
        (*notes, _replaced_note(points, importance)),
    )
    return kept, left_out


def _notes(points: pl.DataFrame, settings: AblationSettings) -> tuple[str, str]:
    """What both tables say of their numbers."""
    of_rules = points.filter(pl.col("method") == RULES, pl.col("metric") == "accuracy")
    numbers = NOTE.format(
        confidence=100 * settings.confidence,
        repeats=settings.repeats,
        tests=of_rules["subset"].n_unique() - 1,
        power=100 * settings.power,
        margin=100 * settings.equivalence_margin,
    )
    return numbers, READINGS_NOTE


IMPORTANCE_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("feature_set", "method", "kind", "name"), pl.String()),
        "value": pl.Float64(),
    }
)
"""What is read of the points of importance."""


def _replaced_note(points: pl.DataFrame, importance: pl.DataFrame) -> str:
    """What the error text is worth by removal and by replacement, and why both differ."""
    removed = points.row(
        by_predicate=(pl.col("method") == FOREST)
        & (pl.col("feature_set") == "19+keywords")
        & (pl.col("subset") == f"without_{ERROR_TEXT_SIGNAL}")
        & (pl.col("metric") == "accuracy"),
        named=True,
    )
    replaced = importance.row(
        by_predicate=(pl.col("feature_set") == "19+keywords+trend")
        & (pl.col("method") == FOREST)
        & (pl.col("kind") == "group")
        & (pl.col("name") == ERROR_TEXT_SIGNAL),
        named=True,
    )
    return REPLACED_NOTE.format(
        removal=_points(removed["difference"]), drop=_points(-replaced["value"])
    )


def _rows(
    points: pl.DataFrame, subsets: Sequence[str], reported: AblationTable
) -> Iterator[SubsetRow]:
    rates = {
        (row["method"], row["feature_set"], row["subset"], row["metric"]): row
        for row in points.iter_rows(named=True)
    }
    for (method, feature_set), (label, features) in VARIANTS.items():
        for subset in subsets:
            accuracy = rates.get((method, feature_set, subset, "accuracy"))
            if accuracy is None:
                continue
            yield SubsetRow(
                label,
                features,
                subset,
                accuracy,
                rates[method, feature_set, subset, "abstention_rate"],
                # the paper has no ablation of a forest
                None if method == FOREST else reported.rows.get(REPORTED_ROWS.get(subset, "")),
            )
