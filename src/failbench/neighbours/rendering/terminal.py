"""A terminal's output: lines with what launchers, colours and progress bars add to them."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.neighbours.rendering.endings import ending_lines
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape

FILE: Final = "train.log"
_COLOURS: Final = ("\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[33m")
_END: Final = "\x1b[0m"
_PREFIX: Final = "[default0]:"
"""What torchrun puts before each line with ``--tee``."""
_BAR: Final = 20


def terminal(
    lines: list[str], run: LoggedRun, shape: LogShape, rng: np.random.Generator
) -> dict[str, bytes]:
    """What a terminal showed of a run: the lines, then how it ended."""
    noisy = with_noise(lines, run, shape, rng)
    return as_file([*noisy, *prefixed(ending_lines(run, shape, rng), shape)])


def as_file(lines: list[str]) -> dict[str, bytes]:
    """Lines as a file."""
    return {FILE: "".join(f"{line}\n" for line in lines).encode()}


def beside(
    run: LoggedRun, shape: LogShape, rng: np.random.Generator, lines: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """The terminal's output beside a file of metrics, if it was kept."""
    shown = terminal(["Loading data", "Training starts", *lines], run, shape, rng)
    return shown if shape.terminal else {}


def with_noise(
    lines: list[str], run: LoggedRun, shape: LogShape, rng: np.random.Generator
) -> list[str]:
    """The lines with prefixes, colours and the states of a progress bar."""
    colour, speed = _COLOURS[rng.integers(len(_COLOURS))], float(rng.uniform(2, 40))
    if shape.bars:
        total, count = max(1, run.planned_steps), max(1, len(lines))
        lines = [
            f"\r{bar(len(run.steps) * place // count, total, speed)}\r{line}"
            for place, line in enumerate(lines)
        ]
    if shape.coloured:
        lines = [f"{colour}{line}{_END}" for line in lines]
    return prefixed(lines, shape)


def prefixed(lines: list[str], shape: LogShape) -> list[str]:
    """The lines with the rank before each, if the launcher says it."""
    return [_PREFIX + line for line in lines] if shape.prefixed else lines


def bar(done: int, total: int, speed: float) -> str:
    """A progress bar of tqdm.

    >>> bar(5, 20, 10.0)
    ' 25%|█████               | 5/20 [00:00<00:01, 10.00it/s]'
    """
    full = "█" * (_BAR * done // total)
    spent, left = int(done / speed), int((total - done) / speed)
    times = f"{spent // 60:02d}:{spent % 60:02d}<{left // 60:02d}:{left % 60:02d}"
    return f"{100 * done // total:3d}%|{full:<{_BAR}}| {done}/{total} [{times}, {speed:.2f}it/s]"
