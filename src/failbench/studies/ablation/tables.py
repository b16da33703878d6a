"""Tables of the ablation: with some signals only, without one group, and two groups together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.signal_groups import ALL_GROUPS, SIGNAL_GROUPS
from failbench.reporting.cells import ABSENT, percent, signed, three_decimals, with_interval
from failbench.reporting.labels import FEATURE_SET_LABELS, GROUP_LABELS, METHOD_LABELS
from failbench.reporting.reported import AblationTable, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.ablation.measure import FOREST, REDUCED, RULES, AblationSettings
from failbench.studies.ablation.superadditivity import Interaction, reported_interactions

VARIANTS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    (RULES, PRIMARY_SET): (METHOD_LABELS[RULES], "19 + error text"),
    (REDUCED, PRIMARY_SET): (f"{METHOD_LABELS[RULES]}, reduced tree", "19 + error text"),
    **{
        (FOREST, name): (METHOD_LABELS[FOREST], label) for name, label in FEATURE_SET_LABELS.items()
    },
}
"""Methods and feature sets in the order of tables, with what they are called."""


REPORTED_ROWS: Final = {
    "memory": "memory",
    "perplexity": "perplexity",
    "vocabulary": "vocabulary",
    "memory+perplexity": "memory_and_perplexity",
    ALL_GROUPS: "full",
}
"""The subsets that the paper has, with the keys of its table."""

COLUMNS = (
    Column("Method", align="left"),
    Column("Features", align="left"),
    Column("Signals", align="left"),
    Column("Accuracy", "reported"),
    Column("Less all", "reported"),
    Column("Accuracy", "measured"),
    Column("Abstention", "measured"),
    Column("Less all", "measured"),
    Column("p, Holm", "measured"),
    Column("Detectable", "measured"),
    Column("Smallest margin", "measured"),
    Column("n"),
)

NOTE = (
    "Percent, and percentage points for what is less all signals, with {confidence:g} % intervals "
    "by resampling n scenarios within categories: first {repeats} repeats of the main study's "
    "folds, the same for all rows. p: corrected resampled t, with Holm's adjustment over all "
    "subsets of the method on its features ({tests} tests for the rules). Detectable: the smallest "
    "true difference from all signals found with a power of {power:g} % before adjustment; –: no "
    "fold differs, so that it cannot be told. Smallest margin: from which on two one-sided tests "
    "would show equivalence to all signals; the margin of the study is {margin:g} points."
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
INTERACTION_NOTE = (
    "Accuracies in percent. Surplus: points that both groups gain together over a baseline, less "
    "what each gains alone: v(both) – v(first) – v(second) + baseline, whose interval goes with "
    "it. The verdict stands at the baseline that a method has with no signal: the improved rules "
    "abstain (nothing), and the forest names the largest category (majority). Over a higher "
    "baseline even two groups that tell nothing would have a surplus. Measured: "
    "{confidence:g} % intervals by resampling n scenarios within categories. Reported: an interval "
    "for three independent sets of answers, as those behind the accuracies are not published."
)


def reported_surplus(reported: Mapping[str, object], confidence: float) -> tuple[Interaction, ...]:
    """The interaction of memory and perplexity in the paper's own figures.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says, or lacks one
        of the numbers.
    """
    paper = validate_reported(reported)
    first, second, both = (
        paper.tables.ablation.rows[REPORTED_ROWS[subset]].accuracy
        for subset in ("memory", "perplexity", "memory+perplexity")
    )
    n = reported_number(paper, "scenarios")
    majority = reported_number(paper, "scenarios_memory_hardware") / n
    return reported_interactions(
        first, second, both, int(n), majority, confidence, RULES, "nothing"
    )


def subset_label(subset: str) -> str:
    """What a subset of the signals is called.

    >>> subset_label("memory+perplexity"), subset_label("without_error_text")
    ('memory + perplexity', 'without error text')
    """
    if subset.startswith("without_"):
        return f"without {GROUP_LABELS[subset.removeprefix('without_')]}"
    return " + ".join(GROUP_LABELS[group] for group in subset.split("+"))


def kept_subsets(points: pl.DataFrame) -> list[str]:
    """The subsets that keep groups, in the order of the groups; all signals come last."""
    found = {name for name in points["subset"] if not name.startswith("without_")} - {ALL_GROUPS}

    def position(subset: str) -> tuple[int, list[int]]:
        groups = subset.split("+")
        return len(groups), [SIGNAL_GROUPS.index(group) for group in groups]

    return [*sorted(found, key=position), ALL_GROUPS]


def left_out_subsets(points: pl.DataFrame) -> list[str]:
    """The subsets that leave one group out, in the order of the groups; all signals come last."""
    names = [f"without_{group}" for group in SIGNAL_GROUPS]
    found = set(points["subset"])
    return [*(name for name in names if name in found), ALL_GROUPS]


def ablation_tables(
    points: pl.DataFrame,
    reported: Mapping[str, object],
    settings: AblationSettings,
) -> tuple[Table, Table]:
    """With some groups of signals only, reported beside measured; and without one group.

    Parameters
    ----------
    points
        As :func:`failbench.studies.ablation.results.ablation_points` returns them.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        Of the study.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported).tables.ablation
    of_rules = points.filter(pl.col("method") == RULES, pl.col("metric") == "accuracy")
    notes = (
        NOTE.format(
            confidence=100 * settings.confidence,
            repeats=settings.repeats,
            tests=of_rules["subset"].n_unique() - 1,
            power=100 * settings.power,
            margin=100 * settings.equivalence_margin,
        ),
        READINGS_NOTE,
    )
    kept = Table(
        "ablation",
        COLUMNS,
        _rows(points, kept_subsets(points), paper),
        "What is left of each method when it sees some groups of signals only.",
        (*notes, REPORTED_NOTE.format(place=paper.place)),
    )
    without_reported = [index for index, one in enumerate(COLUMNS) if one.group != "reported"]
    left_out = Table(
        "ablation_left_out",
        tuple(COLUMNS[index] for index in without_reported),
        tuple(
            tuple(row[index] for index in without_reported)
            for row in _rows(points, left_out_subsets(points), paper)
        ),
        "What is left of each method when one group of signals is taken away.",
        notes,
    )
    return kept, left_out


