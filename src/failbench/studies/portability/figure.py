"""The figure of portability: a panel per condition and a row per method."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.prediction.slices import RunSetting
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import (
    drawn_label,
    in_label_order,
    is_blind,
    label_inside,
    made_in_view,
)
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
RULES: Final = ("simple_rules", "improved_rules")
"""The original carries "fixed thresholds of rule-based methods" over, and says not of which."""

RULES_REPORTED: Final = replace(REPORTED, label="reported of rules, not said of which")


def portability_picture(
    points: pl.DataFrame, reported: float, *, home: RunSetting, away: RunSetting
) -> Picture:
    """Accuracy with its interval, a panel per condition."""
    drawn = points.filter(pl.col("metric") == "accuracy")
    panels = {
        condition: condition_label(condition, home, away).replace(", ", ",\n")
        for condition in CONDITIONS
        if condition in set(drawn["condition"])
    }
    return Picture(
        _finding(drawn, home, away),
        "A panel per condition: accuracies with intervals under the optimizer that methods were "
        "tuned on and under the other, with fixed, recalibrated and adaptive thresholds, a row "
        "per method. A vertical tick, in the rows of both sets of rules, is what the original "
        "reports of rules under SGD; it does not say of which. An asterisk marks methods made with "
        "these scenarios in view (development).",
        FULL_WIDTH,
        0.9 + ROW_HEIGHT * drawn["method"].n_unique(),
        partial(_draw, drawn, panels, reported),
    )


def _finding(drawn: pl.DataFrame, home: RunSetting, away: RunSetting) -> str:
    """The held-out method that loses most when it is carried over with fixed thresholds."""
    held_out = [method for method in drawn["method"].unique() if is_blind(method)]
    wide = drawn.filter(
        pl.col("condition").is_in([HOME, FIXED]), pl.col("method").is_in(held_out)
    ).pivot("condition", index="method", values="value")
    if not {HOME, FIXED} <= set(wide.columns):
        return "Accuracy of each method under both optimizers"
    loses = wide.sort(pl.col(FIXED) - pl.col(HOME), "method").row(0, named=True)
    change = (
        f"from {percent(loses[HOME])} ({condition_label(HOME, home, away)}) to "
        f"{percent(loses[FIXED])} % ({condition_label(FIXED, home, away)})"
    )
    of = label_inside(loses["method"])
    if loses[FIXED] < loses[HOME]:
        return f"Of held-out methods {of} loses most with fixed thresholds, {change}"
    return f"With fixed thresholds no held-out method loses; {of} gains least, {change}"


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
        for position, method in enumerate(methods):
            if condition == FIXED and method in RULES:
                axes.plot(100 * reported, position, **RULES_REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    handles = [
        RULES_REPORTED.handle,
        Line2D([], [], color=GREY, label="value of the first panel"),
    ]
    if any(map(made_in_view, methods)):
        handles.append(Line2D([], [], linestyle="none", label="*: development (in-sample)"))
    legend_outside(figure, handles, columns=3)
