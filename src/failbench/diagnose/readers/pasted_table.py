"""A table within text: a heading of names, and lines with as many cells below it."""

from __future__ import annotations

from typing import Final

from failbench.diagnose.readers.names import Meaning, meaning
from failbench.diagnose.readers.numbers import number
from failbench.diagnose.readers.rows import Rows

SEPARATORS: Final = (",", "\t", ";", "|")


class PastedTable:
    """Reads comma, tab, semicolon and bar separated values from lines that are fed to it."""

    def __init__(self) -> None:
        self._separator = ""
        self._columns: list[Meaning | None] = []

    @property
    def is_open(self) -> bool:
        """Whether a heading was read, and nothing yet that is no line of it."""
        return bool(self._columns)

    def feed(self, number_of_line: int, text: str, rows: Rows) -> bool:
        """Take a line; whether it is one of a table. Its values are added to ``rows``."""
        if self._columns:
            cells = _cells(text, self._separator)
            if len(cells) == len(self._columns) and self._add(number_of_line, cells, rows):
                return True
            if set(text) <= set("|-+: "):
                return True  # the line below a heading of Markdown
            self._columns = []
        return self._heading(text)

    def _heading(self, text: str) -> bool:
        """Whether a line is a heading: names alone, of a signal at least and of a step or epoch."""
        for separator in SEPARATORS:
            if separator not in text:
                continue
            names = _cells(text, separator)
            if len(names) < 2 or any(number(name) is not None for name in names):
                continue
            columns = [column_meaning(name) for name in names]
            known = {column.of for column in columns if column is not None}
            if known & {"step", "epoch"} and known - {"step", "epoch"}:
                self._separator, self._columns = separator, columns
                return True
        return False

    def _add(self, number_of_line: int, cells: list[str], rows: Rows) -> bool:
        """Whether the cells hold numbers, which are added."""
        values = [
            (column, value)
            for column, cell in zip(self._columns, cells, strict=True)
            if column is not None and (value := number(cell)) is not None
        ]
        rows.add(number_of_line, values)
        return bool(values)


def column_meaning(name: str) -> Meaning | None:
    """What a column holds; Weights & Biases puts the run's name before a metric's.

    >>> column_meaning("clear-sun-7 - train/loss").of
    'loss'
    >>> column_meaning("clear-sun-7 - train/loss__MIN") is None
    True
    """
    return meaning(name.rsplit(" - ", 1)[-1])


def _cells(text: str, separator: str) -> list[str]:
    cells = [cell.strip().strip("\"'") for cell in text.strip().split(separator)]
    if separator == "|" and cells and not cells[0] and not cells[-1]:
        return cells[1:-1]
    return cells
