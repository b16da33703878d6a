"""Messages: what the error messages of libraries and systems mean, as data.

``data/messages.csv`` is the catalogue, written from what the libraries raise and document. Patterns
are tried in its order, the first that occurs counts.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from failbench.vocabulary import CATEGORIES, Category


@dataclass(frozen=True)
class Message:
    """A message that a library prints, whatever the names and numbers in it.

    Attributes
    ----------
    id
        Its name.
    library
        Who prints it.
    pattern
        What it is known by, in ``class of the exception: message``.
    meaning
        What it says, as a sentence.
    category
        Whose cause it points to if nothing else is known; None where it is a symptom alone.
    also
        Other categories whose causes end in it too.
    check
        What to look at to tell them apart.
    source
        Where the library raises or documents it.
    """

    id: str
    library: str
    pattern: re.Pattern[str]
    meaning: str
    category: Category | None
    also: tuple[Category, ...]
    check: str
    source: str


@cache
def messages() -> tuple[Message, ...]:
    """The catalogue, in the order in which patterns are tried.

    Raises
    ------
    ValueError
        If it names a category that there is not.
    """
    text = files("failbench.messages").joinpath("data/messages.csv").read_text(encoding="utf-8")
    return tuple(
        Message(
            row["id"],
            row["library"],
            re.compile(row["pattern"], re.MULTILINE),
            row["meaning"],
            _category(row["category"]) if row["category"] else None,
            tuple(_category(name) for name in row["also"].split(";") if name),
            row["check"],
            row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def _category(name: str) -> Category:
    if name not in CATEGORIES:
        raise ValueError(f"{name!r} is no category.")
    return name


def message_of(name: str, text: str) -> Message | None:
    """The message that an exception or the end of a process has, or None where it is not known.

    Parameters
    ----------
    name
        Class of the exception with its module if any, or name of the signal.
    text
        What it says.

    >>> message_of("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2 GiB.").id
    'cuda_out_of_memory'
    >>> message_of("ValueError", "the moon is full") is None
    True
    """
    # modules are left out, so that a pattern can begin with the name of a class
    said = f"{name.rpartition('.')[2]}: {text}"
    return next((known for known in messages() if known.pattern.search(said)), None)
