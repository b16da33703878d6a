"""The figure of generalization: a panel per study and a row per method."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import (
    drawn_label,
    in_label_order,
    is_blind,
    label_inside,
    made_in_view,
    reads_true_category,
)
from failbench.reporting.method_styles import method_styles
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.reported import Reported, reported_accuracies
from failbench.reporting.style import FULL_WIDTH, GREY, REPORTED

ROW_HEIGHT: Final = 0.19
"""Inches per method."""

PANELS: Final = {
    NESTED_CV: "reference\narchitecture,\nnew scenarios",
    POOLED: "all\narchitectures,\nnew scenarios",
    LEFT_OUT: "architecture\nleft out,\nnew scenarios",
    KNOWN_SCENARIOS: "architecture\nleft out, known\nscenarios",
}


def generalization_picture(points: pl.DataFrame, paper: Reported) -> Picture:
    """Accuracy on the paper's features with its interval, a panel per study.

    Methods that only the main study has are left out, as they are of the table: there is nothing to
    hold them against. Below a line stand those whose rules were made with the scenarios in view,
    and below another those that are handed the true category.
    """
    drawn = points.filter(
        pl.col("feature_set") == PRIMARY_SET,
        pl.col("metric") == "accuracy",
        pl.col("study").is_in(list(PANELS)),
        (pl.col("study") != NESTED_CV).any().over("method"),
    )
    return Picture(
        with_development(_finding(drawn), drawn["method"].unique()),
        "Four panels of accuracies with intervals, a row per method: on the reference "
        "architecture, on all, on architectures left out of training, and on those with known "
        "scenarios. Vertical ticks are the accuracies that the paper reports.",
        FULL_WIDTH,
        0.95 + ROW_HEIGHT * drawn["method"].n_unique(),
        partial(_draw, drawn, reported_accuracies(paper)),
    )


def _finding(drawn: pl.DataFrame) -> str:
    """The best method on new architectures, with new scenarios and with known ones."""
    best = {}
    for study in (LEFT_OUT, KNOWN_SCENARIOS):
        rates = drawn.filter(
            pl.col("study") == study,
            pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean),
        ).sort("value", "method", descending=[True, False])
        best[study] = rates.row(0, named=True) if rates.height else None
    new, known = best[LEFT_OUT], best[KNOWN_SCENARIOS]
    if new is None or known is None:
        return "Accuracy of each method on new and on known scenarios"
    return (
        "On architectures left out, the best method that was told nothing of the scenarios names "
        f"the right category of {percent(new['value'])} % of new scenarios "
        f"({label_inside(new['method'])}) and of {percent(known['value'])} % of known ones "
        f"({label_inside(known['method'])})"
    )


def _draw(drawn: pl.DataFrame, reported: dict[str, float], figure: Figure) -> None:
    methods = in_label_order(drawn["method"])
    developed = [method for method in methods if made_in_view(method)]
    truth_told = [method for method in methods if reads_true_category(method)]
    ordered = [*(method for method in methods if is_blind(method)), *developed, *truth_told]
    grid = dot_panels(
        figure,
        drawn.rename({"study": "panel"}).with_columns(row="method", mark="method"),
        {method: drawn_label(method) for method in ordered},
        method_styles(ordered),
        PANELS,
        spread=0.0,
        heavy_above=(*developed[:1], *truth_told[:1]),
    )
    for position, method in enumerate(ordered):
        if method in reported:
            grid[0].plot(100 * reported[method], position, **REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    legend_outside(
        figure,
        [
            REPORTED.handle,
            Line2D([], [], color=GREY, label="value of the first panel"),
            Line2D(
                [],
                [],
                linestyle="none",
                marker="o",
                color=GREY,
                markerfacecolor="white",
                label="hollow: handed the true category",
            ),
        ],
        columns=3,
    )
