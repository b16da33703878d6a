"""Figure of the ablation: a mark per method, with some signals only and without one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.signal_groups import ALL_GROUPS
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.reported import Reported
from failbench.reporting.style import FULL_WIDTH, GREY, HALF_SIZE, REPORTED, Mark
from failbench.studies.ablation.measure import FOREST, REDUCED, RULES
from failbench.studies.ablation.variants import (
    REPORTED_ROWS,
    VARIANTS,
    kept_subsets,
    left_out_subsets,
    subset_label,
)
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.36
"""Inches per subset."""

CHANCE: Final = 1 / len(CATEGORIES)

LOOKS: Final[dict[tuple[str, str], tuple[str, bool]]] = {
    (RULES, PRIMARY_SET): (RULES, False),
    (REDUCED, PRIMARY_SET): (RULES, True),
    (FOREST, PRIMARY_SET): (FOREST, False),
    (FOREST, "19+keywords"): (FOREST, True),
}
"""The method whose mark each variant has, and whether it is half filled: the reduced tree is a part
of the improved rules, and the forest with keywords reads more than that without."""


def ablation_picture(points: pl.DataFrame, paper: Reported) -> Picture:
    """Accuracy with each subset of the signals, the paper's beside it."""
    drawn = points.filter(pl.col("metric") == "accuracy").with_columns(
        row="subset", mark=pl.concat_str("method", "feature_set", separator="/")
    )
    rows = max(len(kept_subsets(drawn)), len(left_out_subsets(drawn)))
    return Picture(
        _finding(drawn),
        "Two panels of accuracies with intervals, a row per set of signals: on the left some "
        "groups of signals alone, on the right all but one group; the last row has all. Marks are "
        "the improved rules, a reduced tree of them, and the random forest on two feature sets. "
        "Vertical ticks are the paper's improved rules.",
        FULL_WIDTH,
        0.95 + ROW_HEIGHT * rows,
        partial(_draw, drawn, paper),
    )


def _finding(drawn: pl.DataFrame) -> str:
    forest = drawn.filter(pl.col("method") == FOREST, pl.col("feature_set") == PRIMARY_SET)
    values = dict(forest.select("subset", "value").iter_rows())
    single = {name: value for name, value in values.items() if name in _single_groups(values)}
    without = {name: value for name, value in values.items() if name.startswith("without_")}
    if not single or not without:
        return "Accuracy with some groups of signals alone, and without one"
    best = max(single, key=lambda name: (single[name], name))
    return (
        f"Without any one group of signals the random forest keeps {percent(min(without.values()))}"
        f" to {percent(max(without.values()))} % (all: {percent(values[ALL_GROUPS])} %); of single "
        f"groups, {subset_label(best)} is worth most, {percent(single[best])} %"
    )


def _single_groups(subsets: Sequence[str] | dict[str, float]) -> set[str]:
    return {
        name
        for name in subsets
        if name != ALL_GROUPS and "+" not in name and not name.startswith("without_")
    }


def _draw(drawn: pl.DataFrame, paper: Reported, figure: Figure) -> None:
    panels = (kept_subsets(drawn), left_out_subsets(drawn))
    left, right = figure.subplots(1, 2, sharex=True)
    marks = {
        "/".join(variant): _mark(variant, ", ".join(label)) for variant, label in VARIANTS.items()
    }
    for axes, subsets, title in zip(
        (left, right), panels, ("these signals only", "all signals but one group"), strict=True
    ):
        axes.axvline(100 * CHANCE, color=GREY, linewidth=0.8, linestyle=":")
        # the last row has all signals, which the others lack
        rows = {name: subset_label(name) for name in subsets}
        dot_plot(axes, drawn, rows, marks, heavy_above=subsets[-1:])
        axes.set_title(title)
    left.set_xlim(-3, 100)
    _mark_reported(left, panels[0], paper)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    handles = [
        *(mark.handle for mark in marks.values()),
        replace(REPORTED, label="Improved rules, reported").handle,
        Line2D([], [], color=GREY, linestyle=":", label=f"chance, {100 * CHANCE:g} %"),
    ]
    legend_outside(figure, handles, columns=2)


def _mark(variant: tuple[str, str], label: str) -> Mark:
    method, half = LOOKS[variant]
    style = METHOD_STYLES[method]
    if half:
        return Mark(label, style.colour, style.marker, "left", size=HALF_SIZE)
    return Mark(label, style.colour, style.marker)


def _mark_reported(axes: Axes, subsets: Sequence[str], paper: Reported) -> None:
    """Draw the paper's accuracy in the row of each subset that it has."""
    rows = paper.tables.ablation.rows
    for position, subset in enumerate(subsets):
        if subset in REPORTED_ROWS:
            accuracy = rows[REPORTED_ROWS[subset]].accuracy
            axes.plot(100 * accuracy, position, **REPORTED.look)
