"""Table: plain text in rows and columns, whatever language it is written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Alignment = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    group: str = ""
    align: Alignment = "right"
    width: float | None = None
    cell: Callable[[Any], str] | None = None


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

    @classmethod
    def of(
        cls,
        name: str,
        columns: Iterable[Column],
        rows: Iterable[Any],
        caption: str,
        notes: tuple[str, ...] = (),
    ) -> Table:
        """A table whose columns say what stands in them."""
        columns = tuple(columns)
        cells = [column.cell for column in columns if column.cell is not None]
        if len(cells) < len(columns):
            raise ValueError(f"A column of the table {name} does not say what its cells are.")
        blanks = ("",) * (len(columns) - 1)
        body = (
            (row.text, *blanks) if isinstance(row, Divider) else tuple(cell(row) for cell in cells)
            for row in rows
        )
        return cls(name, columns, tuple(body), caption, notes)

    def __post_init__(self) -> None:
        """Refuse a row that does not fit the columns, and a cell of several lines."""
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
