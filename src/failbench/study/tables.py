"""Tables as data: columns name metrics, rows name keys, and the frame is pivoted to them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, Form, estimate_text, written
from failbench.study.estimates import Estimates
from failbench.study.plain_table import Alignment, Column, Divider, Table

Show = Literal["interval", "value", "n", "interval, n", "count"]
"""Of an estimate: value and interval, value, n, or all; ``count`` as in ``5 of 31: 16.1 [...]``."""


@dataclass(frozen=True)
class Row:
    """A row: texts from the left, and keys of its numbers; its form and show go before columns'."""

    texts: tuple[str, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)
    form: Form | None = None
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
        show, form = row.show or self.show, row.form or self.form
        n = self.absent if estimate.get("n") is None else f"{estimate['n']:.0f}"
        if show == "n":
            return n
        if show == "value":
            return written(estimate["value"], form)
        text = estimate_text(estimate, form)
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
    """A table under its caption, of texts or of what columns make of rows, and dividers."""
    if columns is None:
        columns = [Text(**each) for each in said.columns(name)]
    return Table.of(name, columns, body, said.caption(name), (*said.notes(name), *more_notes))