def _rows(
    points: pl.DataFrame, subsets: Sequence[str], paper: AblationTable
) -> tuple[tuple[str, ...], ...]:
    rows = []
    for (method, feature_set), labels in VARIANTS.items():
        mine = points.filter(pl.col("method") == method, pl.col("feature_set") == feature_set)
        for subset in subsets:
            found = {
                row["metric"]: row
                for row in mine.filter(pl.col("subset") == subset).iter_rows(named=True)
            }
            if not found:
                continue
            one, abstained = found["accuracy"], found["abstention_rate"]
            rows.append(
                (
                    *labels,
                    subset_label(subset),
                    *_reported_cells(method, subset, paper),
                    with_interval(one["value"], one["ci_low"], one["ci_high"]),
                    percent(abstained["value"]),
                    _difference(one),
                    ABSENT if one["p_holm"] is None else three_decimals(one["p_holm"]),
                    _percent_or_absent(one["detectable_difference"]),
                    _percent_or_absent(one["smallest_margin"]),
                    str(one["n"]),
                )
            )
    return tuple(rows)


def _reported_cells(method: str, subset: str, paper: AblationTable) -> tuple[str, str]:
    row = paper.rows.get(REPORTED_ROWS.get(subset, ""))
    if method == FOREST or row is None:
        return ABSENT, ABSENT
    return percent(row.accuracy), ABSENT if row.drop is None else signed(100 * row.drop)


def _difference(row: Mapping[str, float | None]) -> str:
    value, low, high = (row[name] for name in ("difference", "difference_low", "difference_high"))
    if value is None:
        return ABSENT
    if low is None or high is None:
        return signed(100 * value)
    return with_interval(value, low, high, lambda one: signed(100 * one))


def _percent_or_absent(value: float | None) -> str:
    return ABSENT if value is None else percent(value)


def interactions_table(
    found: Sequence[Interaction], parts: tuple[str, str], *, confidence: float
) -> Table:
    """Whether two groups of signals are superadditive, a row a method and a column a baseline.

    Parameters
    ----------
    found
        Every baseline of each method, reported or measured.
    parts
        The two groups.
    confidence
        Of the intervals.
    """
    by_row: dict[tuple[str, str, str], list[Interaction]] = {}
    order = list(VARIANTS)
    for one in sorted(found, key=lambda one: _place(one, order)):
        by_row.setdefault((one.source, one.method, one.feature_set), []).append(one)
    first, second = (GROUP_LABELS[part] for part in parts)
    baselines = {one.baseline: one.baseline_value for one in found}
    rows = []
    for (source, method, feature_set), group in by_row.items():
        measured = source == "measured"
        label, features = (
            VARIANTS[method, feature_set] if measured else (METHOD_LABELS[method], ABSENT)
        )
        one = group[0]
        rows.append(
            (
                label if measured else f"{label}, reported",
                features,
                *(percent(value) for value in (one.first, one.second, one.both)),
                *(_surplus(each) for each in group),
                str(one.n),
            )
        )
    return Table(
        "superadditivity",
        (
            Column("Method", align="left"),
            Column("Features", align="left"),
            Column(first.capitalize(), "accuracy"),
            Column(second.capitalize(), "accuracy"),
            Column("Both", "accuracy"),
            *(
                Column(f"{name.capitalize()} ({percent(value)})", "surplus over")
                for name, value in baselines.items()
            ),
            Column("n"),
        ),
        tuple(rows),
        f"Whether {first} and {second} are worth more together than one by one.",
        (
            INTERACTION_NOTE.format(
                confidence=100 * confidence,
            ),
        ),
    )


def _place(one: Interaction, order: list[tuple[str, str]]) -> int:
    """What is reported comes first."""
    return -1 if one.source == "reported" else order.index((one.method, one.feature_set))


def _surplus(one: Interaction) -> str:
    interval = with_interval(one.value, one.ci_low, one.ci_high, lambda each: signed(100 * each))
    return f"{interval}, {one.verdict}" if one.own else interval
