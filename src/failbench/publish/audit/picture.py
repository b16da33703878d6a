"""The figure of the audit: printed intervals over Wilson intervals of 76 scenarios."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.study.captions import Captions
from failbench.study.dot_plot import dot_plot
from failbench.study.picture import Picture, legend_outside
from failbench.study.style import BLACK, GREY, VERMILLION, Mark

ROW_HEIGHT: Final = 0.17
"""Inches an interval."""

LEFT: Final = 30.0
"""Left end of the axis, in percent."""

MARKS: Final = {
    "inconsistent": Mark("", VERMILLION, "D", size=3.0),
    "consistent": Mark("", BLACK, "o", size=3.0),
}


def paper_audit_picture(points: pl.DataFrame, said: Captions) -> Picture:
    """Every printed interval of an accuracy over the Wilson interval of its n."""
    drawn = (
        points.filter(pl.col("kind") == "rate_interval")
        .with_row_index("row")
        .with_columns(pl.col("row").cast(pl.String), mark="verdict")
    )
    wrong = drawn.filter(pl.col("verdict") == "inconsistent").height
    numbers = {"wrong": wrong, "intervals": drawn.height, "sizes": _sizes(drawn)}
    height = 0.65 + ROW_HEIGHT * (drawn.height + 1)
    return said.with_numbers(numbers).picture("figure", height, partial(_draw, drawn))


def _sizes(drawn: pl.DataFrame) -> str:
    return " or ".join(str(n) for n in drawn["n"].unique().sort())


def _draw(drawn: pl.DataFrame, figure: Figure) -> None:
    axes = figure.subplots()
    low, high = (100 * drawn[name].to_numpy() for name in ("low", "high"))
    axes.hlines(range(drawn.height), low, high, color=GREY, linewidth=5, alpha=0.6)
    printed = drawn.drop("ci_low", "ci_high", strict=False).rename(
        {"printed_low": "ci_low", "printed_high": "ci_high"}
    )
    labels = dict(drawn.select("row", "label").iter_rows())
    dot_plot(axes, printed, labels, MARKS, spread=0.0)
    axes.set_ylim(drawn.height - 0.4, -1.4)
    _name_places(axes, drawn)
    axes.set_xlim(LEFT, 101.0)
    axes.set_xlabel("accuracy with 95 % interval, percent")
    handles = [
        Line2D(
            [],
            [],
            color=GREY,
            linewidth=5,
            alpha=0.6,
            label=f"Wilson interval of {_sizes(drawn)} scenarios",
        ),
        *(
            Line2D([], [], label=f"printed, {verdict} with it", **mark.look)
            for verdict, mark in MARKS.items()
        ),
    ]
    legend_outside(figure, handles, columns=3)


def _name_places(axes: Axes, drawn: pl.DataFrame) -> None:
    """At the right the n that each printed width implies, at the left its place in the paper."""
    right = axes.secondary_yaxis("right")
    right.set_yticks(
        [-1, *range(drawn.height)], ["implied n", *(f"{n:,}" for n in drawn["implied_n"])]
    )
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)
    places = drawn["place"].to_list()
    for row, (place, following) in enumerate(zip(places, [*places[1:], None], strict=True)):
        if place != following:
            # no interval reaches the left edge in the last row of its place
            axes.text(LEFT + 1, row, place, va="center")
        if following not in {place, None}:
            axes.axhline(row + 0.5, color=BLACK, linewidth=0.8)
