"""Pastes: what people copy from a terminal, an error with little or much around it."""

from __future__ import annotations

import numpy as np

from failbench.neighbours.rendering.endings import ending_lines
from failbench.neighbours.rendering.names import draw_names
from failbench.neighbours.rendering.own_loops import own_lines
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import as_file, prefixed, with_noise


def traceback_alone(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """The end of a run with few lines before it, or a part of that end.

    Of a run that ended without a word, the last line at least: one pastes something.
    """
    lines = own_lines(run, shape, draw_names(rng), ": ", " | ")
    noisy = with_noise(lines, run, shape, rng)
    end = ending_lines(run, shape, rng)
    share = float(rng.uniform(0.1, 0.7))
    missing = int(share * len(end))
    kept = max(shape.kept, 0 if end else 1)
    if end and shape.cut == "head":
        end, kept = end[missing:], 0
    elif shape.cut == "end":
        end = end[: len(end) - missing]
    return as_file([*noisy[len(noisy) - min(kept, len(noisy)) :], *prefixed(end, shape)])


def mixed_paste(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """All that a notebook or terminal showed: lines, colours, bars, the error."""
    lines = own_lines(run, shape, draw_names(rng), "=", ", ")
    coloured = with_noise(
        ["Loading data", *lines],
        run,
        LogShape(**{**vars(shape), "coloured": True, "bars": True}),
        rng,
    )
    return as_file([*coloured, *prefixed(ending_lines(run, shape, rng), shape)])
