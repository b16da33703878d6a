"""Tables within a text: a heading of names, and lines of as many cells."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from failbench.diagnose.readers.names import POSITIONS, Meaning, meaning, number
from failbench.diagnose.readers.numbers import Collector, Name

SEPARATORS: Final = (",", "\t", ";", "|", "  ", " ")
_RULE: Final = re.compile(r"[-|+: =━─┼]{3,10000}")  # a line below a heading
_BARE: Final = re.compile(r"[-+\d.,;|%\s]{0,16}\d[-+\d.,;|%\seEnaifNAIF]{0,1000}")  # numbers alone
_FEW: Final = 8  # rows from which columns without a heading are named by what they look like
_LARGEST_RATE: Final = 0.02
_LONGEST: Final = 400  # letters of a heading between whose names there is space


class PastedTable:
    """Reads comma, tab, semicolon, bar and space separated values from lines that are fed to it.

    A heading is known by names of a signal and of a step or epoch, or by a line of as many numbers
    below it. It holds until another: other lines may stand between those of a table.
    """

    def __init__(self, rows: Collector, decimal: str = ".") -> None:
        self._rows, self._decimal = rows, decimal
        self._above = ""  # the last line that might be a heading
        self._separator = ""
        self._names: list[Name] = []
        self._is_known = False
        self._held: list[tuple[int, str, list[float]]] = []  # rows that have no heading
        self.is_guessed = False  # whether columns were named by what they look like
        self._places: list[int] = []
        self._step = 0

    def row(self, line: int, text: str) -> bool:
        """Whether a line is one of the table that is open; its numbers are added."""
        if not self._names or self._separator not in text:
            return False
        cells = text.split(self._separator)
        if len(cells) == len(self._names):
            try:
                values = list(map(float, cells))
            except ValueError:
                pass
            else:
                self._rows.add(line, self._places, values, values[self._step])
                return True
        cells = _cells(text, self._separator)
        return len(cells) == len(self._names) and self._add(line, cells)

    def heading(self, line: int, text: str) -> bool:
        """Whether a line is a known heading, the rule below one, or the first row below one."""
        is_rule = _RULE.fullmatch(text) is not None
        if is_rule or _BARE.fullmatch(text):
            for separator, names in _headings(self._above, SEPARATORS):
                parts = text.split("+") if is_rule else _cells(text, separator)
                if len(parts) == len(names) or (is_rule and separator == "|"):
                    self._open(separator, names, is_known=False)
                    return is_rule or self.row(line, text)
            return bool(self._names) if is_rule else self._headless(line, text)
        self._above = text
        for separator, names in _headings(text, SEPARATORS[:4]):
            known = {found.of for name in names if (found := column_meaning(name)) is not None}
            if not known.isdisjoint(POSITIONS) and not known.issubset(POSITIONS):
                self._open(separator, names, is_known=True)
                return True
        return False

    def _headless(self, line: int, text: str) -> bool:
        """Whether a row is one of a table without a heading, which the first few rows tell."""
        separator = next((each for each in SEPARATORS if each in text.strip()), None)
        if separator is None:
            return False
        cells = [number(cell, self._decimal) for cell in _cells(text, separator)]
        if self._held and len(self._held[-1][2]) != len(cells):
            self._held.clear()
        self._held.append((line, text, [math.nan if each is None else each for each in cells]))
        if len(self._held) < _FEW:
            return False
        steps, *columns = zip(*(values for _, _, values in self._held), strict=True)
        if all(step.is_integer() for step in steps) and all(a < b for a, b in pairwise(steps)):
            self._open(separator, _looks_like(columns), is_known=False)
            for held, row, _ in self._held:
                self.is_guessed |= self.row(held, row)
        self._held.clear()
        return self.is_guessed

    def _open(self, separator: str, names: list[str], is_known: bool) -> None:
        means = [column_meaning(name) for name in names]
        if "s" in names[1:]:
            means[names.index("s", 1)] = None  # seconds
        positions = [found.of if found else "" for found in means]
        if not is_known and "step" not in positions and "epoch" not in positions:
            means[0] = Meaning("step")  # the first column counts, whatever it is called
            positions[0] = "step"
        self._separator, self._is_known = separator, is_known
        self._names = [Name(_shown(name), of) for name, of in zip(names, means, strict=True)]
        self._places = [self._rows.place(name) for name in self._names]
        self._step = positions.index("step" if "step" in positions else "epoch")

    def _add(self, line: int, cells: list[str]) -> bool:
        """Whether cells hold numbers as they have to, which are added."""
        values = [number(cell.removesuffix("%").rstrip(), self._decimal) for cell in cells]
        pairs = zip(self._names, values, strict=True)
        found = [(name, value) for name, value in pairs if value is not None]
        if self._is_known:
            is_row = any(name.meaning is not None for name, _ in found)
        else:
            is_row = values[0] is not None and len(found) + cells.count("") == len(cells)
        if is_row:
            self._rows.say(line, found)
        return is_row


def _looks_like(columns: list[tuple[float, ...]]) -> list[str]:
    """Names of columns behind the steps: small numbers that keep their order are a rate."""
    names = ["step"]
    for place, values in enumerate(columns, start=2):
        is_sorted = sorted(values) in (list(values), list(values[::-1]))
        if is_sorted and 0 < min(values) <= max(values) <= _LARGEST_RATE:
            look = "learning_rate"
        else:
            look = "loss" if min(values) > 0 else ""
        names.append(look if look and look not in names else f"column {place}")
    return names


def _headings(text: str, separators: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Ways to take a line for a heading: names alone, two at least."""
    for separator in separators if len(text) <= _LONGEST else separators[:4]:
        if separator in text:
            names = _cells(text, separator)
            if len(names) > 1 and not any(number(name) is not None for name in names):
                yield separator, names


def _shown(name: str) -> str:
    return name.rsplit(" - ", 1)[-1]


def column_meaning(name: str) -> Meaning | None:
    """What a column holds; Weights & Biases puts the run's name before a metric's.

    >>> column_meaning("clear-sun-7 - train/loss").of
    'loss'
    >>> column_meaning("clear-sun-7 - train/loss__MIN") is None
    True
    """
    return meaning(_shown(name))


def _cells(text: str, separator: str) -> list[str]:
    if not separator.strip():
        return re.split(r"\s{2,}" if len(separator) > 1 else r"\s+", text.strip())
    cells = [cell.strip().strip("\"'") for cell in text.strip().split(separator)]
    is_framed = separator == "|" and not cells[0] and not cells[-1]
    return cells[1:-1] if is_framed else cells
