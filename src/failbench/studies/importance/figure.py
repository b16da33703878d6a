"""Figures of importance: shares by group, drops by feature, and the shapes of leading terms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator, SymmetricalLogLocator

from failbench.arrays import Array
from failbench.features.catalogue import FEATURES, PRIMARY_SET
from failbench.methods.reduced_tree import ERROR_TEXT_SIGNAL
from failbench.methods.signal_groups import SIGNAL_GROUPS
from failbench.reporting.cells import ABSENT, percent, two_decimals, words
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import GROUP_LABELS
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
    REPORTED,
    THICK,
    THIN,
    Mark,
)
from failbench.studies.importance.measure import TABLE_SIX
from failbench.studies.importance.tables import REPORTED_GROUPS, SET_LABELS
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

SHARES: Final = {
    (TABLE_SIX, "random_forest"): METHOD_STYLES["random_forest"],
    (TABLE_SIX, "ebm"): METHOD_STYLES["ebm"],
    (PRIMARY_SET, "random_forest"): replace(
        METHOD_STYLES["random_forest"], fill="left", size=HALF_SIZE
    ),
}
"""Whose shares of groups are drawn, by feature set and method."""


def importance_picture(table: pl.DataFrame, paper: Reported) -> Picture:
    """Shares of the groups beside the paper's, and the drop in accuracy by feature."""
    drawn = table.filter(pl.col("feature_set") == TABLE_SIX)
    return Picture(
        _finding(table, paper),
        "On the left the share of each group of signals in the sum of the drops in accuracy when "
        "groups are replaced: on the features of the original's Table 6, which have the error text "
        f"({SET_LABELS[TABLE_SIX]}), for the random forest and EBM, and on the "
        f"{SET_LABELS[PRIMARY_SET]} alone for the forest; vertical ticks are the shares that the "
        f"original reports. On the right, on {SET_LABELS[TABLE_SIX]}, the drop in accuracy with "
        "its interval when the values of a feature are replaced, all keywords of the error text "
        "together.",
        FULL_WIDTH,
        0.85 + ROW_HEIGHT * len(_feature_rows(drawn)),
        partial(_draw, table, paper),
    )


def _finding(table: pl.DataFrame, paper: Reported) -> str:
    """The forest's leading groups beside the reported, and the leading one without error text."""
    ranked = {
        feature_set: _ranked(table.filter(feature_set=feature_set))
        for feature_set in (TABLE_SIX, PRIMARY_SET)
    }
    if not all(ranked.values()):
        return "What groups of signals are worth to two classifiers"
    names = [name for name, _ in ranked[TABLE_SIX]]
    last = names.index(ERROR_TEXT_SIGNAL) + 1 if ERROR_TEXT_SIGNAL in names else 1
    rows = paper.tables.importance.rows
    said = []
    for name, share in ranked[TABLE_SIX][:last]:
        row = rows.get(REPORTED_GROUPS.get(name, name))
        reported = ABSENT if row is None or row.share is None else percent(row.share)
        said.append(f"{GROUP_LABELS[name]} ({percent(share)}, reported {reported})")
    first, share = ranked[PRIMARY_SET][0]
    return (
        f"On {SET_LABELS[TABLE_SIX]} features the forest rests, in percent of its drops, on "
        f"{', '.join(said)}; on {SET_LABELS[PRIMARY_SET]} alone {GROUP_LABELS[first]} leads "
        f"({percent(share)})"
    )


def _ranked(table: pl.DataFrame) -> list[tuple[str, float]]:
    """The forest's groups with a share, the largest first."""
    groups = table.filter(
        pl.col("kind") == "group", pl.col("method") == "random_forest", pl.col("share") > 0
    ).sort("share", "name", descending=[True, False])
    return groups.select("name", "share").rows()


def _draw(table: pl.DataFrame, paper: Reported, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    drawn = table.filter(pl.col("feature_set") == TABLE_SIX)
    _shares(left, table.filter(pl.col("kind") == "group"), paper)
    _drops(right, drawn, _feature_rows(drawn))
    handles = [mark.handle for mark in (*_share_marks().values(), REPORTED)]
    legend_outside(figure, handles, columns=2)


def _share_marks() -> dict[str, Mark]:
    return {
        f"{feature_set}/{method}": replace(mark, label=f"{mark.label}, {SET_LABELS[feature_set]}")
        for (feature_set, method), mark in SHARES.items()
    }


def _shares(axes: Axes, groups: pl.DataFrame, paper: Reported) -> None:
    names = [name for name in SIGNAL_GROUPS if name in set(groups["name"])]
    points = groups.select(
        row="name",
        mark=pl.concat_str("feature_set", "method", separator="/"),
        value="share",
        ci_low=pl.lit(None, dtype=pl.Float64),
        ci_high=pl.lit(None, dtype=pl.Float64),
    )
    dot_plot(axes, points, {name: GROUP_LABELS[name] for name in names}, _share_marks())
    _mark_reported(axes, names, paper)
    axes.set_xlim(left=-2)
    axes.set_xlabel("share of the drops, percent")
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
    """What the leading terms of the boosting machine add to the score of each category."""
    panels = shapes.partition_by("rank", maintain_order=True)
    first = panels[0].row(0, named=True)
    lines = -(-len(panels) // COLUMNS)
    return Picture(
        f"{words(first['feature']).capitalize()} moves the scores of EBM most, by "
        f"{two_decimals(first['contribution'])} logits on the mean over {first['runs']} runs "
        f"(features: {SET_LABELS[PRIMARY_SET]})",
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
