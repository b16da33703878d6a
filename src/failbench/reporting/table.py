"""Table: plain text in rows and columns, whatever language it is written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Alignment = Literal["left", "right"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading
        What stands above it.
    group
        What it shares with its neighbours. LaTeX and typst print that once above all of them, and
        markdown, whose headings cannot span columns, behind each heading.
    align
        The side that its cells keep to.
    width
        The share of a line that it takes, its cells being broken into lines of their own; as wide
        as its widest cell where there is none. A table with such a column may span pages.
    cell
        What it says of a row; see :meth:`Table.of`.
    """

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
    """A table of plain text: no cell, heading or note is markup in any of the three languages.

    Attributes
    ----------
    name
        Of its files; a paper refers to it by ``tab:name`` in LaTeX, by ``<tab-name>`` in typst.
    columns, rows
        A row has a cell a column.
    caption
        What the table shows, in one sentence.
    notes
        What a reader must know of it, a paragraph each; part of the caption but in markdown.
    """

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
        """A table whose columns say what stands in them.

        Parameters
        ----------
        name, caption, notes
            As in the record.
        columns
            Each with its ``cell``, a function of a row.
        rows
            What the table is of: records, mappings, or whatever the cells take. A
            :class:`Divider` stands in the first column, with nothing in the others.

        Raises
        ------
        ValueError
            If a column has no ``cell``.
        """
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
