"""Text: a terminal's output, with measurements, tables, tracebacks and anything else in it."""

from __future__ import annotations

from collections.abc import Iterable

from failbench.diagnose.readers.deaths import death_in
from failbench.diagnose.readers.known_lines import KnownLines
from failbench.diagnose.readers.lines import lines_of
from failbench.diagnose.readers.log import Event, Log, Source
from failbench.diagnose.readers.pasted_table import PastedTable
from failbench.diagnose.readers.printed import Printed
from failbench.diagnose.readers.rows import Rows
from failbench.diagnose.readers.tracebacks import PREFIX, Tracebacks


def read_text(name: str, chunks: Iterable[bytes]) -> Log:
    """Read what a training printed, from any loop and launcher, of any length."""
    rows, tracebacks, table, lines = Rows(), Tracebacks(), PastedTable(), Printed()
    known = KnownLines()
    said: list[Event] = []
    last = in_table = printed = 0
    for line in lines_of(chunks):
        last, text = line
        if tracebacks.is_open and tracebacks.feed(last, text):
            continue
        if table.is_open and table.feed(last, text, rows):
            in_table += 1
        elif text and lines.feed(last, text, rows):
            printed += 1
        elif text and not (tracebacks.feed(last, text) or table.feed(last, text, rows)):
            bare = PREFIX.sub("", text)
            event = death_in(last, bare) or known.feed(last, bare)
            said += [event] if event is not None else []
    tracebacks.close(last)
    events = sorted((*tracebacks.events, *said), key=lambda event: event.line)
    kinds = (
        ("table", in_table),
        ("printed lines", printed),
        ("tracebacks", len(tracebacks.events)),
    )
    read_as = ", ".join(kind for kind, count in kinds if count) or "text"
    return Log((Source(name, read_as, last),), rows.table(), tuple(events))
