"""Events: tracebacks, deaths of processes and known messages in what a training printed."""

import re
import signal
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from failbench.diagnose.readers.log import Event, EventKind
from failbench.messages.catalogue import Message, messages
from failbench.messages.literals import required_literals

# frames of a traceback that are kept, the innermost: an endless recursion has a thousand
MOST_FRAMES: Final = 200
MESSAGE_LINES: Final = 40  # lines of a message that are kept

# what torchrun, Ray and launchers of several processes put before each line
PREFIX: Final = re.compile(
    r"^(?:\[(?:rank|default|RANK|Rank)\s?\d{1,6}\]\s?:?\s?|\[\d{1,6}\]\s?:\s?"
    r"|\d{1,5}:\s(?=\s{2}|Trace|\w+Error)|\(\w{1,40}\s?(?:pid|rank)=\d{1,9}[^)]{0,60}\)\s?)+"
)

_START: Final = re.compile(r"Traceback \(most recent call last\)")
_NOTEBOOK: Final = re.compile(r"^(?P<name>[\w.]{1,120})\s{2,}Traceback \(most recent call last\)")
_FRAME: Final = re.compile(
    r"^\s{0,8}File \"(?P<file>[^\"]{1,500})\", line (?P<line>\d{1,9})"
    r"(?:, in (?P<function>.{1,200}))?"
)
_RICH_FRAME: Final = re.compile(
    r"^\s?(?P<file>[^\s:]{1,500}\.py):(?P<line>\d{1,9}) in (?P<function>[\w<>.]{1,200})"
)
_CELL_FRAME: Final = re.compile(
    r"^(?:File |Cell )?(?P<file>In\s?\[\d{1,6}\]|[^\s:,]{1,500}\.py)(?:, line |:)(?P<line>\d{1,9})"
    r"(?:, in (?P<function>[\w<>.]{1,200}))?"
)
_ARROW: Final = re.compile(r"^-{1,20}> ?\d{1,9}\b|^\s{1,12}\d{1,9}\b")
# a class whose name says that it is an exception, and what it says
EXCEPTION: Final = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80}"
    r"(?:Error|Exception|Interrupt|Exit|Failure|Timeout|Warning|Abort|Signal|Refused|Crash))"
    r"(?::\s?(?P<message>.{0,10000}))?$"
)

# what ends a traceback may have any name that a class may have
_ANY_EXCEPTION: Final = re.compile(
    r"^(?P<name>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80})(?::\s(?P<message>.{0,10000}))?$"
)

_CHAIN: Final = ("During handling of the above exception", "The above exception was the direct")
# lines of messages that are not indented; from torch's ``c10/cuda/CUDAException.cpp``
_MESSAGE_GOES_ON: Final = (
    "CUDA kernel errors might be",
    "For debugging consider",
    "Compile with `TORCH_USE_CUDA_DSA`",
    "Device-side assertion",
)

_BOX: Final = "│┃|"
_EDGES: Final = ("╭", "╰", "┌", "└", "+--", "-----")


@dataclass
class Tracebacks:
    """Reads exceptions from lines that are fed to it one by one."""

    events: list[Event] = field(default_factory=list)
    _frames: list[str] = field(default_factory=list)
    _within: bool = False
    _named: str = ""
    _line: int = 0
    _message: list[str] = field(default_factory=list)
    _exception: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to a traceback or to the message of an exception."""
        return self._within or bool(self._exception)

    def feed(self, number: int, text: str) -> bool:
        """Take a line; whether it belongs to a traceback, or is an exception by itself."""
        bare = PREFIX.sub("", text)
        if "\\n" in bare and _START.search(bare):  # a logger put it into one line
            for part in bare.replace('\\"', '"').split("\\n"):
                self.feed(number, part)
            self.close(number)
            return True
        if self._exception:
            if self._goes_on(bare):
                return True
            self._end()
        if _START.search(bare):
            named = _NOTEBOOK.match(bare)
            self._frames, self._within, self._named = [], True, named["name"] if named else ""
            return True
        inner = bare.strip(_BOX).rstrip() if bare[:1] in _BOX else bare
        if self._frame(inner):
            self._within = True
            return True
        found = EXCEPTION.match(inner.strip())
        if found is None and self._within and inner[:1].strip():
            found = _ANY_EXCEPTION.match(inner.strip())
        if found is not None:
            self._exception, self._line = found["name"], number
            self._message = [found["message"] or ""]
            return True
        if self._within and not self._inside(bare, inner):
            self._cut(number - 1)
        return self._within

    def close(self, lines: int) -> None:
        """Say that the log has ended, after so many lines."""
        if self._exception:
            self._end()
        elif self._within and self._frames:
            self._cut(lines)

    def _frame(self, text: str) -> bool:
        """Whether a line is a frame, which is kept."""
        found = _FRAME.match(text)
        if found is None and self._within:
            found = _RICH_FRAME.match(text) or _CELL_FRAME.match(text)
        if found is None:
            return False
        place = f"{found['file']}:{found['line']}"
        self._frames.append(f"{place} in {found['function']}" if found["function"] else place)
        del self._frames[:-MOST_FRAMES]
        return True

    def _inside(self, text: str, inner: str) -> bool:
        """Whether a line may stand in a traceback: source, marks, boxes, repeats, nothing."""
        return (
            not inner.strip()
            or text[:1].isspace()
            or text[:1] in _BOX
            or text.startswith((*_EDGES, *_CHAIN, "  ["))
            or _ARROW.match(inner) is not None
        )

    def _goes_on(self, text: str) -> bool:
        """Whether a line belongs to the message of the exception before it."""
        if not self._within or not text.strip() or len(self._message) >= MESSAGE_LINES:
            return False
        if text.startswith((*_EDGES, *_CHAIN)) or _START.search(text):
            return False
        if EXCEPTION.match(text) or _FRAME.match(text):
            return False
        if not text[:1].isspace() and not text.startswith(_MESSAGE_GOES_ON):
            return False
        self._message.append(text.strip())
        return True

    def _end(self) -> None:
        message = "\n".join(self._message).strip()
        self._say(self._exception, message, self._line)
        self._exception, self._message = "", []

    def _cut(self, line: int) -> None:
        """A traceback whose exception is not there: only its class, if a notebook named it."""
        if self._frames:
            self._say(self._named, "", line)
        self._within = False

    def _say(self, name: str, message: str, line: int) -> None:
        kind: EventKind = "warning" if name.endswith("Warning") else "exception"
        frames = tuple(self._frames)
        self.events.append(Event(kind, 0, line, name, message, frames))
        self._frames, self._within, self._named = [], False, ""


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
        ("SIGKILL", r"oom[-_]?kill(?!_allocating|\s0\b)|oom_reaper:|OOM Killed|OOMKilled"),
        ("SIGKILL", r"Out of memory: Killed process"),
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


class KnownLines:
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
