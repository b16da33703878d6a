"""The figure of the audit: printed intervals over Wilson intervals of 76 scenarios."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.style import BLACK, BLUE, GREY, VERMILLION

WIDTH: Final = 3.4
"""Inches: one column of the page, so that text is not scaled down."""

FONT: Final = 6.5
ROW_HEIGHT: Final = 0.21
"""Inches per interval."""

LEFT: Final = 30.0
"""Left end of the axis, in percent."""

COLOURS: Final = {"inconsistent": VERMILLION, "consistent": BLUE}
MARKERS: Final = {"inconsistent": "D", "consistent": "o"}
"""Markers differ too, for readers without colour vision and printing without colour."""


def draw_paper_audit(points: pl.DataFrame) -> Figure:
    """Every printed interval of an accuracy over the Wilson interval of its n.

    Parameters
    ----------
    points
        As :func:`failbench.audit.claims.audit_paper` returns them; the tests of intervals
        of rates are drawn, by place and in the order of the claims.
    """
    drawn = points.filter(pl.col("kind") == "rate_interval")
    height = 0.95 + ROW_HEIGHT * drawn.height
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(drawn.height, dtype=float)
    value, low, high, printed_low, printed_high = (
        100 * drawn[name].to_numpy()
        for name in ("value", "low", "high", "printed_low", "printed_high")
    )
    sizes = " / ".join(str(n) for n in drawn["n"].unique().sort())
    axes.hlines(
        rows,
        low,
        high,
        color=GREY,
        linewidth=5,
        alpha=0.6,
        label=f"Wilson interval of {sizes} scenarios",
    )
    for verdict, colour in COLOURS.items():
        marked = (drawn["verdict"] == verdict).to_numpy()
        axes.errorbar(
            value[marked],
            rows[marked],
            xerr=(value[marked] - printed_low[marked], printed_high[marked] - value[marked]),
            color=colour,
            marker=MARKERS[verdict],
            linestyle="none",
            markersize=2.8,
            elinewidth=1.1,
            capsize=1.8,
            label=f"printed, {verdict} with {sizes} scenarios",
        )
    _name_rows(axes, drawn)
    axes.set_xlim(LEFT, 101.0)
    axes.set_xlabel("accuracy with 95 % interval (%)", fontsize=FONT)
    axes.tick_params(axis="x", labelsize=FONT)
    figure.legend(loc="outside upper left", fontsize=FONT, handletextpad=0.4)
    return figure


def _name_rows(axes: Axes, drawn: pl.DataFrame) -> None:
    """Methods at the left, at the right the n that each printed width implies."""
    axes.set_yticks(range(drawn.height), drawn["label"].to_list(), fontsize=FONT)
    axes.set_ylim(drawn.height - 0.4, -1.4)
    axes.tick_params(axis="y", length=0)
    right = axes.secondary_yaxis("right")
    right.set_yticks(
        [-1, *range(drawn.height)],
        ["implied n", *(f"{n:,}" for n in drawn["implied_n"])],
        fontsize=FONT,
    )
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)
    places = drawn["place"].to_list()
    for row, (place, following) in enumerate(zip(places, [*places[1:], None], strict=True)):
        if place != following:
            # no interval reaches the left edge in the last row of its place
            axes.text(LEFT + 1, row, place, fontsize=FONT - 0.5, color=BLACK, va="center")
        if following not in {place, None}:
            axes.axhline(row + 0.5, color=GREY, linewidth=0.4)
