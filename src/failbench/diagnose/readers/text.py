"""Text: the output of a terminal, with measurements, tables, tracebacks and known lines in it."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from failbench.diagnose.readers.events import PREFIX, KnownLines, Tracebacks, death_in
from failbench.diagnose.readers.excerpt import Excerpt
from failbench.diagnose.readers.lines import decoded, lines_of
from failbench.diagnose.readers.log import Event, Log, Source
from failbench.diagnose.readers.names import decimal_of, number
from failbench.diagnose.readers.numbers import Collector, Name, Numbers, known_name
from failbench.diagnose.readers.printed import Printed
from failbench.diagnose.readers.tables import PastedTable

_GUESSED: Final = (
    "Columns without a heading are named by what they look like; --pattern names them."
)
_SHOWN: Final = 3  # runs whose lines a note names
_OVER_BAR: Final = 3  # lines that are taken for written over a bar


class Hints(NamedTuple):
    """What a user says of a text where it can be read in several ways.

    Attributes
    ----------
    pattern
        A regular expression whose named groups are the numbers of a line; others are not read.
    decimal
        The decimal sign, a point or a comma.
    """

    pattern: re.Pattern[str] | None = None
    decimal: str | None = None


NO_HINTS: Final = Hints()


def read_text(name: str, chunks: Iterable[bytes], hints: Hints = NO_HINTS) -> Log:
    """Read what a training printed, from any loop and launcher, of any length.

    Without a decimal sign it is the one that numbers of the first chunk have where it is plain.
    """
    whole = iter(chunks)
    head = next(whole, b"")
    decimal = hints.decimal or decimal_of(decoded(head))
    rows, tracebacks, known = Collector(), Tracebacks(), KnownLines()
    excerpt = Excerpt()
    table, lines = PastedTable(rows, decimal), Printed(rows, decimal)
    said: list[Event] = []
    last = in_table = printed = 0
    bar = wiped = -_OVER_BAR  # where one was last drawn, and where it was wiped off
    shown = 0
    for last, text in lines_of(chain([head], whole)):
        if not text:
            wiped = last if shown == bar else wiped
            continue
        shown = last
        excerpt.feed(text)
        if tracebacks.is_open and tracebacks.feed(last, text):
            continue
        if hints.pattern is not None:
            found = None
            if told := hints.pattern.search(text):
                rows.say(last, _groups(told, decimal))
                printed += 1
                continue
        elif table.row(last, text):
            in_table += 1
            continue
        else:
            found = lines.form(text)
        over_bar = last - wiped < _OVER_BAR
        if found is not None and found[0].is_bar:
            bar, wiped = last, -_OVER_BAR
        if found is not None and found[0].measures:
            lines.add(last, *found, over_bar)
            printed += 1
        elif not (
            tracebacks.feed(last, text) or (hints.pattern is None and table.heading(last, text))
        ):
            bare = PREFIX.sub("", text)
            event = death_in(last, bare) or known.feed(last, bare)
            if event is not None:
                said.append(event)
            elif found is not None:
                lines.add(last, *found, over_bar)
    tracebacks.close(last)
    events = sorted((*tracebacks.events, *said), key=lambda event: event.line)
    counts = {"table": in_table, "printed lines": printed, "tracebacks": len(tracebacks.events)}
    read_as = ", ".join(kind for kind, count in counts.items() if count) or "text"
    numbers = rows.numbers()
    notes = (*((_GUESSED,) if table.is_guessed else ()), *_runs_note(numbers))
    return Log((Source(name, read_as, last, notes),), numbers, tuple(events), words=excerpt.text)


def _groups(told: re.Match[str], decimal: str) -> Iterator[tuple[Name, float]]:
    """The numbers that the named groups of a pattern found."""
    for group, text in told.groupdict().items():
        if text is not None and (value := number(text.strip(), decimal)) is not None:
            yield known_name(group), value


def _runs_note(numbers: Numbers) -> tuple[str, ...]:
    """Where other runs begin, if a text holds several."""
    begins = numbers.line[1:][np.diff(numbers.run) > 0].tolist()
    if not begins:
        return ()
    places = ", ".join(f"{line:,}" for line in begins[:_SHOWN]) + (
        ", ..." if begins[_SHOWN:] else ""
    )
    return (f"It contains {len(begins) + 1:,} runs: the step begins again at line {places}.",)
