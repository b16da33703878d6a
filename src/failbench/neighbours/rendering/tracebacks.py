"""How runs end: recorded errors in terms of a user's scripts, and how terminals show them.

``data/frames.csv`` says where a script would make a recorder's call, since the recorder's names
and lines would tell what was injected; a frame that no script would have is left out.
"""

import csv
import json
import re
import signal
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

import numpy as np

EndingKind = Literal["completed", "exception", "death", "silence"]
Style = Literal["plain", "ranks", "rich", "notebook"]
RECORDER: Final = "failbench/"  # how the paths of the recorder's own frames begin
# share of trainings with ranks of which the launcher's own summary is in the log: it goes to
# standard error of the launcher, which is as often another file
LAUNCHED: Final = 0.5
_FRAME: Final = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_MARKS: Final = re.compile(r"[\s~^]+")
_ANY: Final = "*"
_WIDTH: Final = 100  # columns of a box of rich, its default
_HEAD: Final = "Traceback (most recent call last)"
_RANK: Final = "[rank0]: "  # before each line of a rank's uncaught exception
_HOW: Final = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


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


@dataclass(frozen=True)
class Ending:
    """How a run ended, as far as a log could say."""

    kind: EndingKind
    traceback: Traceback | None = None
    signal: str = ""


@dataclass(frozen=True)
class Places:
    """Folders of a machine: of the user's scripts, of packages, and of Python's own modules."""

    project: str
    packages: str
    library: str

    def path(self, frame: Frame) -> str:
        """Where the file of a frame lies."""
        if frame.file.startswith("<"):
            return frame.file
        if "/" not in frame.file:
            return self.project + frame.file
        return (self.library if frame.file.startswith("python3.") else self.packages) + frame.file


@cache
def declared(name: str) -> Any:
    """What a file of this package's data holds: a document of JSON, rows of CSV, or text."""
    text = files("failbench.neighbours.rendering").joinpath("data", name).read_text("utf-8")
    if name.endswith(".csv"):
        return list(csv.DictReader(text.splitlines()))
    return json.loads(text) if name.endswith(".json") else text


@lru_cache(maxsize=1024)
def neutral_traceback(text: str) -> Traceback:
    """Read a recorded traceback; neighbouring frames of the recorder in one place become one."""
    recorded = _recorded(text)
    kept: list[tuple[Frame, bool]] = []
    for frame in recorded.frames:
        own = frame.file.startswith(RECORDER)
        neutral = _neutral(frame) if own else frame
        if neutral is None:
            continue
        place = (neutral.file, neutral.function, own)
        if own and kept and (kept[-1][0].file, kept[-1][0].function, kept[-1][1]) == place:
            kept.pop()
        kept.append((neutral, own))
    return Traceback(tuple(frame for frame, _ in kept), recorded.error)


def _recorded(text: str) -> Traceback:
    frames: list[Frame] = []
    error: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        found = _FRAME.fullmatch(line)
        if found is not None:
            frames.append(Frame(found["file"], int(found["line"]), found["function"]))
            error = []
        elif frames and line.startswith("    ") and not error:
            if not frames[-1].source:
                frames[-1] = replace(frames[-1], source=line[4:])
            elif _MARKS.fullmatch(line[4:]):
                frames[-1] = replace(frames[-1], marks=line[4:])
        elif not line.startswith("Traceback ("):
            error.append(line)
    return Traceback(tuple(frames), tuple(error))


def _neutral(frame: Frame) -> Frame | None:
    """The frame of a user's script in place of one of the recorder; None if it has none."""
    file = frame.file.rpartition("recording/")[2]
    keys = (file, frame.function, frame.source), (file, frame.function, _ANY), (file, _ANY, _ANY)
    known = _neutral_frames()
    row = known[next((key for key in keys if key in known), (_ANY, _ANY, _ANY))]
    if not row["user_file"]:
        return None
    return Frame(
        row["user_file"],
        int(row["user_line"] or 0),
        row["user_function"] or frame.function,
        row["user_source"],
        frame.marks if row["user_source"] == frame.source else "",
    )


@cache
def _neutral_frames() -> dict[tuple[str, str, str], dict[str, str]]:
    return {(row["file"], row["function"], row["source"]): row for row in declared("frames.csv")}


def draw_places(rng: np.random.Generator) -> Places:
    """The folders of some machine."""
    known = declared("places.json")
    return Places(**known[rng.integers(len(known))])


def plain(traceback: Traceback, places: Places) -> list[str]:
    """As Python prints it."""
    lines = [f"{_HEAD}:"]
    for frame in traceback.frames:
        lines.append(f'  File "{places.path(frame)}", line {frame.line}, in {frame.function}')
        lines += [f"    {text}" for text in (frame.source, frame.marks) if text]
    return [*lines, *traceback.error]


def rich(traceback: Traceback, places: Places) -> list[str]:
    """In a box, as rich prints it; of each file the line alone."""
    inner = _WIDTH - 4
    lines = [f"╭{f' {_HEAD} ':─^{_WIDTH - 2}}╮"]
    for frame in traceback.frames:
        texts = [f"{places.path(frame)}:{frame.line} in {frame.function}"]
        if frame.source:
            texts += ["", f"❱ {frame.line} │   {frame.source}", ""]
        for text in texts:
            parts = [text[at : at + inner] for at in range(0, len(text), inner)] or [""]
            lines += [f"│ {part:<{inner}} │" for part in parts]
    return [*lines, f"╰{'─' * (_WIDTH - 2)}╯", *traceback.error]


def notebook(traceback: Traceback, places: Places) -> list[str]:
    """With arrows, as IPython prints it."""
    name = traceback.error[0].partition(":")[0] if traceback.error else "Exception"
    lines = ["-" * 75, f"{name:<42}{_HEAD}"]
    for position, frame in enumerate(traceback.frames):
        arguments = "" if frame.function.startswith("<") else "(...)"
        if position == 0 and frame.function == "<module>":
            lines.append(f"Cell In[7], line {frame.line}")
        else:
            place = f"File {places.path(frame)}:{frame.line}"
            lines.append(f"{place}, in {frame.function}{arguments}")
        if frame.source:
            lines.append(f"----> {frame.line} {frame.source}")
        lines.append("")
    return [*lines, *traceback.error]


def ending_lines(
    ending: Ending, style: Style, rng: np.random.Generator, *, said: bool = True
) -> list[str]:
    """A terminal's last lines; ``data/deaths.json`` has what is said of a signal that ended it."""
    places, pid = draw_places(rng), int(rng.integers(1_000, 100_000))
    number, chance, launched = int(rng.integers(1, 60)), rng.random(), rng.random() < LAUNCHED
    if not said or ending.kind in ("completed", "silence"):
        return []
    summary = _summary(ending, pid) if style == "ranks" and launched else []
    if ending.traceback is None:
        forms = declared("deaths.json").get(ending.signal, ("Killed",))
        return summary or [forms[int(chance * len(forms))].format(pid=pid, line=number)]
    if style in ("rich", "notebook"):
        return (rich if style == "rich" else notebook)(ending.traceback, places)
    head = _RANK if style == "ranks" else ""
    return [head + line for line in plain(ending.traceback, places)] + summary


def _summary(ending: Ending, pid: int) -> list[str]:
    """What torchrun says of a failed rank (torch's ``multiprocessing/errors/__init__.py``)."""
    code, message = 1, _HOW
    if ending.traceback is None:
        code = -signal.Signals[ending.signal]
        message = f"Signal {-code} ({ending.signal}) received by PID {pid}"
    text: str = declared("torchrun.txt").format(code=code, pid=pid, message=message)
    return text.splitlines()
