"""Messages: what the error messages of libraries and systems mean, as data.

``data/messages.csv`` is the catalogue, written from what the libraries raise and document. Patterns
are tried in its order, the first that occurs counts: specific ones stand before general ones, and
what Python says of any program is last.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast, get_args

from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import causes
from failbench.causes.support import STRENGTHS, Strength

Said = Literal["exception", "warning"]
"""What a line with a message is where no exception and no death of a process says it."""

SAID: Final[tuple[Said, ...]] = get_args(Said)

MOST_CAUSES: Final = 4
"""Causes of a message: what may be anything is no message of the catalogue."""


@dataclass(frozen=True)
class Message:
    """A message that a library prints, whatever the names and numbers in it."""

    id: str
    library: str
    pattern: re.Pattern[str]
    meaning: str
    category: Category | None
    also: tuple[Category, ...]
    causes: tuple[str, ...]
    strength: Strength
    said: Said | None
    check: str
    source: str


@cache
def messages() -> tuple[Message, ...]:
    """The catalogue, in the order in which patterns are tried."""
    text = files("failbench.messages").joinpath("data/messages.csv").read_text(encoding="utf-8")
    return tuple(message_from(row) for row in csv.DictReader(text.splitlines()))


def message_from(row: dict[str, str]) -> Message:
    """The message that a row of the catalogue tells of."""
    category = _category(row["category"]) if row["category"] else None
    also = tuple(_category(name) for name in row["also"].split(";") if name)
    return Message(
        row["id"],
        row["library"],
        re.compile(row["pattern"], re.MULTILINE),
        row["meaning"],
        category,
        also,
        _causes(row["id"], row["causes"], category, also),
        cast("Strength", _one_of(STRENGTHS, row["strength"])),
        cast("Said", _one_of(SAID, row["said"])) if row["said"] else None,
        row["check"],
        row["source"],
    )


def _category(name: str) -> Category:
    return cast("Category", _one_of(CATEGORIES, name))


def _one_of(known: tuple[str, ...], name: str) -> str:
    if name not in known:
        raise ValueError(f"{name!r} is none of {', '.join(known)}.")
    return name


def _causes(
    message: str, named: str, category: Category | None, also: tuple[Category, ...]
) -> tuple[str, ...]:
    """The causes of a message, which agree with its categories."""
    names = tuple(named.split(";"))
    if len(names) > MOST_CAUSES:
        raise ValueError(f"{message} has more than {MOST_CAUSES} causes.")
    lies_in = [causes()[_one_of(tuple(causes()), name)].category for name in names]
    if category not in (None, lies_in[0]):
        raise ValueError(f"The first cause of {message} does not lie in {category}.")
    if not set(lies_in) <= {category, *also}:
        raise ValueError(f"A cause of {message} lies in none of its categories.")
    return names


def message_of(name: str, text: str) -> Message | None:
    """The message that an exception or the end of a process has, or None where it is not known."""
    # modules are left out, so that a pattern can begin with the name of a class
    said = f"{name.rpartition('.')[2]}: {text}"
    return next((known for known in messages() if known.pattern.search(said)), None)
