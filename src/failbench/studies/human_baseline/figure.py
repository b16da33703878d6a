"""The figure of the human baseline: what simulated studies find, and what people are right on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from failbench.reporting.cells import percent, words
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, FULL_WIDTH, GREY, THICK
from failbench.studies.human_baseline.tables import DESIGN_LABELS, READINGS

HEIGHT: Final = 2.2
"""Inches."""

PERSON: Final = METHOD_STYLES["simulated_human"]

LEFT: Final = 35.0
"""Left end of the axis of accuracies, in percent."""

UNFELT: Final[Mapping[str, Any]] = {"color": BLACK, "linewidth": 0.6, "linestyle": ":"}
"""Line of people to whom all scenarios are alike."""


def human_baseline_picture(
    studies: pl.DataFrame, curves: pl.DataFrame, reported: tuple[float, float]
) -> Picture:
    """On the left what studies find, on the right how often people tell a scenario."""
    return Picture(
        _finding(studies, reported),
        "A simulation from the skills that the original assumes; nobody was asked. On the left, a "
        "row per design of a study: its mean accuracy, the spread between studies and the central "
        "95 %, over the band that the original reports. On the right, the assumed probability that "
        "a person of each skill is right, over the share of methods that tell the scenario; dots "
        "are the scenarios, dotted lines people who find all alike.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, studies, curves, reported),
    )


def _finding(studies: pl.DataFrame, reported: tuple[float, float]) -> str:
    """The design whose spread is nearest to the reported one, where no difficulty is felt."""
    mean, deviation = reported
    alike = studies.filter(pl.col("coupling") == pl.col("coupling").min())
    nearest = alike.sort((pl.col("deviation") - deviation).abs(), "design").row(0, named=True)
    return (
        f"Simulated, from assumed skills: {percent(alike['accuracy'].to_numpy().mean())} % right "
        f"on the mean (reported: {percent(mean)} %); the reported spread of {100 * deviation:g} "
        f"points is nearest to that between {READINGS[nearest['design']].format(n=nearest['n'])} "
        f"({percent(nearest['deviation'])} points)"
    )


def _draw(
    studies: pl.DataFrame,
    curves: pl.DataFrame,
    reported: tuple[float, float],
    figure: Figure,
) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_studies(left, studies.filter(pl.col("coupling") == pl.col("coupling").min()), reported)
    _draw_skills(right, curves)
    printed = " ± ".join(f"{100 * number:.0f}" for number in reported)
    weakest, *_, strongest = curves["coupling"].unique().sort().to_list()
    handles = [
        replace(PERSON, label="simulated people").handle,
        Patch(color=GREY, alpha=0.3, linewidth=0, label=f"reported: {printed} %"),
        Line2D([], [], color=PERSON.colour, label=f"difficulty felt: {strongest:g}"),
        Line2D([], [], **UNFELT, label=f"difficulty felt: {weakest:g}"),
    ]
    legend_outside(figure, handles, columns=4)


def _draw_studies(axes: Axes, studies: pl.DataFrame, reported: tuple[float, float]) -> None:
    rows = {row["design"]: row for row in studies.to_dicts()}
    designs = [design for design in DESIGN_LABELS if design in rows]
    mean, deviation = (100 * number for number in reported)
    axes.axvspan(mean - deviation, mean + deviation, color=GREY, alpha=0.3, linewidth=0)
    axes.axvline(mean, color=BLACK, linewidth=0.8)
    for at, design in enumerate(designs):
        row = rows[design]
        centre, reach = 100 * row["accuracy"], 100 * row["deviation"]
        axes.plot([100 * row["low"], 100 * row["high"]], [at, at], color=PERSON.colour)
        axes.plot([centre - reach, centre + reach], [at, at], color=PERSON.colour, linewidth=3)
        axes.plot(centre, at, **{**PERSON.look, "markersize": 6})
        axes.annotate(
            f"± {100 * row['deviation']:.1f}",
            (LEFT, at),
            xytext=(2, 3),
            textcoords="offset points",
        )
    axes.set_yticks(
        range(len(designs)),
        [f"{DESIGN_LABELS[design]}\n(n = {rows[design]['n']})" for design in designs],
    )
    axes.set_ylim(len(designs) - 0.6, -0.7)
    axes.set_xlim(LEFT, 100)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("accuracy of a simulated study, percent:\nmean, ± sd (thick), 95 % (thin)")
    axes.set_title("simulated studies")


def _draw_skills(axes: Axes, curves: pl.DataFrame) -> None:
    """A line per skill, named where it begins, where difficulty is felt most; dotted where not."""
    strongest = curves["coupling"].max()
    levels = curves["level"].unique(maintain_order=True).to_list()
    for level in levels:
        of_level = curves.filter(level=level)
        felt = of_level.filter(coupling=strongest).sort("ease", "scenario")
        ease, right = (100 * felt[name].to_numpy() for name in ("ease", "right"))
        axes.plot(ease, right, color=PERSON.colour, linewidth=THICK)
        axes.plot(ease, right, ".", color=PERSON.colour, markersize=2.5)
        flat = 100 * float(of_level["right"].to_numpy().mean())
        axes.axhline(flat, **UNFELT)
        axes.text(102, flat, words(level), va="center")
    axes.set_xticks(np.linspace(0, 100, 5))
    axes.set_yticks(np.linspace(0, 100, 5))
    axes.set_xlim(-2, 101)
    axes.set_ylim(0, 101)
    n = curves.filter(coupling=strongest, level=levels[0]).height
    axes.set_xlabel(f"percent of methods that\ntell the scenario (n = {n})")
    axes.set_ylabel("simulated person right, percent")
    axes.set_title("assumed skills")
