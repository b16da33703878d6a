"""Tables of the study of DEFault's runs: what .97 rests on, and our methods beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from failbench.external.tables import DETECTION, POSITIVES, ReleasedTables
from failbench.reporting.cells import ABSENT, percent, signed, with_interval
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.external_default.notes import (
    BALANCED_NOTE,
    COLUMN_LABELS,
    DATA_NOTE,
    GROUPING_LABELS,
    GROUPS_NOTE,
    INTERVAL_NOTE,
    LABELS,
    METHODS_NOTE,
    ONE_NOTE,
    PROTOCOL_LABELS,
    PROTOCOL_NOTE,
    RULES_NOTE,
    TASK_LABELS,
)
from failbench.studies.external_default.results import (
    ACCURACY,
    DIFFERENCE,
    MAJORITY,
    NO_COLUMNS,
    PRECISION,
    cell,
)
from failbench.studies.external_default.rules import (
    Asked,
    improved_rules_asked,
    simple_rules_asked,
)
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    CATEGORY,
    COLUMN_SETS,
    GROUPINGS,
    HOST_COLUMNS,
    HOUSE_METHODS,
    PRINTED,
    SHUFFLED,
    SIMPLE_RULES,
    THEIR_FOREST,
    WITH_CRASHED,
    ExternalDefaultSettings,
    Grouping,
    grouped_by,
)


@dataclass(frozen=True)
class Shown:
    """What all tables are made of: estimates, settings and the released tables."""

    table: pl.DataFrame
    settings: ExternalDefaultSettings
    released: ReleasedTables

    def accuracy(self, **key: str) -> str:
        """Accuracy with its interval, or a dash where it was not asked for."""
        rows = self.table.filter(metric=ACCURACY, **key)
        return ABSENT if rows.is_empty() else interval(rows.row(0, named=True))

    def count(self, column: str, **key: str) -> str:
        """Groups or runs behind an accuracy."""
        return str(cell(self.table, metric=ACCURACY, **key)[column])

    def majority(self, task: str, protocol: str) -> str:
        """What naming the majority reaches on the tested rows."""
        key = {"task": task, "protocol": protocol, "columns": NO_COLUMNS, "method": MAJORITY}
        return percent(cell(self.table, metric=ACCURACY, **key)["value"])

    @property
    def grouped(self) -> tuple[str, ...]:
        """The protocols whose folds keep groups together."""
        return tuple(grouped_by(way, self.settings.groups) for way in GROUPINGS)

    def protocol_label(self, task: str, protocol: str) -> str:
        """What a protocol is called; of a task without crashed runs none is left out."""
        if (task, protocol) == (CATEGORY, SHUFFLED):
            return PROTOCOL_LABELS[WITH_CRASHED]
        if protocol in PROTOCOL_LABELS:
            return PROTOCOL_LABELS[protocol]
        way = next(way for way in GROUPINGS if protocol.startswith(way))
        return f"Grouped by {GROUPING_LABELS[way]}"

    @property
    def interval_note(self) -> str:
        """What intervals are."""
        return INTERVAL_NOTE.format(confidence=100 * self.settings.confidence)

    @property
    def groups_note(self) -> str:
        """What groups are."""
        return GROUPS_NOTE.format(groups=self.settings.groups)


def interval(row: Mapping[str, Any]) -> str:
    """A rate with its interval, in percent."""
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def external_default_tables(shown: Shown, crashed: int) -> tuple[Table, ...]:
    """All tables of the study."""
    return (
        _protocols(shown, crashed),
        _categories(shown),
        _methods(shown),
        _group_numbers(shown),
    )


def _protocols(shown: Shown, crashed: int) -> Table:
    settings = shown.settings

    def rows() -> Iterator[Divider | tuple[str, str]]:
        for task in (DETECTION, CATEGORY):
            yield Divider(f"{TASK_LABELS[task]}:")
            first = (PRINTED, WITH_CRASHED) if task == DETECTION else ()
            for protocol in (*first, SHUFFLED, *shown.grouped):
                yield task, protocol

    def of_columns(columns: str) -> Column:
        return Column(
            COLUMN_LABELS[columns],
            cell=lambda row: shown.accuracy(
                task=row[0], protocol=row[1], columns=columns, method=THEIR_FOREST
            ),
        )

    def counted(heading: str, column: str) -> Column:
        key = {"columns": ALL_COLUMNS, "method": THEIR_FOREST}
        return Column(
            heading, cell=lambda row: shown.count(column, task=row[0], protocol=row[1], **key)
        )

    def printed(row: tuple[str, str]) -> str:
        return percent(shown.released.printed_figure(DETECTION)) if row[1] == PRINTED else ABSENT

    return Table.of(
        "external_default",
        (
            Column("Protocol", align="left", cell=lambda row: shown.protocol_label(*row)),
            Column("Printed", cell=printed),
            *map(of_columns, COLUMN_SETS),
            Column("Majority", cell=lambda row: shown.majority(*row)),
            counted("Runs", "rows"),
            counted("Groups", "n"),
        ),
        rows(),
        "How often the authors' forest is right on DEFault's runs, by protocol and columns.",
        (
            DATA_NOTE,
            PROTOCOL_NOTE.format(
                selected=settings.printed.selected,
                folds=settings.folds,
                trees=settings.trees,
                crashed=crashed,
            ),
            shown.groups_note,
            shown.interval_note,
        ),
    )


def _categories(shown: Shown) -> Table:
    def asked(heading: str, protocol: str, columns: str, group: str = "") -> Column:
        return Column(
            heading,
            group,
            cell=lambda name: shown.accuracy(
                task=name, protocol=protocol, columns=columns, method=THEIR_FOREST
            ),
        )

    groups = shown.settings.groups
    key = {"protocol": grouped_by(BLOCKS, groups), "columns": ALL_COLUMNS}
    return Table.of(
        "external_default_categories",
        (
            Column("Category", align="left", cell=lambda name: POSITIVES[name]),
            Column("Printed", cell=lambda name: percent(shown.released.printed_figure(name))),
            asked("All columns", PRINTED, ALL_COLUMNS, "authors' protocol"),
            asked("Only the host's", PRINTED, HOST_COLUMNS, "authors' protocol"),
            *(
                asked(
                    GROUPING_LABELS[way].capitalize(),
                    grouped_by(way, shown.settings.groups),
                    ALL_COLUMNS,
                    "grouped by",
                )
                for way in GROUPINGS
            ),
            Column("Majority", cell=lambda name: shown.majority(name, key["protocol"])),
            Column(
                "Runs",
                cell=lambda name: shown.count("rows", task=name, method=THEIR_FOREST, **key),
            ),
        ),
        POSITIVES,
        "Each fault category against others: what the authors print, and the same protocol here.",
        (DATA_NOTE, ONE_NOTE, shown.groups_note, shown.interval_note),
    )


def _methods(shown: Shown) -> Table:
    settings = shown.settings
    protocols = (SHUFFLED, *shown.grouped)
    asked = {
        DETECTION: (THEIR_FOREST, *HOUSE_METHODS, SIMPLE_RULES, MAJORITY),
        CATEGORY: (THEIR_FOREST, *HOUSE_METHODS, MAJORITY),
    }

    def rows() -> Iterator[Divider | tuple[str, str]]:
        for task, methods in asked.items():
            yield Divider(f"{TASK_LABELS[task]}:")
            for method in methods:
                yield task, method

    def key(row: tuple[str, str], protocol: str) -> dict[str, str]:
        task, method = row
        columns = NO_COLUMNS if method == MAJORITY else ALL_COLUMNS
        return {"task": task, "protocol": protocol, "columns": columns, "method": method}

    def difference(row: tuple[str, str], protocol: str) -> str:
        found = shown.table.filter(metric=DIFFERENCE, **key(row, protocol))
        if found.is_empty():
            return ABSENT
        values = found.row(0, named=True)
        return with_interval(
            values["value"], values["ci_low"], values["ci_high"], lambda value: signed(100 * value)
        )

    def of_protocol(protocol: str) -> Iterator[Column]:
        grouped = shown.protocol_label(DETECTION, protocol).lower()
        label = "shuffled folds" if protocol == SHUFFLED else grouped
        yield Column("Right", label, cell=lambda row: shown.accuracy(**key(row, protocol)))
        yield Column("Less theirs", label, cell=lambda row: difference(row, protocol))

    simple, improved = (
        count(shown.released.columns) for count in (simple_rules_asked, improved_rules_asked)
    )
    return Table.of(
        "external_default_methods",
        (
            Column("Method", align="left", cell=lambda row: LABELS[row[1]]),
            *(column for protocol in protocols for column in of_protocol(protocol)),
        ),
        rows(),
        "Our methods beside the authors' forest, on DEFault's runs that did not crash.",
        (
            DATA_NOTE,
            METHODS_NOTE.format(folds=settings.folds, trees=settings.trees),
            rules_note(shown, simple, improved),
            shown.groups_note,
            shown.interval_note,
        ),
    )


def rules_note(shown: Shown, simple: Asked, improved: Asked) -> str:
    """What is not applicable of our rules, and why, and how often the others hold."""
    key = {
        "task": DETECTION,
        "protocol": grouped_by(BLOCKS, shown.settings.groups),
        "columns": ALL_COLUMNS,
        "method": SIMPLE_RULES,
    }
    precision = cell(shown.table, metric=PRECISION, **key)
    return RULES_NOTE.format(
        simple=simple,
        improved=improved,
        held=precision["rows"],
        runs=shown.count("rows", **key),
        precision=interval(precision),
    )


def _group_numbers(shown: Shown) -> Table:
    settings = shown.settings

    def right(task: str, way: Grouping) -> Callable[[int], str]:
        key = {"task": task, "columns": ALL_COLUMNS, "method": THEIR_FOREST}
        return lambda number: shown.accuracy(protocol=grouped_by(way, number), **key)

    return Table.of(
        "external_default_groups",
        (
            Column("Groups", cell=str),
            *(
                Column(
                    GROUPING_LABELS[way].capitalize(),
                    TASK_LABELS[task].lower(),
                    cell=right(task, way),
                )
                for task in (DETECTION, CATEGORY)
                for way in GROUPINGS
            ),
        ),
        sorted({settings.groups, *settings.other_groups}),
        "The authors' forest by the number of groups: the smaller groups are, the more runs of a "
        "program are on both sides.",
        (
            DATA_NOTE,
            shown.groups_note,
            BALANCED_NOTE,
            shown.interval_note,
        ),
    )
