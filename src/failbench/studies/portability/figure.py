"""The figure of portability: a mark per method and condition, drawn from its published points."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from failbench.prediction.slices import RunSetting
from failbench.reporting.dot_plot import draw_marks, rule_rows
from failbench.reporting.labels import METHOD_LABELS, method_label
from failbench.reporting.style import BLACK, BLUE, GREY, ORANGE, VERMILLION
from failbench.studies.portability.settings import (
    ADAPTIVE,
    FIXED,
    HOME,
    HOME_ADAPTIVE,
    RECALIBRATED,
)
from failbench.studies.portability.tables import condition_label

WIDTH = 3.4
"""Inches: that of one column."""

FONT = 6.5
ROW_HEIGHT = 0.42
"""Inches per method."""

SPREAD = 0.62
"""Share of a row that the marks of its conditions take."""

MARKS: Final = {
    HOME: (BLACK, "o"),
    HOME_ADAPTIVE: (GREY, "v"),
    FIXED: (VERMILLION, "D"),
    RECALIBRATED: (BLUE, "s"),
    ADAPTIVE: (ORANGE, "^"),
}


def draw_portability(
    points: pl.DataFrame, reported: float, *, home: RunSetting, away: RunSetting
) -> Figure:
    """Accuracy with its interval, a row per method and a mark per condition.

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
    labels = {method: method_label(method) for method in sorted(set(drawn["method"]))}
    methods = [method for method in METHOD_LABELS if method in labels]
    sizes = sorted(set(drawn["n"]))
    figure = Figure(figsize=(WIDTH, 1.35 + ROW_HEIGHT * len(methods)), layout="constrained")
    axes = figure.subplots()
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(MARKS))
    for (condition, (colour, marker)), offset in zip(MARKS.items(), offsets, strict=True):
        rates = drawn.filter(pl.col("condition") == condition).sort("method")
        rows = np.array([methods.index(method) for method in rates["method"]], dtype=float)
        label = condition_label(condition, home, away)
        draw_marks(axes, rates, rows + offset, colour=colour, marker=marker, label=label)
    axes.axvline(
        reported, color=BLACK, linewidth=0.8, linestyle=":", label="rules under SGD, reported"
    )
    rule_rows(axes, [labels[method] for method in methods], FONT)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlim(0.0, 1.0)
    scenarios = " / ".join(str(size) for size in sizes)
    axes.set_xlabel(f"accuracy (n = {scenarios} scenarios)", fontsize=FONT)
    figure.legend(loc="outside upper left", fontsize=FONT, handletextpad=0.3, ncols=2)
    return figure
