"""Figure of the trade-off: accuracy against conditions to read, beside the paper's scores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import polars as pl
import textalloc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.labels import drawn_label, is_blind, label_inside
from failbench.reporting.method_styles import MethodStyle, method_styles
from failbench.reporting.picture import Picture
from failbench.reporting.style import FULL_WIDTH, LEAST_TEXT

LEADER: Final = 0.6
"""Points: the line from a label to its mark."""

HEIGHT: Final = 6.2
"""Inches."""

PANEL_HEIGHT: Final = 2.3
"""Inches, of the measured methods alone."""

LEFT_OUT: Final = (
    "ebm_on_invariants",
    "forest_on_invariants",
    "invariants_abstaining",
    "raw_series",
    "raw_text",
)
"""Variants of methods that the smaller picture shows, which the larger one has."""

DASHES: Final = (0, (4, 2))
"""Line of a method without conditions."""

EDGE: Final = 0.004
"""Of the width of the axes: where the label of a line across them is anchored."""


def tradeoff_picture(points: pl.DataFrame) -> Picture:
    """Two panels with accuracy upwards: by conditions to read, and by the paper's scores.

    Both run from what is easy to read on the left to what is hard on the right. A measured method
    that gives nothing to read is a line across; a range of scores is a bar.

    Parameters
    ----------
    points
        As :func:`failbench.studies.tradeoff.results.tradeoff_points` returns them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    measured = _measured(points)
    reported = points.filter(pl.col("source") == "reported").select(
        "method",
        pl.when(pl.col("score_low") == pl.col("score_high")).then("score_low").alias("x"),
        *(pl.col(f"score{end}").alias(f"x{end}") for end in ("_low", "_high")),
        *((100 * pl.col(f"accuracy{end}")).alias(f"y{end}") for end in ("", "_low", "_high")),
    )
    styles = method_styles(points["method"])
    return Picture(
        with_development(_finding(measured), styles),
        "Above, the accuracy of each measured method, with intervals, over the number of "
        "conditions that a reader checks for one diagnosis, on a logarithmic axis. Below, the "
        "accuracies and scores of interpretability that the paper reports. Both run from what is "
        "easy to read to what is hard.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, measured, reported, styles),
    )


