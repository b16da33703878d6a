"""Dot rows: figures with a row a method or architecture and marks with intervals in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes

from failbench.reporting.style import BLACK


def draw_marks(
    axes: Axes,
    rates: pl.DataFrame,
    rows: npt.NDArray[np.floating[Any]],
    *,
    colour: str,
    marker: str,
    label: str | None = None,
    scale: float = 1.0,
    size: float = 3.2,
) -> None:
    """Draw values with their intervals along the horizontal axis.

    Parameters
    ----------
    axes
        Where to draw.
    rates
        ``value``, ``ci_low`` and ``ci_high``, a mark a row.
    rows
        Where each mark stands on the vertical axis, ``[n_marks]``.
    colour, marker, size
        How it looks; the size is in points.
    label
        Its name in the legend.
    scale
        What values and bounds are multiplied by.
    """
    value, low, high = (scale * rates[name].to_numpy() for name in ("value", "ci_low", "ci_high"))
    axes.errorbar(
        value,
        rows,
        xerr=(value - low, high - value),
        color=colour,
        marker=marker,
        linestyle="none",
        markersize=size,
        elinewidth=0.8,
        label=label,
    )


def rule_rows(
    axes: Axes, labels: Sequence[str], font: float, width: float = 0.2, last: float | None = None
) -> None:
    """Name the rows, the first on top, and draw a line between each and the next.

    Parameters
    ----------
    axes
        Row i is at i of the vertical axis.
    labels
        Names of the rows.
    font, width
        Size of the names and width of the lines, in points.
    last
        Width of the line above the last row, if it differs.
    """
    for boundary in range(1, len(labels)):
        other = last is not None and boundary == len(labels) - 1
        axes.axhline(boundary - 0.5, color=BLACK, linewidth=last if other else width)
    axes.set_yticks(range(len(labels)), labels, fontsize=font)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
