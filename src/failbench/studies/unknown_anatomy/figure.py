"""The figure of the unknown scenarios: what a forest makes of each, with more to go by or less."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from failbench.reporting.cells import words
from failbench.reporting.style import BLACK, CATEGORY_COLOURS
from failbench.studies.unknown_anatomy.feature_sets import BASE
from failbench.vocabulary import CATEGORIES, Category

WIDTH = 3.4
"""Inches: that of one column, so that no letter shrinks below its size."""

FONT = 6.0
ROW_HEIGHT = 0.37
"""Inches per scenario."""

SHOWN: Final = (BASE, "19+both")
"""Feature sets whose bars stand one above the other."""

BAR = 0.36
"""Height of a bar, in rows."""


def draw_unknown_anatomy(points: pl.DataFrame) -> Figure:
    """Mean probabilities of the categories, two bars per scenario: without and with measurements.

    Parameters
    ----------
    points
        As :func:`failbench.studies.unknown_anatomy.results.anatomy_points` returns them.
    """
    scenarios = points.select("ambiguity", "scenario").unique().sort("ambiguity", "scenario")
    figure = Figure(figsize=(WIDTH, 1.1 + ROW_HEIGHT * scenarios.height), layout="constrained")
    axes = figure.subplots()
    labels, ticks, top = [], [], 0.0
    for (ambiguity,), group in scenarios.group_by("ambiguity", maintain_order=True):
        axes.text(0.0, top - 0.62, words(str(ambiguity)), fontsize=FONT, style="italic")
        for scenario in group["scenario"]:
            for place, name in zip((-0.5, 0.5), SHOWN, strict=True):
                _draw_bar(
                    axes, points.filter(scenario=scenario, feature_set=name), top + place * BAR
                )
            labels.append(_wrapped(scenario))
            ticks.append(top)
            top += 1
        top += 0.5
    axes.set_yticks(ticks, labels, fontsize=FONT)
    axes.set_ylim(top - 0.9, -1.05)
    axes.set_xlim(0, 1.0)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlabel(
        "mean probability by a forest; above: 19 features,\n"
        "below: with step times and ending; at the end: share of\n"
        f"repeats that say unknown (n = {scenarios.height} scenarios)",
        fontsize=FONT,
    )
    axes.spines["left"].set_visible(False)
    figure.legend(
        handles=[Patch(**_look(category), label=words(category)) for category in CATEGORIES],
        loc="outside upper center",
        ncols=3,
        fontsize=FONT,
        handlelength=1.0,
        columnspacing=1.0,
    )
    return figure


def _draw_bar(axes: Axes, points: pl.DataFrame, place: float) -> None:
    row = points.row(0, named=True)
    shares = np.array([row[f"p_{category}"] for category in CATEGORIES])
    starts = np.concatenate([[0.0], shares.cumsum()[:-1]])
    for category, start, share in zip(CATEGORIES, starts, shares, strict=True):
        axes.barh(
            place,
            share,
            height=BAR * 0.94,
            left=start,
            **_look(category),
        )
    axes.text(
        1.01, place, f"{row['right']:.1f}", fontsize=FONT, va="center", color=BLACK, clip_on=False
    )


def _look(category: Category) -> dict[str, Any]:
    """How a category is filled; what is right is hatched, for eyes and printers without colours."""
    return {
        "facecolor": CATEGORY_COLOURS[category],
        "edgecolor": "white",
        "linewidth": 0.4,
        "hatch": "////" if category == "unknown" else None,
    }


def _wrapped(scenario: str) -> str:
    """A name on two lines where it has three words or more."""
    parts = scenario.split("_")
    half = (len(parts) + 1) // 2
    return "\n".join(" ".join(part) for part in (parts[:half], parts[half:]) if part)
