"""Confusion maps: what every method takes each category for, a small panel per method."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.labels import SHORT_LABELS, in_label_order, method_label
from failbench.reporting.style import BLACK
from failbench.vocabulary import ANSWERS, CATEGORIES

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

PANEL_HEIGHT = 1.6
COLUMNS = 3
FONT = 6.5
SMALLEST_FONT = 6.0
PALETTE = "Blues"
DARK = 0.55
"""Shares from here on are written in white."""


def draw_confusions(confusions: pl.DataFrame) -> Figure:
    """Confusions on the paper's features; a row is an actual category, a column an answer.

    A cell is the percentage of the category that gets the answer, mean over repeats, and empty
    below one half percent; a frame marks what is right.

    Parameters
    ----------
    confusions
        As :func:`failbench.studies.per_category.results.confusion_table` returns them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    drawn = confusions.filter(pl.col("feature_set") == PRIMARY_SET, pl.col("answer").is_in(ANSWERS))
    methods = in_label_order(drawn["method"])
    rows = math.ceil(len(methods) / COLUMNS)
    figure = Figure(figsize=(WIDTH, 0.5 + PANEL_HEIGHT * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes in panels[len(methods) :]:
        axes.set_axis_off()
    for position, (axes, method) in enumerate(zip(panels, methods, strict=False)):
        _draw_panel(axes, drawn.filter(pl.col("method") == method))
        axes.set_title(method_label(method), fontsize=FONT + 1)
        if position % COLUMNS:
            axes.set_yticklabels([])
        if position + COLUMNS < len(methods):
            axes.set_xticklabels([])
    figure.supxlabel("answer", fontsize=FONT + 1)
    figure.supylabel(
        "actual category (n scenarios); cells: percent of it, mean over repeats", fontsize=FONT + 1
    )
    return figure


def _draw_panel(axes: Axes, confusions: pl.DataFrame) -> None:
    shares = {row[:2]: row[2] for row in confusions.select("category", "answer", "share").rows()}
    sizes = dict(confusions.group_by("category").agg(pl.col("scenarios").sum()).iter_rows())
    matrix = np.array(
        [[shares.get((category, answer), 0.0) for answer in ANSWERS] for category in CATEGORIES]
    )
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap=PALETTE,
        vmin=0.0,
        vmax=1.0,
        cbar=False,
        linewidths=0.5,
        linecolor="white",
        xticklabels=[*SHORT_LABELS.values(), "abstain"],
        yticklabels=[
            f"{label} ({round(sizes.get(category, 0.0))})"
            for category, label in SHORT_LABELS.items()
        ],
    )
    for (row, column), share in np.ndenumerate(matrix):
        axes.text(
            column + 0.5,
            row + 0.5,
            f"{100 * share:.0f}" if share >= 0.005 else "",
            ha="center",
            va="center",
            fontsize=SMALLEST_FONT,
            color="white" if share >= DARK else BLACK,
        )
    for position in range(len(CATEGORIES)):
        frame = Rectangle((position, position), 1, 1, fill=False, edgecolor=BLACK, linewidth=0.7)
        axes.add_patch(frame)
    axes.axvline(len(CATEGORIES), color=BLACK, linewidth=0.5)
    axes.tick_params(length=0, labelsize=FONT, rotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")
