"""Known lines: lines outside of tracebacks that say a message of the catalogue."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from failbench.diagnose.readers.log import Event, EventKind
from failbench.messages.catalogue import Message, messages
from failbench.messages.literals import required_literals

MOST_EVENTS: Final = 20
"""Events of a message in a source: a loop prints a warning at each step, and the first tell."""

MOST_FORMS: Final = 4_096
"""Forms of lines that are remembered."""

LONGEST: Final = 2_000
"""Letters of a line that are looked at."""

_NO_DIGITS: Final = str.maketrans("", "", "0123456789")

_PREFIXED: Final = re.compile(
    r"^(?:E\s{1,8}|.{0,160}\b(?:ERROR|CRITICAL|FATAL|Error|error|Exception|failed|failure)\b.{0,60}?"
    r"[\s:\]])(?P<name>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt))"
    r":\s(?P<message>.{1,2000})"
)
"""An exception behind what a logger or pytest puts before it."""

_NAMED: Final = ("Error: ", "Exception: ", "Interrupt: ")
"""Which of these it must hold."""

_PASSED_OVER: Final = re.compile(r"\b[Rr]etry|[Ii]gnor|WARN|[Ww]arning\b|UserWarning")
"""In lines of something that the program itself passes over."""


class KnownLines:
    """Reads events from lines that are fed to it, and that belong to nothing else.

    Each form of lines is understood once: a form is what lines have in common that differ in their
    digits alone.
    """

    def __init__(self, source: int = 0) -> None:
        self._source = source
        self._forms: dict[str, _Form] = {}
        self._count: dict[str, int] = {}

    def feed(self, number: int, text: str) -> Event | None:
        """The event that a line tells of, or None; no more than ``MOST_EVENTS`` of a message."""
        text = text[:LONGEST]
        form = text.translate(_NO_DIGITS)
        if form in self._forms:
            told = self._forms[form]
        else:
            told = _form_of(text)
            if len(self._forms) < MOST_FORMS:
                self._forms[form] = told
        if told is None:
            return None
        self._count[told.key] = self._count.get(told.key, 0) + 1
        if self._count[told.key] > MOST_EVENTS:
            return None
        found = _PREFIXED.match(text) if told.is_prefixed else None
        if found is None:
            return Event(told.kind, self._source, number, "", text.strip())
        return Event(told.kind, self._source, number, found["name"], found["message"].strip())


class _Told(NamedTuple):
    """What lines of a form tell: of which message or class, as what, and in which way."""

    key: str
    kind: EventKind
    is_prefixed: bool


_Form = _Told | None


def _form_of(text: str) -> _Form:
    if not tells(text):
        return None
    named = any(ending in text for ending in _NAMED)
    prefixed = _PREFIXED.match(text) if named else None
    if prefixed is not None:
        return _Told(prefixed["name"], _kind("exception", text), is_prefixed=True)
    known = said_in(text)
    if known is None or known.said is None:
        return None
    return _Told(known.id, _kind(known.said, text), is_prefixed=False)


def _kind(said: EventKind, text: str) -> EventKind:
    return "warning" if _PASSED_OVER.search(text) else said


def tells(text: str) -> bool:
    """Whether a line has one of ``data/telling_words.txt``, as all that say a message have.

    Most lines have none, and are not held against the catalogue.

    >>> tells("Loss is nan, stopping training"), tells("loading shard 3")
    (True, False)
    """
    return any(word in text for word in _words())


def said_in(text: str) -> Message | None:
    """The message of the catalogue that a line says by itself, or None.

    >>> said_in("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536").id
    'overflow_skipped'
    """
    said = f": {text}"  # as ``message_of`` puts it together where there is no class
    known, literals, always = _said_by_lines()
    places = {place for literal, place in literals if literal in said} | always
    return next(
        (known[place] for place in sorted(places) if known[place].pattern.search(said)), None
    )


@cache
def _said_by_lines() -> tuple[tuple[Message, ...], tuple[tuple[str, int], ...], frozenset[int]]:
    """Messages that lines say, their literals with the place of each, and places of the others."""
    known = tuple(message for message in messages() if message.said is not None)
    required = [required_literals(message.pattern.pattern) for message in known]
    literals = ((literal, place) for place, some in enumerate(required) for literal in some)
    return known, tuple(literals), frozenset(n for n, some in enumerate(required) if not some)


@cache
def _words() -> tuple[str, ...]:
    text = files("failbench.diagnose.readers").joinpath("data/telling_words.txt").read_text("utf-8")
    return tuple(word for word in text.split("\n") if word)
