"""The figure of the human baseline: what simulated studies find, and what people are right on."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.style import BLACK, BLUE, GREY, ORANGE, VERMILLION
from failbench.studies.human_baseline.tables import DESIGN_LABELS

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

HEIGHT = 2.7
FONT = 6.5
COLOURS: Final = (BLACK, ORANGE, BLUE, VERMILLION)
MARKERS: Final = ("o", "s", "D", "^")
"""Of couplings in their order; markers differ, for eyes and printers without colours."""

ROW_SHARE = 0.5
"""Share of a row that the marks of its couplings take."""

LINES: Final = ("-", "--", ":", "-.")
"""Of skill levels in their order."""


def draw_human_baseline(
    studies: pl.DataFrame, curves: pl.DataFrame, reported: tuple[float, float]
) -> Figure:
    """On the left what studies find, on the right how often people tell a scenario.

    Parameters
    ----------
    studies
        As :func:`failbench.studies.human_baseline.tables.study_points` returns them.
    curves
        ``curves`` of :class:`failbench.studies.human_baseline.results.HumanBaseline`.
    reported
        The accuracy that the paper prints, and what it prints behind a plus-minus sign.
    """
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_studies(left, studies, reported)
    _draw_curves(right, curves)
    for axes in (left, right):
        axes.tick_params(labelsize=FONT)
        axes.xaxis.label.set_fontsize(FONT)
        axes.yaxis.label.set_fontsize(FONT)
    return figure


def _draw_studies(axes: Axes, studies: pl.DataFrame, reported: tuple[float, float]) -> None:
    couplings = studies["coupling"].unique().sort().to_list()
    offsets = (
        np.linspace(-ROW_SHARE / 2, ROW_SHARE / 2, len(couplings)) if len(couplings) > 1 else [0.0]
    )
    designs = [design for design in DESIGN_LABELS if design in set(studies["design"])]
    mean, deviation = reported
    axes.axvspan(mean - deviation, mean + deviation, color=GREY, alpha=0.25, linewidth=0)
    axes.axvline(mean, color=GREY, linewidth=0.8)
    axes.text(mean, -0.72, f"the paper: {mean:.2f} ± {deviation:.2f}", fontsize=FONT, ha="center")
    for number, (coupling, offset) in enumerate(zip(couplings, offsets, strict=True)):
        rows = {row["design"]: row for row in studies.filter(coupling=coupling).to_dicts()}
        for position, design in enumerate(designs):
            row, at = rows[design], position + offset
            colour, centre = COLOURS[number % len(COLOURS)], row["accuracy"]
            axes.plot([row["low"], row["high"]], [at, at], color=colour, linewidth=0.7)
            reach = row["deviation"]
            axes.plot([centre - reach, centre + reach], [at, at], color=colour, linewidth=2.2)
            axes.plot(
                centre,
                at,
                MARKERS[number % len(MARKERS)],
                color=colour,
                markersize=3.4,
                markeredgecolor="white",
                markeredgewidth=0.4,
                label=f"difficulty felt: {coupling:g}" if position == 0 else None,
            )
    sizes = {row["design"]: row["n"] for row in studies.to_dicts()}
    axes.set_yticks(
        range(len(designs)),
        [f"{DESIGN_LABELS[design]}\n(n = {sizes[design]})" for design in designs],
    )
    axes.set_ylim(len(designs) - 0.4, -1.0)
    axes.set_xticks(np.linspace(0.4, 1, 7))
    axes.set_xlim(0.35, 1.0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("accuracy of a simulated study: mean, ± sd (thick), central 95 % (thin)")
    axes.legend(loc="lower left", fontsize=FONT, handletextpad=0.2, borderaxespad=0.1)


def _draw_curves(axes: Axes, curves: pl.DataFrame) -> None:
    couplings = curves["coupling"].unique().sort().to_list()
    strongest = couplings[-1]
    colour = COLOURS[(len(couplings) - 1) % len(COLOURS)]
    levels = curves["level"].unique(maintain_order=True).to_list()
    for number, level in enumerate(levels):
        of_level = curves.filter(level=level)
        felt = of_level.filter(coupling=strongest).sort("ease")
        axes.plot(felt["ease"], felt["right"], LINES[number % len(LINES)], color=colour)
        last = felt.row(by_predicate=pl.col("scenario") == _middle(felt), named=True)
        axes.annotate(
            level,
            (last["ease"], last["right"]),
            xytext=(3, -6),
            textcoords="offset points",
            fontsize=FONT,
            color=colour,
        )
        axes.axhline(
            float(of_level["right"].to_numpy().mean()),
            color=BLACK,
            linewidth=0.5,
            linestyle=LINES[number % len(LINES)],
        )
    scenarios = curves.filter(coupling=strongest, level=levels[0])
    axes.plot(scenarios["ease"], np.full(scenarios.height, -0.03), "|", color=BLACK, markersize=4)
    axes.set_xticks(np.linspace(0, 1, 6))
    axes.set_yticks(np.linspace(0, 1, 6))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.06, 1.02)
    axes.set_xlabel(f"share of methods that tell the scenario (n = {scenarios.height})")
    axes.set_ylabel(
        f"probability that a person is right\n(difficulty felt: {strongest:g}; black: 0)"
    )


def _middle(felt: pl.DataFrame) -> str:
    return str(felt["scenario"][felt.height // 2])