def measured_picture(points: pl.DataFrame) -> Picture:
    """The measured methods alone, without variants, in a panel that leaves room for a table.

    Parameters
    ----------
    points
        As :func:`failbench.studies.tradeoff.results.tradeoff_points` returns them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    measured = _measured(points).filter(~pl.col("method").is_in(LEFT_OUT))
    styles = method_styles(measured["method"])
    return Picture(
        with_development(_finding(measured), styles),
        "The accuracy of measured methods, with intervals, over the number of conditions that "
        "a reader checks for one diagnosis, on a logarithmic axis.",
        FULL_WIDTH,
        PANEL_HEIGHT,
        partial(_draw_measured, measured, styles),
    )


def _measured(points: pl.DataFrame) -> pl.DataFrame:
    """Conditions as x and percent right as y, with their ends."""
    return points.filter(pl.col("source") == "measured").select(
        "method",
        *(pl.col(f"conditions{end}").alias(f"x{end}") for end in ("", "_low", "_high")),
        *((100 * pl.col(f"accuracy{end}")).alias(f"y{end}") for end in ("", "_low", "_high")),
    )


def _finding(measured: pl.DataFrame) -> str:
    """The most accurate blind method that can be read, and the shortest to read."""
    readable = measured.drop_nulls("x").filter(
        pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean)
    )
    if readable.is_empty():
        return "Accuracy against what a reader must check"
    best = readable.sort("y", "method", descending=[True, False]).row(0, named=True)
    short = readable.sort("x", "method").row(0, named=True)
    return (
        f"The most accurate method that shows its conditions, {label_inside(best['method'])} "
        f"({percent(best['y'] / 100)} %), shows {best['x']:.0f} for a diagnosis; the shortest to "
        f"read, {label_inside(short['method'])} ({percent(short['y'] / 100)} %), {short['x']:.0f}"
    )


def _draw(
    measured: pl.DataFrame,
    reported: pl.DataFrame,
    styles: Mapping[str, MethodStyle],
    figure: Figure,
) -> None:
    above, below = figure.subplots(2, 1, height_ratios=(2, 1))
    above.set(
        title="measured, on the paper's 19 features",
        xlabel="conditions to read for one diagnosis",
        ylabel="right, percent, with interval",
        xscale="log",
        xlim=_limits(measured),
        ylim=(0, 100),
    )
    above.xaxis.set_major_formatter("{x:,g}")
    below.set(
        title="reported by the paper, on its scenarios",
        xlabel="the paper's score of interpretability (100: easiest)",
        ylabel="right, percent, with interval",
        xlim=(108, -3),
        ylim=(30, 104),
    )
    # labels are placed where the axes stand, so these must not move any more
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _draw_methods(above, measured, styles)
    _draw_methods(below, reported, styles)


def _draw_measured(
    measured: pl.DataFrame, styles: Mapping[str, MethodStyle], figure: Figure
) -> None:
    axes = figure.subplots()
    axes.set(
        xlabel="conditions to read for one diagnosis",
        ylabel="right, percent",
        xscale="log",
        xlim=_limits(measured),
        ylim=(15, 100),
    )
    axes.xaxis.set_major_formatter("{x:,g}")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _draw_methods(axes, measured, styles)


def _limits(measured: pl.DataFrame) -> tuple[float, float]:
    """Room for labels on both sides; one to ten where nothing is read."""
    ends = measured.drop_nulls("x").select(low=pl.col("x_low").min(), high=pl.col("x_high").max())
    low, high = ends.row(0)
    return (1.0, 10.0) if low is None else (low / 3, 4 * high)


def _draw_methods(axes: Axes, methods: pl.DataFrame, styles: Mapping[str, MethodStyle]) -> None:
    """Every method with its intervals, and then their labels clear of all of it."""
    names, anchors, colours = [], [], []
    lines: list[tuple[list[float], list[float]]] = []
    for row in methods.sort("y", "method", descending=[True, False]).iter_rows(named=True):
        style, name = styles[row["method"]], drawn_label(row["method"])
        if row["x"] is not None:
            lines += _draw_point(axes, row, style)
            anchors.append((row["x"], row["y"]))
        elif row["x_low"] is not None:
            lines += _draw_range(axes, row, style)
            anchors.append((row["x_low"], row["y"]))
        else:
            lines += _draw_line(axes, row, style)
            name = f"{name} (no conditions)"
            left = axes.transAxes.transform((EDGE, 0.0))
            anchors.append((axes.transData.inverted().transform(left)[0], row["y"]))
        names.append(name)
        colours.append(style.colour)
    x, y = map(list, zip(*anchors, strict=True))
    textalloc.allocate(
        axes,
        x,
        y,
        names,
        x_scatter=x,
        y_scatter=y,
        x_lines=[line[0] for line in lines],
        y_lines=[line[1] for line in lines],
        textsize=LEAST_TEXT,
        linecolor=colours,
        linewidth=LEADER,
        nbr_candidates=800,
        min_distance=0.012,
        max_distance=0.35,
        margin=0.004,
        avoid_label_lines_overlap=True,
        avoid_crossing_label_lines=True,
    )


def _draw_point(
    axes: Axes, row: Mapping[str, Any], style: MethodStyle
) -> list[tuple[list[float], list[float]]]:
    """A mark, with its intervals where there are any."""
    x, y = row["x"], row["y"]
    bars = [([row["x_low"], row["x_high"]], [y, y])]
    if row["y_low"] is not None:
        bars.append(([x, x], [row["y_low"], row["y_high"]]))
    for bar in bars:
        axes.plot(*bar, color=style.colour, linewidth=0.8, zorder=2)
    axes.plot([x], [y], zorder=3, **style.look)
    return bars


def _draw_range(
    axes: Axes, row: Mapping[str, Any], style: MethodStyle
) -> list[tuple[list[float], list[float]]]:
    """A bar from the lowest to the highest x with the mark at its ends, and the interval's area."""
    bar = ([row["x_low"], row["x_high"]], [row["y"]] * 2)
    axes.plot(*bar, linewidth=1.5, zorder=2, **style.look)
    if row["y_low"] is not None:
        ends = (row["y_low"], row["y_high"])
        axes.fill_between(bar[0], *ends, color=style.colour, alpha=0.25, linewidth=0)
    return [bar]


def _draw_line(
    axes: Axes, row: Mapping[str, Any], style: MethodStyle
) -> list[tuple[list[float], list[float]]]:
    """A line across at the accuracy with the mark at its right end, and a band for its interval."""
    axes.axhline(row["y"], color=style.colour, linewidth=0.9, linestyle=DASHES, zorder=1)
    axes.plot([0.99], [row["y"]], transform=axes.get_yaxis_transform(), **style.look)
    axes.axhspan(row["y_low"], row["y_high"], color=style.colour, alpha=0.15, linewidth=0, zorder=0)
    return [(list(axes.get_xlim()), [row["y"]] * 2)]
