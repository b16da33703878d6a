"""Declared numbers: what a program said that it logs, and what of it was read from its text.

A program that declares has a file beside its output, each line an object with ``name``, ``step``
and ``value``. A number of the text shows a value if they differ by half a unit of its last digit at
most. Names are compared as sets of words in lower case: those of one must be among those of the
other, and the words by which they differ on the line, or on the last one before it without numbers.

Not in the text, and counted apart, is a value that no number shows, one whose name has a word that
the text lacks, and a step where no line with the value has it beside what was declared, nor the
``NEAR`` lines around. Invented is a number that was read from a line without any declared one,
where neither its value nor its name was declared.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from failbench.diagnose.readers.lines import lines_of
from failbench.diagnose.readers.names import POSITIONS
from failbench.diagnose.readers.numbers import Numbers
from failbench.diagnose.readers.printed import number_pattern

NEAR: Final = 2  # lines around one in which the step may stand that it is of
RELATIVE: Final = 6e-4  # half a unit of the last of four digits, as transformers prints them
# how a line is written, the first that fits; what fits none is a line of pairs
_FORMATS: Final = (
    ("bar", re.compile(r"%\||\d/\d+ .*━")),
    ("JSON", re.compile(r"\{\s*\"")),
    ("dict", re.compile(r"\{\s*'")),
    ("table", re.compile(r"^[-+\d.,;|%\seE]*$")),
)
_WORD: Final = re.compile(r"[^\W_]+")


class Declared(NamedTuple):
    """A number that a program declared."""

    name: str
    step: int | None
    value: float


@dataclass(frozen=True)
class Score:
    """How much of what was declared was read.

    Attributes
    ----------
    in_text
        Declared numbers whose value and name the text has.
    read
        Those of them that were read under their name.
    with_step
        Those of them whose step is in the text, and those of these whose step was read.
    missing, invented
        Names and how often, of numbers that were not read, and of invented ones.
    formats
        By how the first line with it is written: numbers in the text, and those that were read.
    """

    declared: int
    in_text: int
    read: int
    with_step: tuple[int, int]
    missing: Counter[str]
    invented: Counter[str]
    formats: dict[str, tuple[int, int]]


def read_declared(path: Path) -> list[Declared]:
    """The numbers that a program declared."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Declared(**json.loads(line)) for line in lines]


def words_of(text: str) -> frozenset[str]:
    """The words of a name, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def score(text: bytes, numbers: Numbers, declared: Iterable[Declared]) -> Score:
    """Compare what was read from a text with what its program declared."""
    shown = _Shown(text)
    read_at: dict[int, list[int]] = defaultdict(list)
    for place, line in enumerate(numbers.line.tolist()):
        read_at[line].append(place)
    total = in_text = read = stepped = right = 0
    missing: Counter[str] = Counter()
    formats: dict[str, tuple[int, int]] = {}
    used: set[int] = set()
    named = numbers.texts()
    all_places = [(each, shown.places(each)) for each in declared]
    shown.claimed = {place for _, places in all_places for place in places}
    for each, at in all_places:
        total += 1
        places = sorted({line for line, _ in at})
        if not places:
            continue
        in_text += 1
        matches = [
            place
            for line in places
            for place in read_at[line]
            if shown.shows(line, float(numbers.value[place]), each.value)
            and shown.agree(line, words_of(each.name), words_of(named[place]))
        ]
        form = shown.form(places[0])
        seen, found = formats.get(form, (0, 0))
        formats[form] = seen + 1, found + bool(matches)
        at_step = [place for place in matches if numbers.step[place] == each.step]
        fresh = [place for place in at_step or matches if place not in used]
        if not matches:
            missing[each.name] += 1
            continue
        read += 1
        used.add((fresh or at_step or matches)[0])
        if each.step is not None and shown.has_step(places, each.step):
            stepped += 1
            right += bool(at_step)
    values, names = {each.value for each in declared}, {words_of(each.name) for each in declared}
    lines = {int(numbers.line[place]) for place in used}
    invented = Counter(
        name
        for place, (name, line) in enumerate(zip(named, numbers.line.tolist(), strict=True))
        if line not in lines and not _is_position(numbers, place)
        and float(numbers.value[place]) not in values and words_of(name) not in names
    )  # fmt: skip
    return Score(total, in_text, read, (stepped, right), missing, invented, formats)


def _is_position(numbers: Numbers, place: int) -> bool:
    found = numbers.names[numbers.name[place]].meaning
    return found is not None and found.of in POSITIONS


class _Shown:
    """The numbers and words of each line of a text."""

    def __init__(self, text: bytes) -> None:
        pattern = re.compile(number_pattern(","))
        self.claimed: set[tuple[int, float]] = set()  # lines with numbers that were declared
        self._words: dict[int, set[str]] = defaultdict(set)
        self._forms: dict[int, str] = {}
        tokens: list[tuple[float, float, int]] = []
        heading: set[str] = set()
        for line, shown in lines_of([text]):
            found = pattern.findall(shown)
            fits = (form for form, fit in _FORMATS if found and fit.search(shown))
            self._forms[line] = next(fits, "pairs")
            for token in found:
                value = float(token.replace(",", "."))
                digits = re.split("[.,]", token.lower().split("e")[0])
                power = (
                    float(f"1e{token.lower().partition('e')[2] or 0}") if "n" not in token else 1
                )
                half = 0.505 * power * 10.0 ** -len(digits[1]) if len(digits) > 1 else 0.0
                tokens.append((value, half, line))
            self._words[line] |= set(_WORD.findall(shown.lower())) | heading
            heading = set(_WORD.findall(shown.lower())) if not found else heading
        self._all = frozenset().union(*self._words.values())
        self._half_of = {(line, value): half for value, half, line in tokens}
        self._value = np.array([value for value, *_ in tokens])
        self._half = np.array([half for _, half, _ in tokens])
        self._line = np.array([line for *_, line in tokens], np.int64)

    def form(self, line: int) -> str:
        """How a line is written."""
        return self._forms[line]

    def places(self, number: Declared) -> list[tuple[int, float]]:
        """Lines and what they show of a number, if the text has the words of its name."""
        if not words_of(number.name) <= self._all:
            return []
        if np.isfinite(number.value):
            allowed = np.maximum(self._half, RELATIVE * abs(number.value))
            is_shown = np.abs(self._value - number.value) <= allowed
        else:
            is_shown = (self._value == number.value) | (
                np.isnan(self._value) & (number.value != number.value)
            )
        return list(zip(self._line[is_shown].tolist(), self._value[is_shown].tolist(), strict=True))

    def shows(self, line: int, read: float, value: float) -> bool:
        """Whether a number that was read from a line is one that shows a value."""
        if not np.isfinite(value):
            return read == value or (read != read and value != value)
        half = self._half_of.get((line, read), 0.0)
        return abs(read - value) <= max(half, RELATIVE * abs(value))

    def agree(self, line: int, one: frozenset[str], other: frozenset[str]) -> bool:
        """Whether two names of a line are one, up to words that stand there elsewhere."""
        return (
            bool(one & other)
            and (one <= other or other <= one)
            and one ^ other <= self._words[line]
        )

    def has_step(self, lines: list[int], step: int) -> bool:
        """Whether a step stands in one of the lines or near, and is none of what was declared."""
        near = {(line + by, float(step)) for line in lines for by in range(-NEAR, NEAR + 1)}
        return any(place in self._half_of for place in near - self.claimed)
