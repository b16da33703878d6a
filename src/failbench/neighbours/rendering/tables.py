"""Tables and records of loops of one's own: CSV, Markdown, JSON lines, a JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np

from failbench.neighbours.rendering.entries import entries
from failbench.neighbours.rendering.names import draw_names
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape
from failbench.neighbours.rendering.terminal import beside


def records(
    run: LoggedRun, shape: LogShape, names: dict[str, str]
) -> Iterator[dict[str, float | int]]:
    """A record for each entry, with the step under its name and the values under theirs."""
    for entry in entries(run, shape):
        record: dict[str, float | int] = {names["step"]: entry.step}
        record.update({names[name]: value for name, value in entry.values.items()})
        if entry.validation is not None:
            record[names["validation"]] = entry.validation
        yield record


def csv_table(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``metrics.csv``: a line for each entry, cells empty where nothing was measured."""
    text = shown(shape.digits)
    names = draw_names(rng)
    heading = _heading(shape, names)
    lines = [",".join(heading)]
    for record in records(run, shape, names):
        lines.append(",".join(text(record[name]) if name in record else "" for name in heading))
    return {"metrics.csv": _joined(lines), **beside(run, shape, rng)}


def markdown(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``results.md``, as it is pasted where Markdown is shown."""
    text = shown(shape.digits)
    names = draw_names(rng)
    heading = _heading(shape, names)
    lines = [f"| {' | '.join(heading)} |", f"|{' ---: |' * len(heading)}"]
    for record in records(run, shape, names):
        cells = [text(record[name]) if name in record else "" for name in heading]
        lines.append(f"| {' | '.join(cells)} |")
    return {"results.md": _joined(lines), **beside(run, shape, rng)}


def json_lines(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``log.jsonl``: an object for each entry, with the bare ``NaN`` that Python writes."""
    names = draw_names(rng)
    lines = [json.dumps(record) for record in records(run, shape, names)]
    return {"log.jsonl": _joined(lines), **beside(run, shape, rng)}


def history(run: LoggedRun, shape: LogShape, rng: np.random.Generator) -> dict[str, bytes]:
    """``history.json``: all records as one list."""
    names = draw_names(rng)
    text = json.dumps(list(records(run, shape, names)))
    return {"history.json": text.encode(), **beside(run, shape, rng)}


def shown(digits: int) -> Callable[[float], str]:
    """How a number is written: whole ones as such, small ones in powers of ten.

    >>> text = shown(3)
    >>> text(12), text(2.34567), text(0.000123456), text(float("nan"))
    ('12', '2.346', '1.235e-04', 'nan')
    """

    def text(value: float) -> str:
        if isinstance(value, int):
            return str(value)
        if not digits:
            return repr(value)
        return f"{value:.{digits}e}" if 0 < abs(value) < 1e-2 else f"{value:.{digits}f}"

    return text


def _heading(shape: LogShape, names: dict[str, str]) -> list[str]:
    validation = [names["validation"]] if shape.validation else []
    return [names["step"], *(names[name] for name in shape.signals), *validation]


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
