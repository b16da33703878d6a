"""Tracebacks as they are shown: by Python, by rich, by notebooks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from failbench.neighbours.rendering.frames import Frame, Traceback

_WIDTH: Final = 100
"""Columns of a box of rich, its default."""

_LIBRARY: Final = "python3."
_HEAD: Final = "Traceback (most recent call last)"


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
        return (self.library if frame.file.startswith(_LIBRARY) else self.packages) + frame.file


@cache
def _all_places() -> tuple[Places, ...]:
    text = files("failbench.neighbours.rendering").joinpath("data/places.json").read_text("utf-8")
    return tuple(Places(**row) for row in json.loads(text))


def draw_places(rng: np.random.Generator) -> Places:
    """The folders of some machine."""
    known = _all_places()
    return known[rng.integers(len(known))]


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
        cell = position == 0 and frame.function == "<module>"
        arguments = "" if frame.function.startswith("<") else "(...)"
        place = f"File {places.path(frame)}:{frame.line}"
        lines.append(
            f"Cell In[7], line {frame.line}" if cell else f"{place}, in {frame.function}{arguments}"
        )
        if frame.source:
            lines.append(f"----> {frame.line} {frame.source}")
        lines.append("")
    return [*lines, *traceback.error]
