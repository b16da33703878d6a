"""The figure of lead time: accuracy before the failure, and who is diagnosed how far ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.method_styles import METHOD_STYLES, MethodStyle
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, FULL_WIDTH, REPORTED_LEVEL
from failbench.studies.lead_time.results import ALARM, POSSIBLE

HEIGHT: Final = 2.9
"""Inches."""

SHIFT: Final = 0.12
"""Steps are drawn at equal distances; methods stand this far from one another, in places."""

MOST_NAMED: Final = 6
"""Steps that a panel has room to name."""

REPORTED_METHOD: Final = "improved_rules"
"""The paper's framework, of which its lead times are."""

TWINS: Final = (0, (1.0, 1.0))
"""Line of what healthy twins allow."""

BESIDE: Final = {
    ALARM: MethodStyle("any alarm, whatever the diagnosis", BLACK, "", line="-"),
    POSSIBLE: MethodStyle("fault switched on", BLACK, "", line=":"),
}
PANELS: Final = (
    ("accuracy", "all runs", "right, percent"),
    ("accuracy_past_onset", "snapshots past onset", ""),
    ("diagnosed_ahead", "diagnosed for good\nafter an alarm", ""),
)


@dataclass(frozen=True)
class ReportedLeadTime:
    """What the paper prints of accuracies before the failure."""

    accuracies: Mapping[int, float]
    floor: float
    floored: tuple[int, ...]


def lead_time_picture(points: pl.DataFrame, reported: ReportedLeadTime) -> Picture:
    """Three panels over steps before the failure: all runs, those past onset, last diagnoses."""
    return Picture(
        with_development(_finding(points, reported), points["method"].unique()),
        "Three panels over steps before the failure, with a line per method and intervals: share "
        "of runs diagnosed right from what was logged until then, the same for snapshots after the "
        "fault was switched on, and share diagnosed right for good after an alarm. Black ticks are "
        "accuracies that the paper reports; arrows upwards, that it reports to lie above.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, points, reported),
    )


def _finding(points: pl.DataFrame, reported: ReportedLeadTime) -> str:
    accuracies = dict(
        points.filter(pl.col("metric") == "accuracy", pl.col("method") == REPORTED_METHOD)
        .select("steps", "value")
        .iter_rows()
    )
    shared = [steps for steps in reported.accuracies if steps in accuracies and steps]
    if not shared or 0 not in accuracies:
        return "Share of runs diagnosed right, by steps before the failure"
    steps = max(shared)
    return (
        f"{steps} steps before the failure the improved rules are right on "
        f"{percent(accuracies[steps])} % (reported: {percent(reported.accuracies[steps])} %), at "
        f"the failure on {percent(accuracies[0])} %"
    )


def _draw(points: pl.DataFrame, reported: ReportedLeadTime, figure: Figure) -> None:
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (metric, title, quantity) in zip(panels, PANELS, strict=True):
        drawn = points.filter(pl.col("metric") == metric)
        steps = drawn["steps"].unique().sort(descending=True).to_list()
        places = {step: place for place, step in enumerate(steps)}
        styles = _styles(drawn)
        for number, (name, style) in enumerate(styles):
            rates = drawn.filter(pl.col("method") == name).sort("steps", descending=True)
            shift = SHIFT * (number - (len(styles) - 1) / 2) if style.marker else 0.0
            _line(axes, rates, places, style, shift)
        if metric == "accuracy":
            _beside_accuracy(axes, points, places, reported)
        _dress(axes, steps, title, _sizes(drawn, steps))
        axes.set_ylabel(quantity)
    # last, as the panels share the axis and setting it ends its scaling
    panels[0].set_ylim(bottom=0.0)
    figure.supxlabel("steps before the failure; below them, n scenarios")
    legend_outside(figure, _handles(points), columns=3, handlelength=2.6)


def _styles(drawn: pl.DataFrame) -> list[tuple[str, MethodStyle]]:
    names = set(drawn["method"])
    return [(name, style) for name, style in (METHOD_STYLES | BESIDE).items() if name in names]


def _beside_accuracy(
    axes: Axes, points: pl.DataFrame, places: dict[int, int], reported: ReportedLeadTime
) -> None:
    """The best that any method reaches on healthy twins, and the paper's snapshots."""
    best = points.filter(pl.col("metric") == "twin_accuracy")
    twins = best.group_by("steps").agg(pl.col("value").max()).sort("steps")
    axes.plot(
        [places[step] for step in twins["steps"]],
        100 * twins["value"].to_numpy(),
        color=BLACK,
        linewidth=0.8,
        linestyle=TWINS,
    )
    for step, accuracy in reported.accuracies.items():
        if step in places:
            axes.plot(places[step], 100 * accuracy, **REPORTED_LEVEL.look)
    for step in reported.floored:
        if step in places:
            axes.plot(places[step], 100 * reported.floor, **REPORTED_LEVEL.look)
            axes.annotate(
                "",
                (places[step], 100 * reported.floor + 9),
                (places[step], 100 * reported.floor),
                arrowprops={"arrowstyle": "->", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
            )


def _line(
    axes: Axes, rates: pl.DataFrame, places: dict[int, int], style: MethodStyle, shift: float
) -> None:
    value, low, high = (100 * rates[name].to_numpy() for name in ("value", "ci_low", "ci_high"))
    axes.errorbar(
        np.array([places[step] for step in rates["steps"]]) + shift,
        value,
        yerr=(value - low, high - value) if style.marker else None,
        linestyle=style.line,
        linewidth=0.9,
        elinewidth=0.5,
        **{**style.look, "markersize": 3.2},
    )


def _sizes(drawn: pl.DataFrame, steps: list[int]) -> list[int]:
    return [max(drawn.filter(pl.col("steps") == step)["n"].to_list()) for step in steps]


def _dress(axes: Axes, steps: list[int], title: str, sizes: list[int]) -> None:
    """Name the steps; of many every other, the failure itself among them, for want of room."""
    every = 1 if len(steps) <= MOST_NAMED else 2
    shown = [place for place in range(len(steps)) if (len(steps) - 1 - place) % every == 0]
    axes.set_xticks(range(len(steps)), minor=True)
    axes.set_xticks(shown, [f"{steps[place]}\n{sizes[place]}" for place in shown])
    axes.tick_params(axis="x", which="minor", length=1.5)
    axes.set_title(title)


def _handles(points: pl.DataFrame) -> list[Line2D]:
    lines = [
        Line2D([], [], linestyle=style.line, label=style.label, **style.look)
        for _, style in _styles(points)
    ]
    return [
        *lines,
        Line2D([], [], color=BLACK, linestyle=TWINS, label="healthy twins, best method"),
        replace(REPORTED_LEVEL, label="reported (arrow: above)").handle,
    ]
