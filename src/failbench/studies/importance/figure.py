"""Figures of importance: shares by group, drops by feature, and the shapes of leading terms."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, SymmetricalLogLocator

from failbench.arrays import Array
from failbench.features.catalogue import FEATURES
from failbench.methods.reduced_tree import ERROR_TEXT
from failbench.methods.signal_groups import SIGNAL_GROUPS
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.labels import GROUP_LABELS
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLACK, CATEGORY_COLOURS, METHOD_STYLES
from failbench.studies.importance.measure import TABLE_SIX
from failbench.studies.importance.tables import REPORTED_GROUPS
from failbench.vocabulary import CATEGORIES

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

FONT = 7
SMALL = 6.2
ROW_HEIGHT = 0.185
"""Inches per feature."""

SPREAD = 0.3
"""Rows between the marks of the two methods."""

WIDE_RANGE = 1000
"""A feature whose largest value is so many times the smallest, or the typical, gets logarithms."""

UNITS: Final = {feature.name: "" if feature.unit == "1" else feature.unit for feature in FEATURES}
"""Units of features; a pure number has none."""

SHARES: Final = {
    ("random_forest", "share"): (
        "Random forest, drops",
        METHOD_STYLES["random_forest"].colour,
        "P",
    ),
    ("random_forest", "own"): (
        "Random forest, impurity",
        METHOD_STYLES["random_forest"].colour,
        "o",
    ),
    ("ebm", "share"): ("EBM, drops", METHOD_STYLES["ebm"].colour, "*"),
    ("ebm", "own"): ("EBM, terms", METHOD_STYLES["ebm"].colour, "D"),
}
"""Shares of a group: label, colour and marker."""


def draw_importance(table: pl.DataFrame, paper: Reported) -> Figure:
    """Shares of the groups beside the paper's, and the drop in accuracy by feature.

    Parameters
    ----------
    table
        As :func:`failbench.studies.importance.results.importance_table` returns it. Single
        keywords are not drawn: they count as one row.
    paper
        The paper's numbers.
    """
    drawn = table.filter(pl.col("feature_set") == TABLE_SIX)
    rows = _feature_rows(drawn)
    figure = Figure(figsize=(WIDTH, 1.0 + ROW_HEIGHT * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _shares(left, drawn.filter(pl.col("kind") == "group"), paper)
    _drops(right, drawn, rows)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=5, fontsize=SMALL)
    return figure


def _shares(axes: Axes, groups: pl.DataFrame, paper: Reported) -> None:
    names = [name for name in SIGNAL_GROUPS if name in set(groups["name"])]
    offsets = np.linspace(-SPREAD, SPREAD, len(SHARES))
    _mark_reported(axes, names, paper)
    for ((method, column), (label, colour, marker)), offset in zip(
        SHARES.items(), offsets, strict=True
    ):
        shares = groups.filter(pl.col("method") == method, pl.col(column).is_not_null())
        rows = np.array([names.index(name) for name in shares["name"]], dtype=float)
        axes.plot(
            100 * shares[column].to_numpy(),
            rows + offset,
            color=colour,
            marker=marker,
            markersize=4,
            linestyle="none",
            label=label,
        )
    rule_rows(axes, [GROUP_LABELS[name] for name in names], SMALL)
    axes.set_xlim(left=-2)
    axes.set_xlabel("share of importance, percent", fontsize=FONT)
    axes.set_title("By group of signals")


def _mark_reported(axes: Axes, names: list[str], paper: Reported) -> None:
    """Draw the paper's share in the row of each group, or write where it is only bounded."""
    rows = paper.tables.importance.rows
    reported = {
        position: row
        for position, name in enumerate(names)
        if (row := rows.get(REPORTED_GROUPS.get(name, name)))
    }
    marks = [
        (100 * row.share, position) for position, row in reported.items() if row.share is not None
    ]
    axes.plot(
        *zip(*marks, strict=True),
        color=BLACK,
        marker="|",
        markersize=12,
        markeredgewidth=1.4,
        linestyle="none",
        label="Reported",
    )
    for position, row in reported.items():
        if row.share_below is not None:
            axes.annotate(
                f"reported: below {100 * row.share_below:g}",
                (1.0, position),
                xycoords=("axes fraction", "data"),
                fontsize=SMALL,
                horizontalalignment="right",
                verticalalignment="center",
            )


