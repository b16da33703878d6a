"""The figure of portability: a panel per condition and a row per method."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.prediction.slices import RunSetting
from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import drawn_label, in_label_order, label_inside
from failbench.reporting.method_styles import method_styles
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import FULL_WIDTH, GREY, REPORTED
from failbench.studies.portability.settings import (
    ADAPTIVE,
    FIXED,
    HOME,
    HOME_ADAPTIVE,
    RECALIBRATED,
)
from failbench.studies.portability.tables import condition_label

ROW_HEIGHT: Final = 0.24
"""Inches per method."""

CONDITIONS: Final = (HOME, HOME_ADAPTIVE, FIXED, RECALIBRATED, ADAPTIVE)
REPORTED_METHOD: Final = "improved_rules"
"""Whose thresholds the paper carries from one optimizer to the other."""


def portability_picture(
    points: pl.DataFrame, reported: float, *, home: RunSetting, away: RunSetting
) -> Picture:
    """Accuracy with its interval, a panel per condition.

    Parameters
    ----------
    points
        As :class:`failbench.studies.portability.results.Portability` holds its rates.
    reported
        What the paper's rules reach under the other optimizer, a fraction.
    home, away
        The settings that methods were carried between.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    drawn = points.filter(pl.col("metric") == "accuracy")
    panels = {
        condition: condition_label(condition, home, away).replace(", ", ",\n")
        for condition in CONDITIONS
        if condition in set(drawn["condition"])
    }
    return Picture(
        with_development(_finding(drawn, home, away), drawn["method"].unique()),
        "A panel per condition: accuracies with intervals under the optimizer that methods were "
        "tuned on and under the other, with fixed, recalibrated and adaptive thresholds, a row "
        "per method. A vertical tick is what the paper reports of its rules under SGD.",
        FULL_WIDTH,
        0.9 + ROW_HEIGHT * drawn["method"].n_unique(),
        partial(_draw, drawn, panels, reported),
    )


def _finding(drawn: pl.DataFrame, home: RunSetting, away: RunSetting) -> str:
    """The method that loses most when it is carried over with fixed thresholds."""
    wide = drawn.filter(pl.col("condition").is_in([HOME, FIXED])).pivot(
        "condition", index="method", values="value"
    )
    if not {HOME, FIXED} <= set(wide.columns):
        return "Accuracy of each method under both optimizers"
    loses = wide.sort(pl.col(FIXED) - pl.col(HOME), "method").row(0, named=True)
    change = (
        f"from {percent(loses[HOME])} ({condition_label(HOME, home, away)}) to "
        f"{percent(loses[FIXED])} % ({condition_label(FIXED, home, away)})"
    )
    of = label_inside(loses["method"])
    if loses[FIXED] < loses[HOME]:
        return f"The largest loss with fixed thresholds is that of {of}, {change}"
    return f"With fixed thresholds no method loses; the least gain is that of {of}, {change}"


def _draw(drawn: pl.DataFrame, panels: dict[str, str], reported: float, figure: Figure) -> None:
    methods = in_label_order(drawn["method"])
    grid = dot_panels(
        figure,
        drawn.rename({"condition": "panel"}).with_columns(row="method", mark="method"),
        {method: drawn_label(method) for method in methods},
        method_styles(methods),
        panels,
        spread=0.0,
    )
    for axes, condition in zip(grid, panels, strict=True):
        if condition == FIXED and REPORTED_METHOD in methods:
            axes.plot(100 * reported, methods.index(REPORTED_METHOD), **REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    handles = [
        REPORTED.handle,
        Line2D([], [], color=GREY, label="value of the first panel"),
    ]
    legend_outside(figure, handles, columns=2)
