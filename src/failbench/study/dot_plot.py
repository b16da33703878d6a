"""Dot plot: rows of named things, and marks with intervals in each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.study.style import BLACK, GREY, THIN, Mark

SPREAD = 0.62
"""Share of a row that its marks take."""


def dot_plot(
    axes: Axes,
    points: pl.DataFrame,
    rows: Mapping[str, str],
    marks: Mapping[str, Mark],
    *,
    spread: float = SPREAD,
    scale: float = 100.0,
    heavy_above: Collection[str] = (),
) -> None:
    """Draw values with their intervals along the horizontal axis, the first row on top."""
    positions = {row: position for position, row in enumerate(rows)}
    offsets = np.linspace(-spread / 2, spread / 2, len(marks)) if len(marks) > 1 else np.zeros(1)
    for (name, mark), offset in zip(marks.items(), offsets, strict=True):
        drawn = points.filter(pl.col("mark") == name, pl.col("row").is_in(list(rows)))
        if drawn.is_empty():
            continue
        value, low, high = (
            scale * drawn[column].cast(pl.Float64).to_numpy()
            for column in ("value", "ci_low", "ci_high")
        )
        at = np.array([positions[row] for row in drawn["row"]]) + offset
        # not as error bars, which must hold the value: a bootstrap interval need not
        axes.hlines(at, low, high, color=mark.colour, linewidth=0.9)
        axes.plot(value, at, linestyle="none", label=mark.label, **mark.look)
    rule_rows(axes, rows, heavy_above=heavy_above)


def rule_rows(axes: Axes, rows: Mapping[str, str], *, heavy_above: Collection[str] = ()) -> None:
    """Name the rows, and draw a line between each and the next."""
    for position, row in enumerate(rows):
        if position:
            heavy = row in heavy_above
            axes.axhline(
                position - 0.5,
                color=BLACK if heavy else GREY,
                linewidth=0.8 if heavy else THIN / 2,
                zorder=0,
            )
    axes.set_yticks(range(len(rows)), list(rows.values()))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def dot_panels(
    figure: Figure,
    points: pl.DataFrame,
    rows: Mapping[str, str],
    marks: Mapping[str, Mark],
    panels: Mapping[str, str],
    *,
    spread: float = SPREAD,
    heavy_above: Collection[str] = (),
    guide: bool = True,
) -> list[Axes]:
    """A dot plot per condition, side by side, over the same rows."""
    grid = list(figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0])
    first = points.filter(pl.col("panel") == next(iter(panels)), pl.col("mark").is_in(list(marks)))
    guides = {
        row: group["value"][0]
        for (row,), group in first.group_by("row")
        if group.height == 1 and row in rows
    }
    for number, (axes, (panel, title)) in enumerate(zip(grid, panels.items(), strict=True)):
        of_panel = points.filter(pl.col("panel") == panel)
        dot_plot(axes, of_panel, rows, marks, spread=spread, heavy_above=heavy_above)
        axes.set_title(title)
        present = set(of_panel["row"])
        for position, row in enumerate(rows):
            if guide and number and row in guides and row in present:
                at = [100 * guides[row]] * 2
                axes.plot(at, [position - 0.4, position + 0.4], color=GREY, zorder=1)
    return grid
