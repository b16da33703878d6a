"""Risk-coverage curves, a small panel per method, drawn from their published points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from failbench.features.catalogue import PRIMARY_SET
from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.labels import (
    FEATURE_SET_LABELS,
    is_blind,
    label_inside,
    made_in_view,
    reads_true_category,
)
from failbench.reporting.method_styles import MethodStyle, method_styles
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, FULL_WIDTH, PALE, REPORTED_LEVEL, THICK, THIN

COLUMNS: Final = 4
PANEL_HEIGHT: Final = 1.05
"""Inches."""

TITLE: Final = 21
"""Letters that fit over a panel."""

HALF: Final = 0.5
"""The coverage of which the finding is: the surest half of the runs."""

MARKERS: Final = (0.25, 0.5, 0.75, 1.0)
"""Coverages at which a curve has its method's marker."""

LINES: Final[Mapping[str, LineStyleType]] = dict(zip(FEATURE_SET_LABELS, ("-", ":"), strict=True))


@dataclass(frozen=True)
class ReportedPoint:
    """What the paper prints of a method: the share that it answers, and how much of that is wrong.

    Both are fractions; the risk is over what is answered.
    """

    coverage: float
    risk: float


def risk_coverage_picture(
    curves: pl.DataFrame, reported: Mapping[str, tuple[ReportedPoint, ...]]
) -> Picture:
    """Risk against coverage, a panel per method, over the curves of all others in grey."""
    styles = method_styles(curves["method"])
    ordered = dict(
        sorted(
            styles.items(), key=lambda item: (reads_true_category(item[0]), made_in_view(item[0]))
        )
    )
    lines = math.ceil(len(ordered) / COLUMNS)
    return Picture(
        with_development(_finding(curves), styles),
        "A panel per method: the share of wrong answers among the runs that it is surest of, over "
        "the share of runs that it answers. The curves of all other methods lie behind in grey, "
        "black ticks are what the paper reports, and a dotted line is the larger feature set. "
        "Panels with hollow marks are of methods that are handed the true category.",
        FULL_WIDTH,
        0.55 + PANEL_HEIGHT * lines,
        partial(_draw, curves, ordered, reported),
    )


def _finding(curves: pl.DataFrame) -> str:
    """The method that is wrong least on the surest half, of those that are blind."""
    blind = pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean)
    rows = curves.filter(pl.col("feature_set") == PRIMARY_SET, blind)
    half = rows.filter((pl.col("coverage") - HALF).abs() < 1e-6).sort("risk", "method")
    full = rows.filter(pl.col("coverage") > 1 - 1e-6)
    if half.is_empty() or full.is_empty():
        return "Share of wrong answers among the runs that a method is surest of"
    best = half.row(0, named=True)
    whole = full.filter(pl.col("method") == best["method"])["risk"][0]
    return (
        f"On the half of the runs that it is surest of, {label_inside(best['method'])} is wrong on "
        f"{percent(best['risk'])} %, least of all that were told nothing of them; on all runs, "
        f"on {percent(whole)} %"
    )


def _draw(
    curves: pl.DataFrame,
    styles: Mapping[str, MethodStyle],
    reported: Mapping[str, tuple[ReportedPoint, ...]],
    figure: Figure,
) -> None:
    lines = math.ceil(len(styles) / COLUMNS)
    panels = figure.subplots(lines, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    primary = curves.filter(pl.col("feature_set") == PRIMARY_SET)
    for axes, (method, style) in zip(panels, styles.items(), strict=False):
        for other in styles:
            if other != method:
                _curve(axes, primary.filter(pl.col("method") == other), PALE, "-", THIN)
        of_method = curves.filter(pl.col("method") == method)
        for feature_set, line in LINES.items():
            points = of_method.filter(pl.col("feature_set") == feature_set)
            _curve(axes, points, style.colour, line, THICK)
            if line == "-":
                _marks(axes, points, style)
        for point in reported.get(method, ()):
            axes.plot(100 * point.coverage, 100 * point.risk, **REPORTED_LEVEL.look, zorder=4)
        axes.set_title(fill(style.label, TITLE))
    for axes in panels[len(styles) :]:
        axes.set_axis_off()
    # panels above an empty one end their column, and so need its labels
    for axes in panels[len(styles) - COLUMNS : len(styles)]:
        axes.tick_params(axis="x", labelbottom=True)
    panels[0].set_xlim(0, 104)
    panels[0].set_ylim(0, 100)
    panels[0].set_xticks([0, 50, 100])
    panels[0].set_yticks([0, 50, 100])
    figure.supxlabel("coverage: percent of runs answered, surest first")
    figure.supylabel("risk: percent of them\nnot diagnosed right")
    handles = [
        *(
            Line2D(
                [], [], color=BLACK, linestyle=line, label=f"features: {FEATURE_SET_LABELS[name]}"
            )
            for name, line in LINES.items()
        ),
        Line2D([], [], color=PALE, label="other methods"),
        REPORTED_LEVEL.handle,
    ]
    legend_outside(figure, handles, columns=4)


def _curve(
    axes: Axes, points: pl.DataFrame, colour: str, line: LineStyleType, width: float
) -> None:
    ordered = points.sort("coverage")
    coverage, risk = (100 * ordered[name].to_numpy() for name in ("coverage", "risk"))
    axes.plot(coverage, risk, color=colour, linestyle=line, linewidth=width)


def _marks(axes: Axes, points: pl.DataFrame, style: MethodStyle) -> None:
    nearest = [
        points.sort((pl.col("coverage") - coverage).abs()).head(1)
        for coverage in MARKERS
        if points.height
    ]
    if nearest:
        at = pl.concat(nearest)
        coverage, risk = (100 * at[name].to_numpy() for name in ("coverage", "risk"))
        axes.plot(coverage, risk, linestyle="none", **style.look)
