"""Figures of importance: shares by group, drops by feature, and the shapes of leading terms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final, Literal

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator, SymmetricalLogLocator

from failbench.arrays import Array
from failbench.features.catalogue import FEATURES
from failbench.methods.reduced_tree import ERROR_TEXT_SIGNAL
from failbench.methods.signal_groups import SIGNAL_GROUPS
from failbench.reporting.cells import percent, two_decimals, words
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import GROUP_LABELS, METHOD_LABELS
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.reported import Reported
from failbench.reporting.style import (
    BLACK,
    CATEGORY_COLOURS,
    CATEGORY_LINES,
    FULL_WIDTH,
    HALF_SIZE,
    LEAST_TEXT,
    MARK_SIZE,
    REPORTED,
    THICK,
    THIN,
    Mark,
)
from failbench.studies.importance.measure import TABLE_SIX
from failbench.studies.importance.tables import REPORTED_GROUPS
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.17
"""Inches per feature."""

PANEL_HEIGHT: Final = 1.45
COLUMNS: Final = 3

WIDE_RANGE: Final = 1000
"""A feature whose largest value is so many times the smallest, or the typical, gets logarithms."""

UNITS: Final = {feature.name: "" if feature.unit == "1" else feature.unit for feature in FEATURES}
"""Units of features; a pure number has none."""

METHODS: Final = ("random_forest", "ebm")

SHARES: Final[dict[tuple[str, str], tuple[str, Literal["full", "left"]]]] = {
    **{(method, "share"): (f"{METHOD_LABELS[method]}, drops", "full") for method in METHODS},
    ("random_forest", "own"): (f"{METHOD_LABELS['random_forest']}, impurity", "left"),
    ("ebm", "own"): (f"{METHOD_LABELS['ebm']}, terms", "left"),
}
"""Shares of a group: label and fill; what a method says of itself is half filled."""


def importance_picture(table: pl.DataFrame, paper: Reported) -> Picture:
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
    return Picture(
        _finding(drawn, paper),
        "On the left the share of importance of each group of signals, for the random forest and "
        "EBM, by drops in accuracy and by what each method says of itself; vertical ticks are the "
        "shares that the paper reports. On the right the drop in accuracy with its interval when "
        "the values of a feature are replaced.",
        FULL_WIDTH,
        0.85 + ROW_HEIGHT * len(_feature_rows(drawn)),
        partial(_draw, drawn, paper),
    )


def _finding(drawn: pl.DataFrame, paper: Reported) -> str:
    """The group that the forest rests on most, and that of the paper."""
    shares = drawn.filter(
        pl.col("kind") == "group", pl.col("method") == "random_forest", pl.col("share") > 0
    ).sort("share", "name", descending=[True, False])
    reported = {
        name: row.share
        for name, row in paper.tables.importance.rows.items()
        if row.share is not None
    }
    if shares.is_empty() or not reported:
        return "What groups of signals are worth to two classifiers"
    first = shares.row(0, named=True)
    most = max(reported, key=lambda name: (reported[name], name))
    ours = f"{GROUP_LABELS[first['name']]} ({percent(first['share'])} % of its drops)"
    if REPORTED_GROUPS.get(first["name"], first["name"]) == most:
        theirs = f"the paper's does, {percent(reported[most])} %"
        return f"The random forest rests most on {ours}, as {theirs}"
    theirs = f"{words(most)} ({percent(reported[most])} %)"
    return f"The random forest rests most on {ours}, the paper's on {theirs}"


def _draw(drawn: pl.DataFrame, paper: Reported, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _shares(left, drawn.filter(pl.col("kind") == "group"), paper)
    _drops(right, drawn, _feature_rows(drawn))
    handles = [mark.handle for mark in (*_share_marks().values(), REPORTED)]
    legend_outside(figure, handles, columns=3)


def _share_marks() -> dict[str, Mark]:
    return {
        f"{method}/{column}": replace(
            METHOD_STYLES[method],
            label=label,
            fill=fill,
            size=HALF_SIZE if fill == "left" else MARK_SIZE,
        )
        for (method, column), (label, fill) in SHARES.items()
    }


def _shares(axes: Axes, groups: pl.DataFrame, paper: Reported) -> None:
    names = [name for name in SIGNAL_GROUPS if name in set(groups["name"])]
    points = pl.concat(
        groups.filter(pl.col(column).is_not_null()).select(
            row="name",
            mark=pl.concat_str("method", pl.lit(column), separator="/"),
            value=column,
            ci_low=pl.lit(None, dtype=pl.Float64),
            ci_high=pl.lit(None, dtype=pl.Float64),
        )
        for column in ("share", "own")
    )
    dot_plot(axes, points, {name: GROUP_LABELS[name] for name in names}, _share_marks())
    _mark_reported(axes, names, paper)
    axes.set_xlim(left=-2)
    axes.set_xlabel("share of importance, percent")
    axes.set_title("by group of signals")


def _mark_reported(axes: Axes, names: list[str], paper: Reported) -> None:
    """Draw the paper's share in the row of each group, or write where it is only bounded."""
    rows = paper.tables.importance.rows
    reported = {
        position: row
        for position, name in enumerate(names)
        if (row := rows.get(REPORTED_GROUPS.get(name, name)))
    }
    for position, row in reported.items():
        if row.share is not None:
            axes.plot(100 * row.share, position, **REPORTED.look)
        elif row.share_below is not None:
            axes.annotate(
                f"reported: below {100 * row.share_below:g}",
                (1.0, position),
                xycoords=("axes fraction", "data"),
                horizontalalignment="right",
                verticalalignment="center",
            )


