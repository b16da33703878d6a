"""Confusion maps: what every method takes each category for, a small panel per method."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np
import polars as pl
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.labels import (
    CATEGORY_LABELS,
    SHORT_LABELS,
    drawn_label,
    in_label_order,
    is_blind,
    method_label,
)
from failbench.reporting.picture import Picture
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLACK, FULL_WIDTH
from failbench.vocabulary import ANSWERS, CATEGORIES

PANEL_HEIGHT: Final = 0.95
COLUMNS: Final = 3
PALETTE: Final = "Blues"
REPORTED_METHOD: Final = "improved_rules"
"""Of which the paper prints what it takes each category for."""

DARK: Final = 0.55
"""Shares from here on are written in white."""


def confusions_picture(confusions: pl.DataFrame, paper: Reported) -> Picture:
    """Confusions on the paper's features; a row is an actual category, a column an answer.

    A cell is the percentage of the category that gets the answer, mean over repeats, and empty
    below one half percent; a frame marks what is right.
    """
    drawn = confusions.filter(pl.col("feature_set") == PRIMARY_SET, pl.col("answer").is_in(ANSWERS))
    methods = in_label_order(drawn["method"])
    panels = []
    for method in methods:
        panels.append((drawn_label(method), drawn.filter(pl.col("method") == method)))
        if method == REPORTED_METHOD:
            panels.append((f"{method_label(method)}, reported", _reported(paper)))
    return Picture(
        with_development(_finding(drawn), methods),
        "A small map per method: a row is an actual category, a column an answer, and a cell the "
        "percent of the category that gets the answer, mean over runs and repeats. Frames mark "
        "what is right; the last column is abstention.",
        FULL_WIDTH,
        0.85 + PANEL_HEIGHT * math.ceil(len(panels) / COLUMNS),
        partial(_draw, panels),
    )


def _finding(drawn: pl.DataFrame) -> str:
    """The categories that methods tell best and worst on the mean, of those that are blind."""
    blind = pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean)
    recalls = (
        drawn.filter(pl.col("category") == pl.col("answer"), blind)
        .group_by("category")
        .agg(pl.col("share").sum(), pl.col("method").n_unique().alias("methods"))
        .with_columns(pl.col("share") / drawn.filter(blind)["method"].n_unique())
        .sort("share", "category")
    )
    if recalls.height < len(CATEGORIES):
        return "What each method takes each category for"
    worst, best = recalls.row(0, named=True), recalls.row(-1, named=True)
    return (
        f"{CATEGORY_LABELS[best['category']]} is told best ({percent(best['share'])} % of its "
        f"failures, mean over methods told nothing of it), "
        f"{CATEGORY_LABELS[worst['category']].lower()} worst ({percent(worst['share'])} %)"
    )


def _reported(paper: Reported) -> pl.DataFrame:
    """The paper's confusions: scenarios, and as shares of each category."""
    rows = [
        (category, answer, float(count), count / sum(counts))
        for category, counts in paper.tables.confusion.rows.items()
        for answer, count in zip(CATEGORIES, counts, strict=True)
    ]
    return pl.DataFrame(rows, schema=["category", "answer", "scenarios", "share"], orient="row")


def _draw(maps: list[tuple[str, pl.DataFrame]], figure: Figure) -> None:
    """A panel per title and confusions."""
    rows = math.ceil(len(maps) / COLUMNS)
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes in panels[len(maps) :]:
        axes.set_axis_off()
    for position, (axes, (title, confusions)) in enumerate(zip(panels, maps, strict=False)):
        _draw_panel(axes, confusions)
        axes.set_title(title)
        if position % COLUMNS:
            axes.set_yticklabels([])
        if position + COLUMNS < len(maps):
            axes.set_xticklabels([])
    figure.supxlabel("answer (as reported, unknown includes abstentions)")
    figure.supylabel("actual category (n scenarios); cells: percent of it")


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
            color="white" if share >= DARK else BLACK,
        )
    for position in range(len(CATEGORIES)):
        frame = Rectangle((position, position), 1, 1, fill=False, edgecolor=BLACK, linewidth=0.7)
        axes.add_patch(frame)
    axes.axvline(len(CATEGORIES), color=BLACK, linewidth=0.5)
    axes.tick_params(length=0, rotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")