def _feature_rows(drawn: pl.DataFrame) -> list[tuple[str, str]]:
    """Kind and name of each row: features by group, and the keywords together."""
    features = drawn.filter(pl.col("kind") == "feature", pl.col("group") != ERROR_TEXT)
    names = features["name"].unique(maintain_order=True).to_list()
    return [*(("feature", name) for name in names), ("group", ERROR_TEXT)]


def _drops(axes: Axes, drawn: pl.DataFrame, rows: list[tuple[str, str]]) -> None:
    for method, offset in (("random_forest", -SPREAD / 2), ("ebm", SPREAD / 2)):
        style = METHOD_STYLES[method]
        units = drawn.filter(pl.col("method") == method)
        drops = pl.concat(
            units.filter(pl.col("kind") == kind, pl.col("name") == name).head(1)
            for kind, name in rows
        )
        positions = np.arange(len(rows)) + offset
        draw_marks(axes, drops, positions, colour=style.colour, marker=style.marker, scale=100)
    axes.axvline(0, color=BLACK, linewidth=0.6)
    rule_rows(axes, [GROUP_LABELS.get(name, name).replace("_", " ") for _, name in rows], SMALL)
    n = drawn["n"][0]
    axes.set_xlabel(f"drop in accuracy, points (n = {n} scenarios)", fontsize=FONT)
    axes.set_title("By feature; the error text as a whole")


def draw_shapes(shapes: pl.DataFrame) -> Figure:
    """What the leading terms of the boosting machine add to the score of each category.

    Parameters
    ----------
    shapes
        Rows of ``shapes.SHAPE_SCHEMA``.
    """
    panels = shapes.partition_by("rank", maintain_order=True)
    columns = 3
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(WIDTH, 0.5 + 1.65 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _shape(axes, panel)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for row in grid:
        row[0].set_ylabel("added to the score, logits", fontsize=FONT)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=5, fontsize=FONT)
    figure.supxlabel(
        "In brackets: mean absolute contribution in logits, over categories and the "
        f"{shapes['runs'][0]} runs that the machine was fitted to",
        fontsize=SMALL,
    )
    return figure


def _shape(axes: Axes, panel: pl.DataFrame) -> None:
    for category in CATEGORIES:
        bins = panel.filter(pl.col("category") == category).sort("low")
        edges = np.array([*bins["low"], bins["high"][-1]])
        score = bins["score"].to_numpy()
        axes.stairs(
            score,
            edges,
            baseline=None,
            color=CATEGORY_COLOURS[category],
            linewidth=1.1,
            label=category.replace("_", " "),
        )
    axes.axhline(0, color=BLACK, linewidth=0.4)
    _scale(axes, np.array([*panel["low"], *panel["high"]]))
    name = panel["feature"][0]
    axes.tick_params(labelsize=SMALL)
    axes.set_title(f"{name.replace('_', ' ')} ({panel['contribution'][0]:.2f})", fontsize=FONT)
    axes.set_xlabel(UNITS[name], fontsize=SMALL)


def _scale(axes: Axes, edges: Array) -> None:
    """Give values that span decades a logarithmic axis, linear around zero where they cross it."""
    sizes = np.abs(edges[edges != 0])
    typical = float(np.median(sizes))
    if edges.min() > 0 and edges.max() / edges.min() > WIDE_RANGE:
        axes.set_xscale("log")
    elif edges.min() <= 0 and sizes.max() / typical > WIDE_RANGE:
        decade = float(10 ** np.round(np.log10(typical)))
        axes.set_xscale("symlog", linthresh=decade)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=100, linthresh=decade))
        axes.set_xlim(edges.min() - decade, 2 * edges.max())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
