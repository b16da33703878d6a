"""The figure of the unknown scenarios: what a forest makes of each, with more to go by or less."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from failbench.reporting.cells import words
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import CATEGORY_COLOURS, FULL_WIDTH
from failbench.studies.unknown_anatomy.feature_sets import BASE
from failbench.vocabulary import CATEGORIES, Category

ROW_HEIGHT: Final = 0.3
"""Inches per scenario."""

SHOWN: Final = {BASE: "19 features", "19+both": "with step times and ending"}
"""Feature sets that have a panel each, with its title."""

BAR: Final = 0.62
"""Height of a bar, in rows."""

MOST: Final = 0.5
"""A scenario is called unknown where more of its answers than this share say so."""


def unknown_anatomy_picture(points: pl.DataFrame) -> Picture:
    """Mean probabilities of the categories, a bar per scenario: without and with measurements."""
    scenarios = points.select("ambiguity", "scenario").unique().sort("ambiguity", "scenario")
    groups = scenarios["ambiguity"].n_unique()
    called = {
        name: points.filter(pl.col("feature_set") == name, pl.col("right") > MOST).height
        for name in SHOWN
    }
    base, more = called.values()
    return Picture(
        f"A forest calls {base} of the {scenarios.height} unknown scenarios unknown in most "
        f"answers, and {more} when it also sees step times and how the run ended",
        "Two panels of stacked bars, a row per unknown scenario: the mean probability that a "
        "random forest gives each category, from 19 features, and from more measurements. The "
        "share of unknown, which is right, is hatched. At the end of each bar stands the percent "
        "of answers that say unknown.",
        FULL_WIDTH,
        0.75 + ROW_HEIGHT * (scenarios.height + 0.6 * groups),
        partial(_draw, points, scenarios),
    )


def _draw(points: pl.DataFrame, scenarios: pl.DataFrame, figure: Figure) -> None:
    panels = figure.subplots(1, len(SHOWN), sharex=True, sharey=True)
    for axes, (name, title) in zip(panels, SHOWN.items(), strict=True):
        _draw_panel(axes, points.filter(pl.col("feature_set") == name), scenarios)
        axes.set_title(title)
    panels[0].set_xlim(0, 100)
    figure.supxlabel(
        "mean probability, percent; at the end of a bar, percent of answers that say unknown "
        f"(n = {scenarios.height})"
    )
    handles = [Patch(**_look(category), label=words(category)) for category in CATEGORIES]
    legend_outside(figure, handles, columns=5, handlelength=1.4)


def _draw_panel(axes: Axes, points: pl.DataFrame, scenarios: pl.DataFrame) -> None:
    labels, ticks, top = [], [], 0.0
    for (ambiguity,), group in scenarios.group_by("ambiguity", maintain_order=True):
        axes.text(0.0, top, words(str(ambiguity)), style="italic", va="center")
        top += 0.75
        for scenario in group["scenario"]:
            _draw_bar(axes, points.filter(scenario=scenario), top)
            labels.append(words(scenario))
            ticks.append(top)
            top += 1
    axes.set_yticks(ticks, labels)
    axes.set_ylim(top - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _draw_bar(axes: Axes, points: pl.DataFrame, place: float) -> None:
    row = points.row(0, named=True)
    shares = 100 * np.array([row[f"p_{category}"] for category in CATEGORIES])
    starts = np.concatenate([[0.0], shares.cumsum()[:-1]])
    for category, start, share in zip(CATEGORIES, starts, shares, strict=True):
        axes.barh(place, share, height=BAR, left=start, **_look(category))
    axes.text(101, place, f"{100 * row['right']:.0f}", va="center", clip_on=False)


def _look(category: Category) -> dict[str, Any]:
    """How a category is filled; what is right is hatched, for eyes and printers without colours."""
    return {
        "facecolor": CATEGORY_COLOURS[category],
        "edgecolor": "white",
        "linewidth": 0.4,
        "hatch": "////" if category == "unknown" else None,
    }