def _feature_rows(drawn: pl.DataFrame) -> list[tuple[str, str]]:
    """Kind and name of each row: features by group, and the keywords together."""
    features = drawn.filter(pl.col("kind") == "feature", pl.col("group") != ERROR_TEXT_SIGNAL)
    names = features["name"].unique(maintain_order=True).to_list()
    return [*(("feature", name) for name in names), ("group", ERROR_TEXT_SIGNAL)]


def _drops(axes: Axes, drawn: pl.DataFrame, rows: list[tuple[str, str]]) -> None:
    points = drawn.with_columns(row=pl.concat_str("kind", "name", separator="/"), mark="method")
    labels = {
        f"{kind}/{name}": GROUP_LABELS.get(name, words(name)) if kind == "group" else words(name)
        for kind, name in rows
    }
    axes.axvline(0, color=BLACK, linewidth=0.6)
    dot_plot(
        axes, points, labels, {method: METHOD_STYLES[method] for method in METHODS}, spread=0.3
    )
    axes.set_xlabel(f"drop in accuracy, points (n = {drawn['n'][0]})")
    axes.set_title("by feature; error text as one")


def shapes_picture(shapes: pl.DataFrame) -> Picture:
    """What the leading terms of the boosting machine add to the score of each category.

    Parameters
    ----------
    shapes
        Rows of ``shapes.SHAPE_SCHEMA``.
    """
    panels = shapes.partition_by("rank", maintain_order=True)
    first = panels[0].row(0, named=True)
    lines = -(-len(panels) // COLUMNS)
    return Picture(
        f"{words(first['feature']).capitalize()} moves the scores of EBM most, by "
        f"{two_decimals(first['contribution'])} logits on the mean over {first['runs']} runs",
        f"{len(panels)} panels, one per leading feature: what the explainable boosting machine "
        "adds to the score of each category, as a step line over the values of the feature. "
        "Categories differ in colour and in line. In brackets the mean absolute contribution.",
        FULL_WIDTH,
        0.3 + PANEL_HEIGHT * lines,
        partial(_draw_shapes, panels),
    )


def _draw_shapes(panels: list[pl.DataFrame], figure: Figure) -> None:
    lines = -(-len(panels) // COLUMNS)
    grid = figure.subplots(lines, COLUMNS, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _shape(axes, panel)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    figure.supylabel("added to the score, logits")
    handles = [
        Line2D(
            [],
            [],
            color=CATEGORY_COLOURS[category],
            linestyle=CATEGORY_LINES[category],
            linewidth=THICK,
            label=words(category),
        )
        for category in CATEGORIES
    ]
    legend_outside(figure, handles, columns=5, handlelength=2.6)


def _shape(axes: Axes, panel: pl.DataFrame) -> None:
    for category in CATEGORIES:
        bins = panel.filter(pl.col("category") == category).sort("low")
        axes.stairs(
            bins["score"].to_numpy(),
            np.array([*bins["low"], bins["high"][-1]]),
            baseline=None,
            color=CATEGORY_COLOURS[category],
            linestyle=CATEGORY_LINES[category],
            linewidth=THICK,
        )
    axes.axhline(0, color=BLACK, linewidth=THIN)
    _scale(axes, np.array([*panel["low"], *panel["high"]]))
    name = panel["feature"][0]
    axes.set_title(f"{words(name)} ({panel['contribution'][0]:.2f})", fontsize=LEAST_TEXT)
    axes.set_xlabel(UNITS[name])


def _scale(axes: Axes, edges: Array) -> None:
    """Give values that span decades a logarithmic axis, linear around zero where they cross it."""
    sizes = np.abs(edges[edges != 0])
    typical = float(np.median(sizes))
    if edges.min() > 0 and edges.max() / edges.min() > WIDE_RANGE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    elif edges.min() <= 0 and sizes.max() / typical > WIDE_RANGE:
        decade = float(10 ** np.round(np.log10(typical)))
        axes.set_xscale("symlog", linthresh=decade)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=100, linthresh=decade))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlim(edges.min() - decade, 2 * edges.max())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
