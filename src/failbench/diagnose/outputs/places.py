"""Places: where on the horizontal axis of a curve the rows of a log and its evidence stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import Log

Unit = Literal["step", "epoch", "row"]

MOST_RESTARTS: Final = 3
"""A count that begins anew more often, such as the batch within an epoch, orders no rows."""


@dataclass(frozen=True)
class Places:
    """Where rows stand."""

    unit: Unit
    of_rows: Array
    guessed: bool


def places_of(log: Log) -> Places:
    """Where the rows of a log stand: by step, else by epoch, else by their order."""
    rows = log.frame()
    sources = rows["source"].to_numpy()
    for unit in ("step", "epoch"):
        said = rows[unit].cast(pl.Float64).fill_null(np.nan).to_numpy()
        said = np.where(np.isfinite(said), said, np.nan)
        if _orders(said, sources, log):
            epochs = rows["epoch"].fill_null(np.nan).to_numpy()
            return Places(unit, _filled(said, epochs, sources), bool(np.isnan(said).any()))
    return Places("row", np.arange(1, rows.height + 1, dtype=np.float64), guessed=False)


def place_of_finding(finding: Finding, log: Log, places: Places) -> float | None:
    """Where a finding stands among the rows, or None where nothing says so.

    One that is said in words, between rows, stands with the row before it.
    """
    if places.unit == "step" and finding.step is not None:
        return float(finding.step)
    names = [source.name for source in log.sources]
    rows = (
        log.frame()
        .with_row_index("row")
        .filter(
            pl.col("source") == (names.index(finding.source) if finding.source in names else -1)
        )
    )
    if finding.line is not None and rows["line"].null_count() < rows.height:
        before = rows.filter(pl.col("line") <= finding.line)
        found = before.tail(1) if before.height else rows.head(1)
    elif finding.step is not None:
        found = rows.filter(pl.col("step") == finding.step).head(1)
    else:
        return None
    return float(places.of_rows[found["row"][0]]) if found.height else None


def _orders(said: Array, sources: np.ndarray, log: Log) -> bool:
    """Whether a count puts the values of the signal with most of them in an order."""
    measured = [log.rows.has(signal) & log.rows.is_train for signal in log.present]
    chosen = max(measured, key=np.count_nonzero, default=np.zeros(0, dtype=bool))
    chosen = ~np.isnan(said) & chosen
    if not chosen.any():
        return bool(np.isfinite(said).any())
    restarts = stays = 0
    for source in np.unique(sources[chosen]):
        steps = np.diff(said[chosen & (sources == source)])
        restarts += int(np.sum(steps < 0))
        stays += int(np.sum(steps == 0))
    return restarts <= MOST_RESTARTS and 2 * stays <= int(np.count_nonzero(chosen))


def _filled(said: Array, epochs: Array, sources: np.ndarray) -> Array:
    """Places for all rows: those without one stand between the rows around them.

    A source without any is placed by its epochs, as the others relate them to steps, and else
    spread evenly over the whole.
    """
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
