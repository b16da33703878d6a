"""The figure of the monitor: accuracy by what is logged, by category, and by setting."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, GREY, VERMILLION, Mark
from failbench.studies.monitor.finding import title
from failbench.studies.monitor.results import ALL_SETTINGS, LOGIC
from failbench.studies.monitor.rungs import LADDER
from failbench.studies.monitor.shown import Shown
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.3
"""Inches."""

SETTING_ROWS: Final = 1.3
"""How much higher than others the rows of settings are, which have a mark more."""

WHOLE: Final = "whole"
BORROWED: Final = "borrowed"


def monitor_picture(shown: Shown, rates: pl.DataFrame) -> Picture:
    """Accuracy of the last version by rung and category, and by setting if there are several."""
    setting, versions = shown.reference, shown.versions
    of_all = rates.filter(pl.col("setting").is_in([ALL_SETTINGS, setting]), metric="accuracy")
    accuracy = of_all.filter(version=versions[-1]).with_columns(
        row=pl.col("name"), mark=pl.col("setting")
    )
    rungs = {rung.name: rung.label for rung in LADDER}
    rows = rungs | {category: CATEGORY_LABELS[category] for category in CATEGORIES}
    drawn = accuracy.filter(pl.col("part").is_in(["rung", "component"]))
    rows = {row: label for row, label in rows.items() if row in set(drawn["row"])}
    by_setting = rates.filter(
        pl.col("setting") != ALL_SETTINGS,
        pl.col("part").is_in([WHOLE, BORROWED, LOGIC]),
        version=versions[-1],
        metric="accuracy",
    ).with_columns(
        row=pl.col("setting"),
        mark=pl.when(pl.col("part") == BORROWED).then("name").otherwise("part"),
    )
    marks = {WHOLE: "own bounds", **{name: f"bounds of {name}" for name in shown.lenders}}
    marks[LOGIC] = "logic alone"
    return Picture(
        title(shown),
        f"Of the {shown.halves} of the scenarios. A row for each rung of what is logged, from the "
        "ending alone to probes, and below one for the scenarios of each category: accuracy of the "
        "monitor with its interval, in the reference setting and over all of them. Where there are "
        "several settings, a second panel has a row for each: with bounds of its own, of another "
        "setting, and with none.",
        FULL_WIDTH,
        1.1 + ROW_HEIGHT * (len(rows) + SETTING_ROWS * len(_settings(by_setting, setting))),
        partial(_draw, drawn, rows, setting, by_setting, marks),
    )


def _settings(by_setting: pl.DataFrame, reference: str) -> dict[str, str]:
    """Rows of settings, the reference first."""
    return {name: name for name in (reference, *sorted(set(by_setting["row"]) - {reference}))}


def _draw(
    drawn: pl.DataFrame,
    rows: dict[str, str],
    setting: str,
    by_setting: pl.DataFrame,
    bounds: dict[str, str],
    figure: Figure,
) -> None:
    settings = _settings(by_setting, setting)
    several = len(settings) > 1
    heights = (len(rows), SETTING_ROWS * len(settings))[: 1 + several]
    upper, *others = figure.subplots(
        1 + several, 1, squeeze=False, sharex=True, height_ratios=heights
    )[:, 0]
    shown = {setting: Mark(setting, BLUE, "o")}
    if several:
        shown[ALL_SETTINGS] = Mark("all settings", BLACK, "D", "none")
    categories = [row for row in rows if row in CATEGORIES]
    dot_plot(upper, drawn, rows, shown, heavy_above=categories[:1])
    handles = [mark.handle for mark in shown.values()]
    for lower in others:
        looks = zip(bounds.items(), ((BLUE, "o"), (VERMILLION, "s"), (GREY, "v")), strict=False)
        marks = {name: Mark(label, *look) for (name, label), look in looks}
        dot_plot(lower, by_setting, settings, marks)
        handles += [mark.handle for mark in marks.values()]
    upper.set_xlim(0, 102)
    (upper, *others)[-1].set_xlabel("accuracy in percent, abstentions wrong")
    legend_outside(figure, handles, columns=3)
