"""Risk-coverage curves, drawn from their published points."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.labels import FEATURE_SET_LABELS
from failbench.reporting.style import MethodStyle, method_styles

WIDTH, HEIGHT = 6.9, 3.6
"""In inches: the width is that of two columns."""

SMALLEST_FONT = 6.5
LEGEND_COLUMNS = 4
MARKERS = 10
"""Markers along a curve."""


def draw_risk_coverage(curves: pl.DataFrame) -> Figure:
    """Risk against coverage, a panel per feature set and a line per method.

    Parameters
    ----------
    curves
        As :class:`failbench.studies.risk_coverage.results.RiskCoverage` holds them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    styles = method_styles(curves["method"])
    drawn = curves["feature_set"].unique().to_list()
    feature_sets = [name for name in FEATURE_SET_LABELS if name in drawn]
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    panels = figure.subplots(1, len(feature_sets), sharex=True, sharey=True, squeeze=False)[0]
    for axes, feature_set in zip(panels, feature_sets, strict=True):
        _draw_panel(axes, curves.filter(pl.col("feature_set") == feature_set), styles)
        axes.set_title(f"Features: {FEATURE_SET_LABELS[feature_set]}")
        axes.set_xlabel("coverage: share of runs answered, surest first")
    panels[0].set_ylabel("risk: share of them not diagnosed right")
    panels[0].set_ylim(bottom=0.0)
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    labels = [style.label for style in styles.values() if style.label in handles]
    figure.legend(
        handles=[handles[label] for label in labels],
        loc="outside lower center",
        ncols=LEGEND_COLUMNS,
        fontsize=SMALLEST_FONT,
        handlelength=3.5,
    )
    return figure


def _draw_panel(axes: Axes, curves: pl.DataFrame, styles: Mapping[str, MethodStyle]) -> None:
    for position, (method, style) in enumerate(styles.items()):
        points = curves.filter(pl.col("method") == method).sort("coverage")
        if points.is_empty():
            continue
        # Markers start at different points, so that curves that coincide show all of theirs.
        every = max(points.height // MARKERS, 1)
        axes.plot(
            points["coverage"].to_numpy(),
            points["risk"].to_numpy(),
            markevery=(position % every, every),
            markersize=3.5,
            label=style.label,
            color=style.colour,
            linestyle=style.line,
            marker=style.marker,
        )
    axes.set_xlim(0.0, 1.0)
