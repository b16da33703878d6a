"""Figure of the trade-off: accuracy against conditions to read, beside the paper's scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from failbench.reporting.labels import method_label
from failbench.studies.tradeoff.method_families import FAMILIES, Family, method_family
from failbench.studies.tradeoff.placement import Label, place_labels

LEGEND_COLUMNS = 4
"""Families that a line of the legend has room for."""

LABEL_SIZE = 6.5
MARK_SIZE = 4.5
"""Sizes of the methods' names and marks, in points."""


def draw_tradeoff(points: pl.DataFrame) -> Figure:
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
        If a method has no label or is in no family.
    """
    measured = points.filter(pl.col("source") == "measured").select(
        "method",
        *(pl.col(f"conditions{end}").alias(f"x{end}") for end in ("", "_low", "_high")),
        *((100 * pl.col(f"accuracy{end}")).alias(f"y{end}") for end in ("", "_low", "_high")),
    )
    reported = points.filter(pl.col("source") == "reported").select(
        "method",
        pl.when(pl.col("score_low") == pl.col("score_high")).then("score_low").alias("x"),
        *(pl.col(f"score{end}").alias(f"x{end}") for end in ("_low", "_high")),
        *((100 * pl.col(f"accuracy{end}")).alias(f"y{end}") for end in ("", "_low", "_high")),
    )
    figure = Figure(figsize=(6.9, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.set(
        title="Measured, on the paper's 19 features",
        xlabel="conditions to read for one diagnosis",
        ylabel="accuracy, with interval (%)",
        xscale="log",
        xlim=_limits(measured),
        ylim=(0, 104),
    )
    left.xaxis.set_major_formatter("{x:g}")
    right.set(
        title="Reported by the paper, on its scenarios",
        xlabel="the paper's score of interpretability (100: easiest)",
        xlim=(108, -3),
    )
    present = set(map(method_family, points["method"]))
    families = [family for family in FAMILIES if family in present]
    lines = math.ceil(len(families) / LEGEND_COLUMNS)
    columns = math.ceil(len(families) / lines)
    figure.legend(handles=_legend(families), loc="outside lower center", ncols=columns)
    # labels are placed in pixels, so the axes must not move any more
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    _draw(left, measured)
    _draw(right, reported)
    return figure


def _limits(measured: pl.DataFrame) -> tuple[float, float]:
    """Room for labels on both sides; one to ten where nothing is read."""
    ends = measured.drop_nulls("x").select(low=pl.col("x_low").min(), high=pl.col("x_high").max())
    low, high = ends.row(0)
    return (1.0, 10.0) if low is None else (low / 4, 12 * high)


def _draw(axes: Axes, methods: pl.DataFrame) -> None:
    """Every method with its intervals, and then their labels."""
    drawn: list[Bbox] = []
    labels = []
    for row in methods.sort("y", "method", descending=[True, False]).iter_rows(named=True):
        name, family = method_label(row["method"]), method_family(row["method"])
        if row["x"] is not None:
            drawn += _draw_point(axes, row, family)
            labels.append(Label(name, row["x"], row["y"]))
        elif row["x_low"] is not None:
            drawn.append(_draw_range(axes, row, family))
            labels.append(Label(name, row["x_low"], row["y"]))
        else:
            drawn.append(_draw_line(axes, row, family))
            labels.append(Label(f"{name} (no conditions)", axes.get_xlim()[0], row["y"]))
    place_labels(axes, labels, drawn, size=LABEL_SIZE)


def _draw_point(axes: Axes, row: Mapping[str, float], family: Family) -> list[Bbox]:
    """A mark, with its intervals where there are any."""
    x, y = row["x"], row["y"]
    bars = [(row["x_low"], row["x_high"], y, y)]
    if row["y_low"] is not None:
        bars.append((x, x, row["y_low"], row["y_high"]))
    for x_0, x_1, y_0, y_1 in bars:
        axes.plot([x_0, x_1], [y_0, y_1], color=family.colour, linewidth=0.8, zorder=2)
    face = family.colour if family.filled else "white"
    axes.plot(
        [x],
        [y],
        marker=family.marker,
        markersize=MARK_SIZE,
        markerfacecolor=face,
        markeredgecolor=family.colour,
        zorder=3,
    )
    mark = _pixels(axes, (x, x, y, y)).padded(0.8 * MARK_SIZE)
    return [mark, *(_pixels(axes, bar).padded(0.5) for bar in bars)]


def _draw_range(axes: Axes, row: Mapping[str, float], family: Family) -> Bbox:
    """A bar from the lowest to the highest x, over the area that both intervals span."""
    ends = (row["x_low"], row["x_high"])
    axes.plot(ends, [row["y"]] * 2, color=family.colour, linewidth=2.5, zorder=2)
    if row["y_low"] is not None:
        axes.fill_between(
            ends, row["y_low"], row["y_high"], color=family.colour, alpha=0.25, linewidth=0
        )
    return _pixels(axes, (*ends, row["y"], row["y"])).padded(2.0)


def _draw_line(axes: Axes, row: Mapping[str, float], family: Family) -> Bbox:
    """A line across at the accuracy, and a band for its interval."""
    axes.axhline(row["y"], color=family.colour, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    axes.axhspan(
        row["y_low"], row["y_high"], color=family.colour, alpha=0.15, linewidth=0, zorder=0
    )
    return _pixels(axes, (*axes.get_xlim(), row["y"], row["y"])).padded(0.5)


def _pixels(axes: Axes, ends: tuple[float, float, float, float]) -> Bbox:
    """The box on the canvas from two x and two y in the units of the axes."""
    x_0, x_1, y_0, y_1 = ends
    corners = axes.transData.transform([(x_0, y_0), (x_1, y_1)])
    return Bbox.from_extents(*corners.min(axis=0), *corners.max(axis=0))


def _legend(families: Sequence[Family]) -> list[Line2D]:
    return [
        Line2D(
            [],
            [],
            color=family.colour,
            marker=family.marker,
            markersize=MARK_SIZE,
            markerfacecolor=family.colour if family.filled else "white",
            linestyle="none" if family.marker else (0, (4, 2)),
            label=family.label,
        )
        for family in families
    ]
