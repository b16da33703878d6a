"""Tables: the frame pivoted to rows and columns of text, written as markdown and as typst."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, Form, estimate_text, written
from failbench.study.estimates import Estimates

Alignment = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    group: str = ""
    align: Alignment = "right"
    width: float | None = None


@dataclass(frozen=True)
class Divider:
    """A row that sets those below it apart, and says why."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of plain text: no cell, heading or note is markup in either language."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"Row {number} of the table {self.name} has {len(row)} cells, "
                    f"and the table has {len(self.columns)} columns."
                )
            if any("\n" in cell for cell in row):
                raise ValueError(f"Row {number} of the table {self.name} has a line break in it.")

    @property
    def spans_pages(self) -> bool:
        """Whether it is made of sentences, and so may be too long for a page."""
        return any(column.width is not None for column in self.columns)


Show = Literal["interval", "value", "n", "interval, n", "count"]
"""Of an estimate: value and interval, value, n, or all; ``count`` as in ``5 of 31: 16.1 [...]``."""


@dataclass(frozen=True)
class Row:
    """A row: texts from the left, and keys of its numbers; its show goes before that of columns."""

    texts: tuple[str, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)
    show: Show | None = None


@dataclass(frozen=True)
class Text(Column):
    """A column of words: the next text of each row."""

    align: Alignment = "left"


@dataclass(frozen=True)
class Of:
    """Numbers of a metric, or that of the row's keys; ``absent`` where there is no estimate."""

    metric: str
    heading: str
    group: str = ""
    form: Form = "percent"
    keys: Mapping[str, Any] = field(default_factory=dict)
    show: Show = "interval"
    align: Alignment = "right"
    absent: str = ABSENT

    def cell(self, found: Estimates, row: Row) -> str:
        """What stands in a row of this column."""
        named = {"metric": self.metric} if self.metric else {}
        estimate = found.row(**{**row.keys, **self.keys, **named})
        if estimate is None:
            return self.absent
        show = row.show or self.show
        n = self.absent if estimate.get("n") is None else f"{estimate['n']:.0f}"
        if show == "n":
            return n
        if show == "value":
            return written(estimate["value"], self.form)
        text = estimate_text(estimate, self.form)
        if show == "count":
            return f"{estimate['value'] * estimate['n']:.0f} of {n}: {text}"
        return f"{text}, n = {n}" if show == "interval, n" and estimate.get("n") else text


def n_of(metric: str, heading: str = "n", group: str = "", **keys: object) -> Of:
    """A column of how many units a metric is of."""
    return Of(metric, heading, group, keys=keys, show="n")


def columns_of(name: str, said: Captions) -> list[Text | Of]:
    """The columns that the study's file declares: numbers where it names a metric, else words."""
    return [Of(**each) if "metric" in each else Text(**each) for each in said.columns(name)]


def rows(key: str, labels: Mapping[Any, str], **keys: object) -> list[Row]:
    """A row for each value of a key, called by its label."""
    return [Row((label,), {**keys, key: value}) for value, label in labels.items()]


def table(
    name: str,
    found: Estimates,
    columns: Iterable[Text | Of] | None,
    body: Iterable[Row | Divider],
    said: Captions,
    *more_notes: str,
) -> Table:
    """The frame pivoted, under its caption; columns are those of the study's file, if not given."""
    shown = tuple(columns_of(name, said) if columns is None else columns)
    heads = (
        each if isinstance(each, Text) else Column(each.heading, each.group, each.align)
        for each in shown
    )

    def texts(row: Row) -> tuple[str, ...]:
        words = iter(row.texts)
        return tuple(
            next(words) if isinstance(each, Text) else each.cell(found, row) for each in shown
        )

    filled = (row if isinstance(row, Divider) else texts(row) for row in body)
    return sheet(name, filled, said, *more_notes, columns=heads)


def sheet(
    name: str,
    body: Iterable[Any],
    said: Captions,
    *more_notes: str,
    columns: Iterable[Column] | None = None,
) -> Table:
    """A table of texts and dividers under its caption."""
    if columns is None:
        columns = [Text(**each) for each in said.columns(name)]
    columns = tuple(columns)
    filled = (
        (row.text, *("",) * (len(columns) - 1)) if isinstance(row, Divider) else tuple(row)
        for row in body
    )
    notes = (*said.notes(name), *more_notes)
    return Table(name, columns, tuple(filled), said.caption(name), notes)


