"""The figure of lead time: accuracy before the failure, and who is diagnosed how far ahead."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.style import BLACK, GREY, METHOD_STYLES, MethodStyle
from failbench.studies.lead_time.results import ALARM, POSSIBLE

WIDTH, HEIGHT = 7.0, 2.9
"""In inches: the width is that of two columns."""

FONT: Final = 6.5
SHIFT: Final = 0.10
"""Steps are drawn at equal distances; methods stand this far from one another, in places."""

BESIDE: Final = {
    ALARM: MethodStyle("any alarm, whatever the diagnosis", GREY, "-", "d"),
    POSSIBLE: MethodStyle("fault switched on", BLACK, ":", ""),
}
PANELS: Final = (
    ("accuracy", "all runs", "accuracy"),
    ("accuracy_past_onset", "snapshots past onset", "accuracy"),
    ("diagnosed_ahead", "diagnosed for good, after an alarm", "share of all runs"),
)


def draw_lead_time(points: pl.DataFrame, reported: tuple[float, float]) -> Figure:
    """Three panels over steps before the failure: all runs, those past onset, diagnoses for good.

    Parameters
    ----------
    points
        As :class:`failbench.studies.lead_time.results.LeadTime` holds its rates; every method is
        one of ``METHOD_STYLES``.
    reported
        Steps before failure and accuracy of the paper's last snapshot.
    """
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
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
        axes.set_ylabel(quantity, fontsize=FONT)
    # last, as the panels share the axis and setting it ends its scaling
    panels[0].set_ylim(bottom=0.0)
    _legend(figure, panels)
    return figure


def _styles(drawn: pl.DataFrame) -> list[tuple[str, MethodStyle]]:
    names = set(drawn["method"])
    return [(name, style) for name, style in (METHOD_STYLES | BESIDE).items() if name in names]


def _beside_accuracy(
    axes: Axes, points: pl.DataFrame, places: dict[int, int], reported: tuple[float, float]
) -> None:
    """The best that any method reaches on healthy twins, and the paper's last snapshot."""
    best = points.filter(pl.col("metric") == "twin_accuracy")
    twins = best.group_by("steps").agg(pl.col("value").max()).sort("steps")
    axes.plot(
        [places[step] for step in twins["steps"]],
        twins["value"].to_numpy(),
        color=BLACK,
        linewidth=0.8,
        linestyle=(0, (1, 1)),
        label="healthy twins, best method",
    )
    axes.plot(
        places[int(reported[0])],
        reported[1],
        linestyle="none",
        marker="x",
        markersize=5,
        color=METHOD_STYLES["improved_rules"].colour,
        label="improved rules, reported",
    )


def _line(
    axes: Axes, rates: pl.DataFrame, places: dict[int, int], style: MethodStyle, shift: float
) -> None:
    value, low, high = (rates[name].to_numpy() for name in ("value", "ci_low", "ci_high"))
    axes.errorbar(
        np.array([places[step] for step in rates["steps"]]) + shift,
        value,
        yerr=None if not style.marker else (value - low, high - value),
        color=style.colour,
        linestyle=style.line,
        marker=style.marker or None,
        markersize=3.0,
        linewidth=0.9,
        elinewidth=0.5,
        label=style.label,
    )


def _sizes(drawn: pl.DataFrame, steps: list[int]) -> list[int]:
    return [max(drawn.filter(pl.col("steps") == step)["n"].to_list()) for step in steps]


def _dress(axes: Axes, steps: list[int], title: str, sizes: list[int]) -> None:
    names = [f"{step}\n{size}" for step, size in zip(steps, sizes, strict=True)]
    axes.set_xticks(range(len(steps)), names, fontsize=FONT)
    axes.set_xlabel("steps before failure; n scenarios", fontsize=FONT)
    axes.set_title(title, fontsize=FONT + 0.5)
    axes.tick_params(axis="y", labelsize=FONT, labelleft=True)


def _legend(figure: Figure, panels: np.ndarray) -> None:
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles=list(handles.values()),
        labels=list(handles),
        loc="outside lower center",
        ncols=4,
        fontsize=FONT,
        handlelength=3.0,
    )
