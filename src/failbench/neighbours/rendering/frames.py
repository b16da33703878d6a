"""Frames of recorded tracebacks, with the recorder's own put in terms of a user's scripts.

``data/frames.csv`` says for the frames of the recorder in which file and function of a training
script the same call would stand. The recorder's names and lines would tell what was injected; a
line number is therefore that of the table, and a frame that no script would have is left out.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

RECORDER: Final = "failbench/"
"""How the paths of the recorder's own frames begin."""

_FRAME: Final = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_MARKS: Final = re.compile(r"[\s~^]+")
_ANY: Final = "*"


@dataclass(frozen=True)
class Frame:
    """A call on the stack."""

    file: str
    line: int
    function: str
    source: str = ""
    marks: str = ""


@dataclass(frozen=True)
class Traceback:
    """An exception with the frames that it passed, the outermost first."""

    frames: tuple[Frame, ...]
    error: tuple[str, ...]


@lru_cache(maxsize=1024)
def neutral_traceback(text: str) -> Traceback:
    """Read a recorded traceback."""
    frames: list[Frame] = []
    ours: list[bool] = []
    error: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        found = _FRAME.fullmatch(line)
        if found is not None:
            frames.append(Frame(found["file"], int(found["line"]), found["function"]))
            error = []
        elif frames and line.startswith("    ") and not error:
            frames[-1] = _with_text(frames[-1], line[4:])
        elif not line.startswith("Traceback ("):
            error.append(line)
    kept: list[Frame] = []
    for frame in frames:
        own = frame.file.startswith(RECORDER)
        neutral = _neutral(frame) if own else frame
        if neutral is None:
            continue
        if own and ours and ours[-1] and _place(kept[-1]) == _place(neutral):
            kept.pop()
            ours.pop()
        kept.append(neutral)
        ours.append(own)
    return Traceback(tuple(kept), tuple(error))


def _place(frame: Frame) -> tuple[str, str]:
    return frame.file, frame.function


def _with_text(frame: Frame, line: str) -> Frame:
    """The frame with a line that stands below it: its source, or the marks below that."""
    if not frame.source:
        return Frame(frame.file, frame.line, frame.function, line)
    if _MARKS.fullmatch(line):
        return Frame(frame.file, frame.line, frame.function, frame.source, line)
    return frame


def _neutral(frame: Frame) -> Frame | None:
    """The frame of a user's script in place of one of the recorder; None if it has none."""
    file = frame.file.rpartition("recording/")[2]
    table = _table()
    keys = (
        (file, frame.function, frame.source),
        (file, frame.function, _ANY),
        (file, _ANY, _ANY),
        (_ANY, _ANY, _ANY),
    )
    name, line, function, source = next(table[key] for key in keys if key in table)
    if not name:
        return None
    marks = frame.marks if source == frame.source else ""
    return Frame(name, int(line or 0), function or frame.function, source, marks)


@cache
def _table() -> dict[tuple[str, str, str], tuple[str, str, str, str]]:
    """The table, by file, function and source of the recorder."""
    text = files("failbench.neighbours.rendering").joinpath("data/frames.csv").read_text("utf-8")
    return {
        (row["file"], row["function"], row["source"]): (
            row["user_file"],
            row["user_line"],
            row["user_function"],
            row["user_source"],
        )
        for row in csv.DictReader(text.splitlines())
    }