MARKDOWN_SPECIAL = re.compile(r"[\\`*_<~$|&#]|\](?=\()")
"""What CommonMark and GitHub's extensions (tables, formulas, strikethrough) read as markup."""


def render(table: Table) -> dict[str, str]:
    """The text of a table by the suffix of its file: ``md`` and ``typ``."""
    return {"md": markdown(table), "typ": typst(table)}


def write_table(table: Table, folder: Path) -> None:
    """Write a table in both languages, as ``name.md`` and ``name.typ``."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, text in render(table).items():
        (folder / f"{table.name}.{suffix}").write_text(text, encoding="utf-8")


def markdown(table: Table) -> str:
    """Caption, table with padded cells, and notes, as GitHub's markdown."""
    lines = [
        [
            _escape_markdown(
                f"{column.heading} ({column.group})" if column.group else column.heading
            )
            for column in table.columns
        ],
        *([_escape_markdown(cell) for cell in row] for row in table.rows),
    ]
    # a rule needs three characters: a colon, a dash and a colon
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = [
        [
            _padded(cell, width, column.align)
            for cell, width, column in zip(line, widths, table.columns, strict=True)
        ]
        for line in lines
    ]
    rule = [_rule(width, column.align) for width, column in zip(widths, table.columns, strict=True)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])
    texts = (_escape_markdown(text) for text in table.notes)
    return "\n\n".join([_escape_markdown(table.caption), body, *texts]) + "\n"


def typst(table: Table) -> str:
    """A typst figure with a table; texts are strings, in which typst sees no markup."""
    aligned = ", ".join(column.align for column in table.columns)
    widths = ", ".join(
        "auto" if column.width is None else f"{100 * column.width:g}%" for column in table.columns
    )
    figure = [
        "#figure(",
        "  table(",
        f"    columns: {f'({widths},)' if table.spans_pages else len(table.columns)},",
        f"    align: ({aligned},),",
        "    stroke: none,",
        "    table.hline(),",
        "    table.header(",
        *_typst_groups(table.columns),
        f"      {_typst_row([column.heading for column in table.columns])}",
        "    ),",
        "    table.hline(stroke: 0.5pt),",
        *(f"    {_typst_row(row)}" for row in table.rows),
        "    table.hline(),",
        "  ),",
        f"  caption: {_typst_string(' '.join((table.caption, *table.notes)))},",
        f") <tab-{table.name}>",
    ]
    # the rule holds inside the brackets alone
    breakable = ["#[", "#show figure: set block(breakable: true)", *figure, "]"]
    return "\n".join(breakable if table.spans_pages else figure) + "\n"


def _escape_markdown(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(lambda match: f"\\{match.group()}", text)


def _padded(cell: str, width: int, align: Alignment) -> str:
    return cell.ljust(width) if align == "left" else cell.rjust(width)


def _rule(width: int, align: Alignment) -> str:
    return "-" * width if align == "left" else "-" * (width - 1) + ":"


def _typst_string(text: str) -> str:
    r"""A string literal, in which only ``\\`` and ``"`` are special; an interval is not broken."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    unbroken = re.sub(r"\[[^\]]*\]", lambda match: match.group().replace(" ", r"\u{a0}"), escaped)
    return f'"{unbroken}"'


def _typst_row(cells: Sequence[str]) -> str:
    return ", ".join(_typst_string(cell) for cell in cells) + ","


def _typst_groups(columns: Sequence[Column]) -> list[str]:
    cells, rules = [], []
    for group, first, last in _groups(columns):
        span = last - first + 1
        if group:
            cells.append(f"table.cell(colspan: {span}, align: center, {_typst_string(group)}),")
            rules.append(f"table.hline(start: {first - 1}, end: {last}, stroke: 0.5pt),")
        else:
            cells += ['"",'] * span
    return [f"      {' '.join(cells)}", f"      {' '.join(rules)}"] if rules else []


def _groups(columns: Sequence[Column]) -> list[tuple[str, int, int]]:
    numbered = groupby(enumerate(columns, start=1), key=lambda pair: pair[1].group)
    members = [(group, [number for number, _ in pairs]) for group, pairs in numbered]
    return [(group, numbers[0], numbers[-1]) for group, numbers in members]
