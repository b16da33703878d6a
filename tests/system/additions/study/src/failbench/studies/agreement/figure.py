"""The figure of agreement: a map with a row and a column per method."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.cells import percent
from failbench.reporting.labels import in_label_order, label_inside, method_label
from failbench.reporting.picture import Picture
from failbench.reporting.style import FULL_WIDTH

HEIGHT: Final = 4.6
"""Inches."""


def agreement_picture(points: pl.DataFrame) -> Picture:
    """Agreement of every two methods, from the published points.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    most = points.sort("value", "left", "right", descending=True).row(0, named=True)
    return Picture(
        f"{label_inside(most['left']).capitalize()} and {label_inside(most['right'])} agree most "
        f"often, on {percent(most['value'])} % of runs",
        "A map with a row and a column per method; the darker, the more often both agree.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, points),
    )


def _draw(points: pl.DataFrame, figure: Figure) -> None:
    methods = in_label_order([*points["left"], *points["right"]])
    labels = [method_label(method) for method in methods]
    shares = {(left, right): value for left, right, value, _ in points.iter_rows()}
    shares |= {(right, left): value for (left, right), value in shares.items()}
    cells = [[shares.get((row, column), 1.0) for column in methods] for row in methods]
    axes = figure.subplots()
    axes.pcolormesh(cells, vmin=0.0, vmax=1.0, cmap="Greys")
    centres = [position + 0.5 for position in range(len(methods))]
    axes.set_xticks(centres, labels, rotation=90)
    axes.set_yticks(centres, labels)
    axes.invert_yaxis()
