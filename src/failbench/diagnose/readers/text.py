"""Text: a terminal's output, with measurements, tables, tracebacks and anything else in it."""

import re
import signal
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from failbench.diagnose.readers.lines import lines_of
from failbench.diagnose.readers.log import Collector, Event, EventKind, Log, Source
from failbench.diagnose.readers.printed import PastedTable, Printed
from failbench.diagnose.readers.tracebacks import PREFIX, Tracebacks
from failbench.messages.catalogue import Message, messages
from failbench.messages.literals import required_literals

# events of a message in a source: a loop prints a warning at each step, and the first tell
MOST_EVENTS: Final = 20
MOST_FORMS: Final = 4_096  # forms of lines that are remembered
LONGEST: Final = 2_000  # letters of a line outside of tracebacks that are looked at

# The signal that ended a process, and what the line looks like in which a shell, a launcher or a
# runtime says so. From bash, the Linux kernel, Slurm, Kubernetes, Python's faulthandler and
# torch.distributed.elastic.
_DEATHS: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("SIGKILL", r"^(?:.{0,80}[:\s])?Killed(?:\s.{0,200})?$"),
        ("SIGKILL", r"oom[-_]?kill|Out of memory: Killed process|oom_reaper|OOM Killed|OOMKilled"),
        ("SIGSEGV", r"Segmentation fault|Fatal Python error: Segmentation fault"),
        ("SIGBUS", r"^(?:.{0,80}[:\s])?Bus error|Fatal Python error: Bus error"),
        ("SIGABRT", r"^(?:.{0,80}[:\s])?Aborted(?: \(core dumped\))?$|Fatal Python error: Aborted"),
        ("SIGFPE", r"^(?:.{0,80}[:\s])?Floating point exception"),
        ("SIGTERM", r"^(?:.{0,80}[:\s])?Terminated$"),
        ("SIGTERM", r"CANCELLED AT .{0,60} DUE TO (?:TIME LIMIT|PREEMPT)"),
    )
)

_HINT: Final = re.compile(
    r"[Kk]ill|oom|OOM|fault|Bus|Abort|Floating|Terminated|CANCELLED|exitcode", re.ASCII
)
_ELASTIC: Final = re.compile(r"exitcode\s{0,4}:\s{0,4}-(?P<signal>\d{1,2})\b")
_NO_DIGITS: Final = str.maketrans("", "", "0123456789")

# an exception behind what a logger or pytest puts before it
_PREFIXED: Final = re.compile(
    r"^(?:E\s{1,8}|.{0,160}\b(?:ERROR|CRITICAL|FATAL|Error|error|Exception|failed|failure)\b.{0,60}?"
    r"[\s:\]])(?P<name>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt))"
    r":\s(?P<message>.{1,2000})"
)

_NAMED: Final = ("Error: ", "Exception: ", "Interrupt: ")  # which of these it must hold
# in lines of something that the program itself passes over
_PASSED_OVER: Final = re.compile(r"\b[Rr]etry|[Ii]gnor|WARN|[Ww]arning\b|UserWarning")


def read_text(name: str, chunks: Iterable[bytes]) -> Log:
    """Read what a training printed, from any loop and launcher, of any length."""
    rows, tracebacks, table, lines = Collector(), Tracebacks(), PastedTable(), Printed()
    known = _KnownLines()
    said: list[Event] = []
    last = in_table = printed = 0
    for last, text in lines_of(chunks):
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
    counts = {"table": in_table, "printed lines": printed, "tracebacks": len(tracebacks.events)}
    read_as = ", ".join(kind for kind, count in counts.items() if count) or "text"
    return Log((Source(name, read_as, last),), rows.rows(), tuple(events))


def death_in(number: int, text: str) -> Event | None:
    """The death that a line tells of, or None.

    >>> death_in(3, "train.sh: line 2:  4711 Killed   python train.py").name
    'SIGKILL'
    >>> death_in(3, "  exitcode  : -11 (pid: 4711)").name
    'SIGSEGV'
    """
    if _HINT.search(text) is None:
        return None
    if elastic := _ELASTIC.search(text):
        named = {each.value: each.name for each in signal.Signals}
        return Event("death", 0, number, named.get(int(elastic["signal"]), ""), text.strip())
    name = next((name for name, pattern in _DEATHS if pattern.search(text)), None)
    return None if name is None else Event("death", 0, number, name, text.strip())


class _Told(NamedTuple):
    """What lines of a form tell: of which message or class, as what, and in which way."""

    key: str
    kind: EventKind
    is_prefixed: bool


class _KnownLines:
    """Reads events from lines; each form, lines that differ in digits alone, is understood once."""

    def __init__(self) -> None:
        self._forms: dict[str, _Told | None] = {}
        self._count: dict[str, int] = {}

    def feed(self, number: int, text: str) -> Event | None:
        """The event that a line tells of, or None; no more than ``MOST_EVENTS`` of a message."""
        text = text[:LONGEST]
        form = text.translate(_NO_DIGITS)
        told = self._forms[form] if form in self._forms else _told_by(text)
        if len(self._forms) < MOST_FORMS:
            self._forms[form] = told
        if told is None:
            return None
        self._count[told.key] = self._count.get(told.key, 0) + 1
        if self._count[told.key] > MOST_EVENTS:
            return None
        found = _PREFIXED.match(text) if told.is_prefixed else None
        if found is None:
            return Event(told.kind, 0, number, "", text.strip())
        return Event(told.kind, 0, number, found["name"], found["message"].strip())


def _told_by(text: str) -> _Told | None:
    if not tells(text):
        return None
    named = any(ending in text for ending in _NAMED)
    passed_over = _PASSED_OVER.search(text) is not None
    if named and (prefixed := _PREFIXED.match(text)):
        return _Told(prefixed["name"], "warning" if passed_over else "exception", is_prefixed=True)
    known = said_in(text)
    if known is None or known.said is None:
        return None
    return _Told(known.id, "warning" if passed_over else known.said, is_prefixed=False)


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
    for message, literals in _said_by_lines():
        may_say = not literals or any(literal in said for literal in literals)
        if may_say and message.pattern.search(said):
            return message
    return None


@cache
def _said_by_lines() -> tuple[tuple[Message, tuple[str, ...]], ...]:
    """Messages that lines say, each with literals of which such a line holds one."""
    said = [message for message in messages() if message.said is not None]
    return tuple((message, required_literals(message.pattern.pattern)) for message in said)


@cache
def _words() -> tuple[str, ...]:
    text = files("failbench.diagnose.readers").joinpath("data/telling_words.txt").read_text("utf-8")
    return tuple(word for word in text.split("\n") if word)
