"""Loops of one's own: a line of names and values for each entry."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.neighbours.rendering.names import draw_names
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.tables import records, shown
from failbench.neighbours.rendering.terminal import terminal

_LOGGING: Final = ("", "", "", "2026-03-14 10:41:07 INFO ", "INFO:train:", "[10:41:07] ")
"""What goes before a line: nothing where it is printed, else what logging puts there."""

_MEBIBYTE: Final = 2**20


def own_lines(
    run: LoggedRun, shape: LogShape, names: dict[str, str], sign: str, separator: str
) -> list[str]:
    """A line for each entry."""
    text = shown(shape.digits)
    memory = names["memory"]
    lines = []
    for record in records(run, shape, names):
        if len(record) < 2:
            continue
        pairs = [
            f"{name}{sign}{value / _MEBIBYTE:.1f}MiB"
            if name == memory
            else f"{name}{sign}{text(value)}"
            for name, value in record.items()
        ]
        line = separator.join(pairs)
        lines.append(f"| {line} |" if "|" in separator else line)
    return lines


def _printed(
    run: LoggedRun, shape: LogShape, rng: np.random.Generator, sign: str, separator: str
) -> dict[str, bytes]:
    names = draw_names(rng)
    head = _LOGGING[rng.integers(len(_LOGGING))]
    lines = [head + line for line in own_lines(run, shape, names, sign, separator)]
    return terminal(lines, run, shape, rng)


def key_equals(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``step=1 loss=2.5``."""
    return _printed(run, shape, rng, "=", " ")


def key_colon(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``step: 1, loss: 2.5``."""
    return _printed(run, shape, rng, ": ", ", ")


def key_bars(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``| step 1 | loss 2.5 |``."""
    return _printed(run, shape, rng, " ", " | ")
