"""Architecture stability: whether methods do as well on every architecture, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import LEFT_OUT, NESTED_CV
from failbench.prediction.main_study import SAME_REPEATS
from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, percent, three_decimals, with_interval
from failbench.reporting.labels import ARCHITECTURE_LABELS, in_label_order, method_label
from failbench.reporting.reported import Reported
from failbench.reporting.table import Column, Table
from failbench.scenarios import Architecture
from failbench.studies.architectures.cells import (
    architectures_in,
    estimate,
    rate_cell,
    reported_accuracy,
    spread,
    threshold_label,
    values_of,
)
from failbench.studies.architectures.measure import (
    RECORDED,
    RULES,
    THRESHOLDS,
)
from failbench.studies.architectures.results import AGAINST_OTHERS, ALL, ArchitecturesSettings
from failbench.studies.architectures.results import SPREAD as SPREAD_METRIC
from failbench.studies.architectures.tables import SPREAD

STABILITY_NOTE = (
    "Points of accuracy over the n scenarios that all architectures have. Farthest: the "
    "architecture farthest from the mean of the others, with a {interval:g} % paired t interval "
    "over scenarios. Equivalence: two one-sided paired t tests of every pair of architectures with "
    "a margin of {margin:g} points, all of which must succeed; p is the largest, and the smallest "
    "margin that would have succeeded is beside it. Detectable: the smallest true difference "
    "between two architectures that this many scenarios would have found with a power of {power:g} "
    "%. Rates that are low everywhere are alike too: read them beside the accuracies. Tests are "
    "conditional on the fitted models; –: what rests on rules that were made with these scenarios "
    "in view is not tested. Architecture left out: nothing of the tested architecture was trained "
    "on, its successful runs included."
)
LEFT_OUT_NOTE = (
    "Accuracy in percent on new scenarios (feature set 19), with {interval:g} % intervals by "
    "resampling the scenarios that the architecture has, then their seeds; nothing of the "
    "architecture was trained on, its successful runs included. Reported: the paper's improved "
    "rules on its own scenarios and larger models ({place})."
)
MAIN_STUDY_NOTE = (
    " Main study: the same methods on the one architecture that they learn from, over its "
    "{main} repeats of the folds; equal repeats: over as many as the other columns have "
    "({left_out}), with which these compare."
)


@dataclass(frozen=True)
class StabilityRow:
    """How alike a method's accuracies are, under one condition."""

    method: str
    condition: str
    overall: dict[str, Any]
    farthest: dict[str, Any]
    p: str
    shown: str

    @classmethod
    def of(cls, method: str, condition: str, family: pl.DataFrame, margin: float) -> StabilityRow:
        """The row of a family: a method's rates under one condition."""
        everywhere = family.filter(pl.col("architecture") == ALL)
        overall = estimate(everywhere, SPREAD_METRIC, float(family["noise"][0]))
        against = family.filter(pl.col("metric") == AGAINST_OTHERS)
        position = against.select(pl.col("value").abs()).to_series().arg_max()
        assert position is not None  # a family has at least two architectures
        farthest = against.row(position, named=True)
        p, shown = ABSENT, ABSENT
        if overall["p_equivalence"] is not None:
            p = three_decimals(overall["p_equivalence"])
            shown = "yes" if overall["smallest_margin"] <= margin else "no"
        return cls(method, condition, overall, farthest, p, shown)

    @property
    def difference(self) -> str:
        """The farthest architecture less the mean of the others."""
        far = self.farthest
        return with_interval(far["value"], far["ci_low"], far["ci_high"])


EQUIVALENCE = "equivalence of every pair"

STABILITY_COLUMNS: Final = (
    Column("Method", align="left", cell=lambda row: row.method),
    Column("Thresholds and logs, or training", align="left", cell=lambda row: row.condition),
    Column(SPREAD, cell=lambda row: percent(row.overall["value"])),
    Column(
        "Farthest",
        align="left",
        cell=lambda row: ARCHITECTURE_LABELS[row.farthest["architecture"]],
    ),
    Column("from the others", cell=lambda row: row.difference),
    Column("p", EQUIVALENCE, cell=lambda row: row.p),
    Column("shown", EQUIVALENCE, cell=lambda row: row.shown),
    Column(
        "smallest margin", EQUIVALENCE, cell=lambda row: percent(row.overall["smallest_margin"])
    ),
    Column("Detectable", cell=lambda row: percent(row.overall["detectable"])),
    Column("n", cell=lambda row: str(row.overall["n"])),
)


