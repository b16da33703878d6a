"""Tracebacks: exceptions as Python, rich and notebooks print them, whole or cut off."""

import re
from dataclasses import dataclass, field
from typing import Final

from failbench.diagnose.readers.log import Event, EventKind

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
