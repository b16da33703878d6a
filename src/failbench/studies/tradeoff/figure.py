"""Figure of the trade-off: accuracy against conditions to read, beside what was reported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
import textalloc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.arrays import Array
from failbench.reporting.cells import percent
from failbench.reporting.labels import label_inside, method_label, reads_true_category
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLUE, FULL_WIDTH, GREY, LEAST_TEXT, THIN, VERMILLION, Mark

HEIGHT: Final = 3.5
"""Inches."""

LEADER: Final = 0.6
"""Points: the line from a label to its mark."""

HELD_OUT: Final = Mark("held out", BLUE, "o")
DEVELOPMENT: Final = Mark("development (in-sample)", BLUE, "o", fill="none")
TOLD: Final = Mark("handed the true category", BLUE, "s", fill="none")
REPORTED: Final = Mark("reported by the original, at our count", VERMILLION, "D")
"""A colour and a fill say what a score is; names stand beside the marks."""

DESCRIPTION: Final = (
    "Share of failures whose category, one of five, is named right, with interval, over the "
    "conditions that a reader checks to verify one answer, on a logarithmic axis. Filled: methods "
    "scored on held-out scenarios. Diamonds: what the original reports, at the count measured "
    "here, because its score of interpretability is another scale. Apart, without a count: "
    "development methods, whose rules were made with these scenarios in view, and where a reader "
    "would also have to check every family of invariants that takes precedence over the one that "
    "decides; and methods handed the true category. A condition is a test on the way to an answer "
    "for rules and single trees, one of the fewest terms that make up 95 % of a score for sums, "
    "and a test on a path through any tree for forests: counts of different kinds of method are "
    "not comparable one to one."
)


def tradeoff_picture(points: pl.DataFrame) -> Picture:
    """Accuracy by conditions to read, and apart those of which no conditions are counted."""
    return Picture(_finding(points), DESCRIPTION, FULL_WIDTH, HEIGHT, partial(_draw, points))


def _finding(points: pl.DataFrame) -> str:
    """The most accurate held-out method, and the most accurate with a tenth of its conditions."""
    counted = points.filter(source="measured").drop_nulls("conditions")
    held_out = counted.sort("accuracy", "method", descending=[True, False])
    if held_out.is_empty():
        return "Accuracy against what a reader must check"
    best = held_out.row(0, named=True)
    said = (
        f"Of {held_out.height} held-out methods the most accurate is "
        f"{label_inside(best['method'])} ({percent(best['accuracy'])} %, {best['conditions']:.0f} "
        "conditions to read)"
    )
    fewer = held_out.filter(pl.col("conditions") <= best["conditions"] / 10)
    if fewer.is_empty():
        return said
    short = fewer.row(0, named=True)
    return (
        f"{said}; with at most a tenth as many, {label_inside(short['method'])} reaches "
        f"{percent(short['accuracy'])} % ({short['conditions']:.0f})"
    )


def _draw(points: pl.DataFrame, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.6, 1))
    measured = points.filter(source="measured").sort("accuracy", "method", descending=[True, False])
    counted = measured.drop_nulls("conditions")
    ends = counted.select("conditions_low", "conditions_high").to_numpy()
    left.set(
        xlabel="conditions to read for one answer",
        ylabel="category of five right, percent",
        xscale="log",
        xlim=(float(ends.min()) / 2, 3 * float(ends.max())) if len(ends) else (1.0, 10.0),
        ylim=(100 * measured["accuracy_low"].to_numpy().min() - 5, 100),
    )
    left.xaxis.set_major_formatter("{x:,g}")
    right.set_xlabel("conditions not counted")
    right.set_xticks([])
    legend_outside(
        figure, [mark.handle for mark in (HELD_OUT, REPORTED, DEVELOPMENT, TOLD)], columns=2
    )
    # labels are placed where the axes stand, so these must not move any more
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    reported = points.filter(source="reported").select("method", reported="accuracy")
    _draw_counted(left, counted.join(reported, on="method", how="left", maintain_order="left"))
    _draw_apart(right, measured.filter(pl.col("conditions").is_null()))


def _draw_point(axes: Axes, x: float, row: Mapping[str, Any], mark: Mark) -> Array:
    """A mark, and its interval in percent, which is returned."""
    ends = 100 * np.array([row["accuracy_low"], row["accuracy_high"]])
    axes.plot([x, x], ends, color=mark.colour, linewidth=0.8, zorder=2)
    axes.plot([x], [100 * row["accuracy"]], zorder=4, **mark.look)
    return ends


def _draw_apart(axes: Axes, methods: pl.DataFrame) -> None:
    """Those that are handed the true category last, with their names below."""
    rows = sorted(methods.to_dicts(), key=lambda row: reads_true_category(row["method"]))
    for x, row in enumerate(rows):
        _draw_point(axes, x, row, TOLD if reads_true_category(row["method"]) else DEVELOPMENT)
        axes.text(
            x,
            axes.get_ylim()[0] + 1,
            method_label(row["method"]),
            rotation=90,
            horizontalalignment="center",
            verticalalignment="bottom",
        )
    axes.set_xlim(-0.6, len(rows) - 0.4)


def _draw_counted(axes: Axes, methods: pl.DataFrame) -> None:
    """Every method with its interval and what is reported, and then labels clear of all of it."""
    if methods.is_empty():
        return
    rows = methods.to_dicts()
    x = [row["conditions"] for row in rows]
    y = [100 * row["accuracy"] for row in rows]
    lines = [_draw_point(axes, at, row, HELD_OUT) for at, row in zip(x, rows, strict=True)]
    printed = [
        (at, of, 100 * row["reported"])
        for at, of, row in zip(x, y, rows, strict=True)
        if row["reported"] is not None
    ]
    for at, of, value in printed:
        axes.plot([at, at], [of, value], color=GREY, linewidth=THIN, linestyle=":", zorder=1)
        axes.plot([at], [value], zorder=3, **REPORTED.look)
    textalloc.allocate(
        axes,
        x,
        y,
        [method_label(row["method"]) for row in rows],
        x_scatter=[*x, *(at for at, _, _ in printed)],
        y_scatter=[*y, *(value for _, _, value in printed)],
        x_lines=[np.array([at, at]) for at in x],
        y_lines=[*lines],
        textsize=LEAST_TEXT,
        linecolor=GREY,
        linewidth=LEADER,
        nbr_candidates=800,
        min_distance=0.012,
        max_distance=0.35,
        margin=0.004,
        avoid_label_lines_overlap=True,
        avoid_crossing_label_lines=True,
    )
