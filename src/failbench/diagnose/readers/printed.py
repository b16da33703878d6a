"""Printed lines and pasted tables: measurements in what a training writes to the terminal."""

import re
from typing import Final, NamedTuple

from failbench.diagnose.readers.log import Collector
from failbench.diagnose.readers.names import (
    BYTES,
    NUMBER,
    POSITIONS,
    Meaning,
    Split,
    meaning,
    meaning_at_end,
    number,
)

# a name of up to five words, then ``=``, ``:`` or space, then a number and perhaps its unit
_PAIR: Final = re.compile(
    r"(?<![\w./\-@])(?P<name>[A-Za-z_][\w./\-@]{0,60}(?: [A-Za-z_][\w./\-@]{0,60}){0,4})"
    r"(?:\s{0,20}(?P<sign>[:=])\s{0,20}|\s{1,20})"
    rf"(?P<value>{NUMBER})(?P<unit>[GMK]i?B\b)?(?![\w.]*[A-Za-z_%])"
)

# a throughput that stands before its unit, as llm.c prints it
_RATE: Final = re.compile(
    rf"(?P<value>{NUMBER})\s{{0,3}}(?P<thousands>[kM]?)\s{{0,3}}(?:tok(?:ens?)?|samples?)/s(?:ec)?\b"
)

# how a bar of torchtune begins
_BAR_NAME: Final = re.compile(r"^\s{0,8}(?P<epoch>\d{1,9})\|(?P<step>\d{1,12})\|(?=Loss)")

# a key and its number in a printed dict; version 5 of transformers prints numbers as text
_QUOTED: Final = re.compile(
    rf"(?P<quote>['\"])(?P<name>[\w./\-@ ]{{1,80}})(?P=quote)\s{{0,4}}:\s{{0,4}}['\"]?"
    rf"(?P<value>{NUMBER})['\"]?\s{{0,4}}(?=[,}}])"
)

_HELD_OUT: Final = re.compile(r"\b(?:valid|validation|eval|evaluation|val)\b", re.IGNORECASE)
_TRAIN: Final = re.compile(r"\btrain(?:ing|_inner)?\b", re.IGNORECASE)
# anything that may be a number; what lies between is the form of a line
_TOKEN: Final = re.compile(rf"((?<![A-Za-z]){NUMBER}|\d+)")

# in lines that tell of an exception or warn; the numbers in them are no measurements
_TELLS: Final = re.compile(
    r"(?:Error|Exception|Interrupt|Warning)\b|Traceback|Invalid learning rate|returning lr="
)

_THOUSANDS: Final = {"": 1.0, "k": 1e3, "M": 1e6}
MOST_FORMS: Final = 4_096  # forms of lines that are remembered
SEPARATORS: Final = (",", "\t", ";", "|")  # of tables


class Value(NamedTuple):
    """A number of a line that is read."""

    meaning: Meaning
    start: int
    factor: float = 1.0


class Form(NamedTuple):
    """What is read from lines that differ in their numbers alone."""

    values: tuple[tuple[Meaning, int, float], ...] = ()
    split: Split | None = None


class Printed:
    """Reads measurements from lines: dicts, JSON, ``key=value``, ``key: value``, ``key value``."""

    def __init__(self) -> None:
        self._forms: dict[str, Form] = {}

    def feed(self, line: int, text: str, rows: Collector) -> bool:
        """Add what a line measures to rows; False if it measures nothing."""
        parts = _TOKEN.split(text)
        if len(parts) < 3:
            return False
        key = "\0".join(parts[::2])
        form = self._forms.get(key)
        if form is None:
            form = _form_of(text)
            if len(self._forms) < MOST_FORMS:
                self._forms[key] = form
        if not form.values:
            return False
        values = [
            (found, value * factor)
            for found, position, factor in form.values
            if (value := number(parts[position])) is not None
        ]
        return rows.add(line, values, form.split)


def _form_of(text: str) -> Form:
    if _TELLS.search(text):
        return Form()
    read = _quoted(text) if "{" in text else []
    split: Split | None = None
    if not read:
        read = _pairs(text)
        # on what it was measured, which stands before the first number
        words = text[: min((value.start for value in read), default=0)]
        if _HELD_OUT.search(words) and not _TRAIN.search(words):
            split = "validation"
    at = {match.start(): 2 * place + 1 for place, match in enumerate(_TOKEN.finditer(text))}
    values = tuple(
        (value.meaning, at[value.start], value.factor) for value in read if value.start in at
    )
    return Form(values, split)


def _quoted(text: str) -> list[Value]:
    """The numbers of an object within a line, whatever is printed around it."""
    return [
        Value(found, match.start("value"))
        for match in _QUOTED.finditer(text, text.index("{"))
        if (found := meaning(match["name"])) is not None
    ]


def _pairs(text: str) -> list[Value]:
    """Names and numbers; with space alone between, as tables have it, only a loss by itself."""
    read, signed = [], False
    bar = _BAR_NAME.match(text)
    if bar is not None:
        read += [Value(Meaning(of), bar.start(of)) for of in POSITIONS]
    for match in _PAIR.finditer(text):
        found = meaning_at_end(match["name"])
        if found is not None:
            signed = signed or match["sign"] is not None
            factor = BYTES.get(match["unit"] or "", 1.0)
            read.append(Value(found, match.start("value"), factor))
    if len(read) == 1 and not signed and read[0].meaning.of not in ("loss", *POSITIONS):
        return []
    rate = _RATE.search(text) if read else None
    if rate is not None:
        factor = _THOUSANDS[rate["thousands"]]
        read.append(Value(Meaning("throughput"), rate.start("value"), factor))
    return read


class PastedTable:
    """Reads comma, tab, semicolon and bar separated values from lines that are fed to it."""

    def __init__(self) -> None:
        self._separator = ""
        self._columns: list[Meaning | None] = []

    @property
    def is_open(self) -> bool:
        """Whether a heading was read, and nothing yet that is no line of it."""
        return bool(self._columns)

    def feed(self, line: int, text: str, rows: Collector) -> bool:
        """Take a line; whether it is one of a table. Its values are added to ``rows``."""
        if self._columns:
            cells = _cells(text, self._separator)
            if len(cells) == len(self._columns) and self._add(line, cells, rows):
                return True
            if set(text) <= set("|-+: "):
                return True  # the line below a heading of Markdown
            self._columns = []
        return self._heading(text)

    def _heading(self, text: str) -> bool:
        """Whether a line is a heading: names alone, of a signal at least and of a step or epoch."""
        for separator in filter(text.__contains__, SEPARATORS):
            names = _cells(text, separator)
            if len(names) < 2 or any(number(name) is not None for name in names):
                continue
            columns = [column_meaning(name) for name in names]
            known = {column.of for column in columns if column is not None}
            if not known.isdisjoint(POSITIONS) and not known.issubset(POSITIONS):
                self._separator, self._columns = separator, columns
                return True
        return False

    def _add(self, line: int, cells: list[str], rows: Collector) -> bool:
        """Whether the cells hold numbers, which are added."""
        values = [
            (column, value)
            for column, cell in zip(self._columns, cells, strict=True)
            if column is not None and (value := number(cell)) is not None
        ]
        rows.add(line, values)
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
    is_framed = separator == "|" and not cells[0] and not cells[-1]
    return cells[1:-1] if is_framed else cells
