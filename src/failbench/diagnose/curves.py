"""Curves: what every number of a log is the course of, from the words of its name or its values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Final

import numpy as np

from failbench.base.arrays import Array
from failbench.base.records import InCell, Record, packaged_rows
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.numbers import NOWHERE, Name, Numbers, Places

_LETTERS: Final = re.compile(r"[^\W\d_]+\d*")
_WITHOUT_SPACES: Final = 0x2E80  # letters of scripts that put none between words come after
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONG: Final = 5  # letters from which a word is found within compounds and inflections
OTHER: Final = "other"  # role of a number that is no curve, or none that a check knows
# what is no count: whole numbers that never fall are places in the run, whatever their name
_MEASURED: Final = frozenset({"loss", "score", "time"})
# words beside a part that do not say what is measured
_FILLERS: Final = frozenset({"avg", "mean", "out", "average", "epoch", "step", "running", "held"})


class _Words(Record):
    """What a name is that says one of some words; the first such row counts."""

    meaning: str
    words: Annotated[tuple[str, ...], InCell]


@cache
def _rows(table: str) -> tuple[_Words, ...]:
    return packaged_rows("failbench.diagnose", table, _Words)


def _of_words(table: str, name: str) -> str | None:
    rows = _rows(table)
    return next((row.meaning for row in rows if any(_is_said(w, name) for w in row.words)), None)


def _is_said(word: str, name: str) -> bool:
    """Whether a name says a word; a long one may begin or end another, as in compounds."""
    if ord(word[0]) > _WITHOUT_SPACES:
        return word in name
    is_long = len(word) >= _LONG
    return f" {word} " in name or (is_long and (f" {word}" in name or f"{word} " in name))


@lru_cache(maxsize=4096)
def role_of(name: str) -> tuple[str | None, str | None]:
    """The role and the part of the data that a name tells; None where it does not.

    >>> role_of("val_acurácia"), role_of("Validierungsverlust"), role_of("rewards/margins")
    (('rate', 'validation'), ('loss', 'validation'), ('margin', None))
    >>> role_of("dev"), role_of("loss_scale")
    ((None, 'validation'), ('other', None))
    """
    words = [word.casefold() for word in _LETTERS.findall(_HUMPS.sub(" ", name))]
    said = f" {' '.join(words)} "
    part, role = _of_words("parts.csv", said), _of_words("roles.csv", said)
    is_bare = all(word in _FILLERS or _of_words("parts.csv", f" {word} ") for word in words)
    return role or (None if part and is_bare else OTHER), part


@dataclass(frozen=True)
class Curve:
    """The course of one number: its values, of shape (n,), and where each stands.

    Where they are logged per cent, they are shares: ``unit`` is by what they were divided.
    """

    name: str
    role: str
    part: str | None
    unit: float
    values: Array
    lines: Places
    steps: Array
    source: int

    def __len__(self) -> int:
        return len(self.values)


def curves_of(log: Log) -> tuple[Curve, ...]:
    """Every curve of a log whose role is known, of the last run that a source holds."""
    return tuple(_curves(log.numbers))


def _curves(numbers: Numbers) -> Iterator[Curve]:
    key = np.stack([numbers.source, numbers.name])
    order = np.lexsort(key)
    bounds = np.flatnonzero(np.diff(key[:, order], axis=1, prepend=NOWHERE).any(axis=0))
    for all_runs in np.split(order, bounds[1:]) if len(order) else ():
        at = all_runs[numbers.run[all_runs] == numbers.run[all_runs[-1]]]
        name = numbers.names[numbers.name[at[0]]]
        role, part, unit = _told(name, numbers.value[at])
        if role != OTHER:
            places = numbers.line[at], numbers.step[at], int(numbers.source[at[0]])
            yield Curve(name.text, role, part, unit, numbers.value[at] / unit, *places)


def _told(name: Name, values: Array) -> tuple[str, str | None, float]:
    """Role and part of a curve, and its unit."""
    role, part = role_of(name.text)
    if name.meaning is not None and name.meaning.split is not None:
        part = part or name.meaning.split
    finite = values[np.isfinite(values)]
    if role is None or (role in _MEASURED and _counts(finite)):
        role = _seen(finite)
    if role in ("rate", "error") and not _is_within(finite, 100.0):
        role = "score"
    is_percent = role in ("rate", "error") and not _is_within(finite, 1.0)
    return role, part, 100.0 if is_percent else 1.0


def _seen(values: Array) -> str:
    """What a number of one part of the data is, that has no other name: a share or a loss."""
    if (values == values.round()).all():
        return OTHER
    return "rate" if values[-1] > values[0] and _is_within(values, 1.0) else "loss"


def _counts(values: Array) -> bool:
    """Whether values are whole numbers that never fall: steps, whatever their name."""
    is_whole = len(values) > 0 and bool((values == values.round()).all())
    return is_whole and values[-1] > max(values[0], 1.0) and bool((np.diff(values) >= 0).all())


def _is_within(values: Array, most: float) -> bool:
    return bool((values >= 0).all() and (values <= most).all())
