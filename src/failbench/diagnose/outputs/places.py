"""Places: where rows of a log and its evidence stand on a curve, and what of it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from failbench.base.arrays import Array
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import NOWHERE, Log

Unit = Literal["step", "epoch", "row"]
# a count that begins anew more often, such as the batch within an epoch, orders no rows
MOST_RESTARTS: Final = 3
MOST_POINTS: Final = 2_000  # of a curve: more than a picture has columns of pixels
LETTER: Final = 0.08  # inches that a letter of a label takes
EDGE: Final = 0.14  # inches that its frame and the gap to the next one take


@dataclass(frozen=True)
class Places:
    """Where rows stand."""

    unit: Unit
    of_rows: Array
    guessed: bool


@dataclass(frozen=True)
class Mark:
    """An item of evidence that has a place."""

    at: float
    number: int
    signal: str
    value: float | None


@dataclass(frozen=True)
class Label:
    """The numbers of marks that stand together."""

    at: float
    text: str


def places_of(log: Log) -> Places:
    """Where the rows of a log stand: by step, else by epoch, else by their order."""
    rows = log.rows
    steps = np.where(rows.step == NOWHERE, np.nan, rows.step)
    counts: dict[Unit, Array] = {"step": steps, "epoch": rows["epoch"]}
    for unit, count in counts.items():
        said = np.where(np.isfinite(count), count, np.nan)
        if _orders(said, log):
            filled = _filled(said, rows["epoch"], rows.source)
            return Places(unit, filled, bool(np.isnan(said).any()))
    return Places("row", np.arange(1, len(rows) + 1, dtype=np.float64), guessed=False)


def _orders(said: Array, log: Log) -> bool:
    """Whether a count puts the values of the signal with most of them in an order."""
    sources = log.rows.source
    measured = [log.rows.has(signal) & log.rows.is_train for signal in log.present]
    chosen = max(measured, key=np.count_nonzero, default=np.zeros(0, dtype=bool))
    chosen = ~np.isnan(said) & chosen
    if not chosen.any():
        return bool(np.isfinite(said).any())
    changes = [np.diff(said[chosen & (sources == each)]) for each in np.unique(sources[chosen])]
    steps = np.concatenate(changes)
    stays = np.count_nonzero(steps == 0)
    return bool(np.sum(steps < 0) <= MOST_RESTARTS and 2 * stays <= np.count_nonzero(chosen))


def _filled(said: Array, epochs: Array, sources: np.ndarray) -> Array:
    """Places of all rows: between neighbours, by epochs, or spread evenly over the whole."""
    filled = said.copy()
    known = ~np.isnan(said)
    related = known & np.isfinite(epochs)
    order = np.argsort(epochs[related], kind="stable")
    for source in np.unique(sources):
        rows = np.flatnonzero(sources == source)
        own = rows[known[rows]]
        if own.size:
            filled[rows] = np.where(known[rows], said[rows], np.interp(rows, own, said[own]))
        elif related.any() and np.isfinite(epochs[rows]).all():
            filled[rows] = np.interp(epochs[rows], epochs[related][order], said[related][order])
        else:
            filled[rows] = np.linspace(np.nanmin(said), np.nanmax(said), rows.size)
    return filled


def place_of_finding(finding: Finding, log: Log, places: Places) -> float | None:
    """Where a finding stands, words with the row before them; None where nothing says so."""
    if places.unit == "step" and finding.step is not None:
        return float(finding.step)
    names = [source.name for source in log.sources]
    source = names.index(finding.source) if finding.source in names else NOWHERE
    rows = np.flatnonzero(log.rows.source == source)
    lines, steps = log.rows.line[rows], log.rows.step[rows]
    if finding.line is not None and (lines != NOWHERE).any():
        before = rows[(lines != NOWHERE) & (lines <= finding.line)]
        found = before[-1:] if before.size else rows[:1]
    elif finding.step is not None:
        found = rows[steps == finding.step][:1]
    else:
        return None
    return float(places.of_rows[found[0]]) if found.size else None


def thinned(x: Array, y: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """At most ``most`` points: the ends, and of equal spans extremes and what is not finite."""
    if len(y) <= most:
        return x, y
    kept = {0, len(y) - 1}
    for part in np.array_split(np.arange(len(y)), (most - 2) // 3):
        finite = np.isfinite(y[part])
        if finite.any():
            numbers = part[finite]
            kept |= {int(numbers[y[numbers].argmin()]), int(numbers[y[numbers].argmax()])}
        if not finite.all():
            kept.add(int(part[~finite][0]))
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]


def labels_apart(marks: list[Mark], inches: float) -> list[Label]:
    """Labels from left to right, none of which touches another; ``inches`` has a unit of place."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: (mark.at, mark.number)):
        groups.append([mark])
        while len(groups) > 1 and _touch(_label(groups[-2]), _label(groups[-1]), inches):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_label(group) for group in groups]


def _touch(left: Label, right: Label, inches: float) -> bool:
    widths = [LETTER * len(label.text) + EDGE for label in (left, right)]
    return (right.at - left.at) * inches < sum(widths) / 2


def _label(group: list[Mark]) -> Label:
    """Numbers in their order, three or more that follow one another as a range."""
    runs: list[list[int]] = []
    for number in sorted({mark.number for mark in group}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(str(number) for number in run)
        for run in runs
    ]
    return Label((group[0].at + group[-1].at) / 2, ", ".join(parts))
