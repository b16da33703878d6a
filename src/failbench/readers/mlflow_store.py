"""MLflow's file store: a folder of metrics, a file for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from failbench.readers.log import Log, Source
from failbench.readers.names import Meaning, meaning
from failbench.readers.numbers import number
from failbench.readers.rows import Rows


def is_metric(path: Path) -> bool:
    """Whether a file lies where the store keeps a metric: ``<run>/metrics/<key>``."""
    return "metrics" in path.parts[:-1] and path.suffix == ""


def read_metric(name: str, key: str, lines: Iterator[tuple[int, str]]) -> Log | None:
    """Read the file of one metric: lines of time in milliseconds, value, step; None if unknown.

    Parameters
    ----------
    name
        What the source is called.
    key
        The metric's, which may have slashes.
    lines
        Each with its number.
    """
    found = meaning(key)
    if found is None:
        return None
    rows, last = Rows(), 0
    for last, text in lines:
        cells = text.split()
        values = [number(cell) for cell in cells[1:3]]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            rows.add(last, [(found, values[0]), (Meaning("step"), values[1])])
    return Log((Source(name, "MLflow metric", last),), rows.table(), ())
