"""Figure of the ablation: a mark per method, with some signals only and without one group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLACK, BLUE, GREY, ORANGE, SKY, VERMILLION
from failbench.studies.ablation.measure import FOREST, REDUCED, RULES
from failbench.studies.ablation.variants import (
    REPORTED_ROWS,
    VARIANTS,
    kept_subsets,
    left_out_subsets,
    subset_label,
)
from failbench.vocabulary import CATEGORIES

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

FONT = 7
ROW_HEIGHT = 0.42
"""Inches per subset."""

CHANCE = 1 / len(CATEGORIES)

SPREAD = 0.6
"""Share of a row that the marks of its methods take."""

MARKS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    (RULES, PRIMARY_SET): (BLUE, "s"),
    (REDUCED, PRIMARY_SET): (SKY, "D"),
    (FOREST, PRIMARY_SET): (VERMILLION, "P"),
    (FOREST, "19+keywords"): (ORANGE, "X"),
}
"""Colour and marker of each method and feature set."""


def draw_ablation(points: pl.DataFrame, paper: Reported) -> Figure:
    """Accuracy with each subset of the signals, the paper's beside it.

    Parameters
    ----------
    points
        As :func:`failbench.studies.ablation.results.ablation_points` returns them.
    paper
        The paper's numbers.
    """
    drawn = points.filter(pl.col("metric") == "accuracy")
    panels = (kept_subsets(drawn), left_out_subsets(drawn))
    height = 1.1 + ROW_HEIGHT * max(map(len, panels))
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    for axes, subsets, title in zip(
        (left, right), panels, ("These signals only", "All signals but one group"), strict=True
    ):
        _panel(axes, drawn, subsets)
        axes.set_title(title)
    _mark_reported(left, panels[0], paper)
    left.plot([], [], color=GREY, linewidth=0.8, linestyle=":", label=f"chance, {CHANCE:g}")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=3, fontsize=FONT)
    return figure


def _mark_reported(axes: Axes, subsets: Sequence[str], paper: Reported) -> None:
    """Draw the paper's accuracy in the row of each subset that it has."""
    rows = paper.tables.ablation.rows
    marks = [
        (rows[REPORTED_ROWS[subset]].accuracy, position)
        for position, subset in enumerate(subsets)
        if subset in REPORTED_ROWS
    ]
    axes.plot(
        *zip(*marks, strict=True),
        color=BLACK,
        marker="|",
        markersize=12,
        markeredgewidth=1.4,
        linestyle="none",
        label="Improved rules, reported",
    )


def _panel(axes: Axes, drawn: pl.DataFrame, subsets: Sequence[str]) -> None:
    axes.axvline(CHANCE, color=GREY, linewidth=0.8, linestyle=":")
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(MARKS))
    for ((method, feature_set), (colour, marker)), offset in zip(
        MARKS.items(), offsets, strict=True
    ):
        rates = drawn.filter(
            pl.col("method") == method,
            pl.col("feature_set") == feature_set,
            pl.col("subset").is_in(subsets),
        )
        rows = np.array([subsets.index(name) for name in rates["subset"]], dtype=float)
        label = ", ".join(VARIANTS[method, feature_set])
        draw_marks(axes, rates, rows + offset, colour=colour, marker=marker, label=label)
    # the last row has all signals, which the others lack
    rule_rows(axes, [subset_label(name) for name in subsets], FONT, last=0.8)
    axes.set_xlim(-0.02, 1.0)
    axes.set_xlabel(f"accuracy (n = {drawn['n'][0]} scenarios)", fontsize=FONT)
