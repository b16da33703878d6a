"""Messages: what the error messages of libraries and systems mean, as data.

``data/messages.csv`` is the catalogue, written from what the libraries raise and document. Patterns
are tried in its order, the first that occurs counts: specific ones stand before general ones, and
what Python says of any program is last.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from failbench.base.records import InCell, OrNone, Record, packaged_rows
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import CauseNames, causes
from failbench.causes.support import Strength

MOST_CAUSES: Final = 4
"""Causes of a message: what may be anything is no message of the catalogue."""

_Pattern = Annotated[re.Pattern[str], BeforeValidator(lambda cell: re.compile(cell, re.MULTILINE))]


class Message(Record):
    """A message that a library prints, whatever the names and numbers in it.

    ``said`` is what a line with it is where no exception and no death of a process says it.
    """

    id: str
    library: str
    pattern: _Pattern
    meaning: str
    category: Annotated[Category | None, OrNone]
    also: Annotated[tuple[Category, ...], InCell]
    causes: Annotated[CauseNames, Field(min_length=1, max_length=MOST_CAUSES)]
    strength: Strength
    said: Annotated[Literal["exception", "warning"] | None, OrNone]
    check: str
    source: str

    @model_validator(mode="after")
    def _causes_agree_with_categories(self) -> Message:
        lies_in = [causes()[name].category for name in self.causes]
        if self.category not in (None, lies_in[0]):
            raise ValueError(f"The first cause of {self.id} does not lie in {self.category}.")
        if not set(lies_in) <= {self.category, *self.also}:
            raise ValueError(f"A cause of {self.id} lies in none of its categories.")
        return self


@cache
def messages() -> tuple[Message, ...]:
    """The catalogue, in the order in which patterns are tried."""
    return packaged_rows("failbench.messages", "messages.csv", Message)


def message_of(name: str, text: str) -> Message | None:
    """The message that an exception or the end of a process has, or None where it is not known."""
    # modules are left out, so that a pattern can begin with the name of a class
    said = f"{name.rpartition('.')[2]}: {text}"
    return next((known for known in messages() if known.pattern.search(said)), None)