def stability_table(
    table: pl.DataFrame,
    settings: ArchitecturesSettings,
    rules: ImprovedRulesSettings,
    *,
    confidence: float,
) -> Table:
    """Whether accuracy is the same on all architectures: of the rules, and of every method."""
    note = STABILITY_NOTE.format(
        interval=100 * confidence,
        margin=100 * settings.equivalence_margin,
        power=100 * settings.power,
    )
    return Table.of(
        "architecture_stability",
        STABILITY_COLUMNS,
        [*_rows_of_rules(table, settings, rules), *_rows_left_out(table, settings)],
        "Whether accuracy is the same on all architectures.",
        (note, *development_note(table["method"].drop_nulls().unique())),
    )


def _rows_of_rules(
    table: pl.DataFrame, settings: ArchitecturesSettings, rules: ImprovedRulesSettings
) -> list[StabilityRow]:
    rows = []
    for kind in THRESHOLDS:
        label = threshold_label(kind, settings, rules)
        part = table.filter(pl.col("study") == RULES, pl.col("thresholds") == kind)
        for noise in part["noise"].unique().sort().to_list():
            logs = "as recorded" if noise == RECORDED else f"noise {100 * noise:g} %"
            family = part.filter(pl.col("noise") == noise)
            condition = f"{label}; {logs}"
            rows.append(
                StabilityRow.of("Improved rules", condition, family, settings.equivalence_margin)
            )
    return rows


def _rows_left_out(table: pl.DataFrame, settings: ArchitecturesSettings) -> list[StabilityRow]:
    left_out = table.filter(pl.col("study") == LEFT_OUT)
    return [
        StabilityRow.of(
            method_label(method),
            "architecture left out",
            left_out.filter(pl.col("method") == method),
            settings.equivalence_margin,
        )
        for method in in_label_order(left_out["method"])
    ]


@dataclass(frozen=True)
class AccuracyRow:
    """Accuracies by architecture and in the main study, as cells, and how far apart they are."""

    label: str
    accuracies: dict[Architecture, str]
    spread: str
    main: dict[str, str]


def left_out_table(
    table: pl.DataFrame, paper: Reported, repeats: Mapping[str, int], *, confidence: float
) -> Table:
    """Accuracy of every method on each held-out architecture, reported above measured."""
    left_out = table.filter(pl.col("study") == LEFT_OUT)
    names = architectures_in(left_out)
    methods = [
        _accuracies(method, table.filter(pl.col("method") == method), names)
        for method in in_label_order(left_out["method"])
    ]
    note = LEFT_OUT_NOTE.format(interval=100 * confidence, place=paper.tables.architectures.place)
    if NESTED_CV in repeats:
        note += MAIN_STUDY_NOTE.format(main=repeats[NESTED_CV], left_out=repeats[LEFT_OUT])
    return Table.of(
        "architectures_left_out",
        (
            Column("Method", align="left", cell=lambda row: row.label),
            *(_accuracy_column(name) for name in names),
            Column(SPREAD, cell=lambda row: row.spread),
            _main_study_column("All repeats", NESTED_CV),
            _main_study_column("Equal repeats", SAME_REPEATS),
        ),
        [_reported_accuracies(paper, names), *methods],
        "How often each method names the right one of five categories of cause in an architecture "
        "that it has not seen.",
        (note, *development_note(left_out["method"].unique())),
    )


def _accuracy_column(name: Architecture) -> Column:
    return Column(ARCHITECTURE_LABELS[name], cell=lambda row: row.accuracies[name])


def _main_study_column(heading: str, study: str) -> Column:
    return Column(heading, "main study", cell=lambda row: row.main[study])


def _reported_accuracies(paper: Reported, names: list[Architecture]) -> AccuracyRow:
    printed = paper.tables.architectures.rows
    return AccuracyRow(
        "Improved rules, reported",
        {name: reported_accuracy(printed.get(name)) for name in names},
        spread([printed[name].accuracy for name in names if name in printed]),
        dict.fromkeys((NESTED_CV, SAME_REPEATS), ABSENT),
    )


def _accuracies(method: str, rates: pl.DataFrame, names: list[Architecture]) -> AccuracyRow:
    left_out = rates.filter(pl.col("study") == LEFT_OUT)
    return AccuracyRow(
        method_label(method),
        {
            name: rate_cell(left_out.filter(pl.col("architecture") == name), "accuracy", RECORDED)
            for name in names
        },
        spread(values_of(left_out, "accuracy", RECORDED)),
        {
            study: rate_cell(rates.filter(pl.col("study") == study), "accuracy", RECORDED)
            for study in (NESTED_CV, SAME_REPEATS)
        },
    )
