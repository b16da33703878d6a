"""The figure of the monitor: accuracy by what is logged, by component, and by setting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, GREY, VERMILLION, Mark
from failbench.studies.monitor.results import ALL_SETTINGS, LOGIC
from failbench.studies.monitor.rungs import LADDER
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.3
"""Inches."""

SETTING_ROWS: Final = 1.3
"""How much higher than others the rows of settings are, which have a mark more."""

WHOLE: Final = "whole"
BORROWED: Final = "borrowed"
BOTH: Final = (WHOLE, WHOLE)
"""Part and name of the rate over all scenarios."""


def monitor_picture(
    rates: pl.DataFrame,
    versions: Sequence[str],
    setting: str,
    lenders: Sequence[str],
    halves: str,
) -> Picture:
    """Accuracy of a version by rung and by component, and by setting where there are several.

    Parameters
    ----------
    rates
        As :func:`failbench.studies.monitor.results.rate_table` returns them.
    versions
        The last is drawn; the finding names the first too, which met none of the runs before.
    setting
        Which is drawn beside all of them.
    lenders
        Settings whose bounds the runs of others were held against.
    halves
        Which scenarios, in words.
    """
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
    marks = {WHOLE: "own bounds", **{name: f"bounds of {name}" for name in lenders}}
    marks[LOGIC] = "logic alone"
    return Picture(
        _finding(of_all, versions, setting, halves),
        "A row for each rung of what is logged, from the ending alone to probes, and below one for "
        "the scenarios of each component: accuracy of the monitor with its interval, in the "
        "reference setting and over all of them. Where there are several settings, a second panel "
        "has a row for each: with bounds of its own, of another setting, and with none.",
        FULL_WIDTH,
        1.1 + ROW_HEIGHT * (len(rows) + SETTING_ROWS * len(_settings(by_setting, setting))),
        partial(_draw, drawn, rows, setting, by_setting, marks),
    )


def _settings(by_setting: pl.DataFrame, reference: str) -> dict[str, str]:
    """Rows of settings, the reference first."""
    return {name: name for name in (reference, *sorted(set(by_setting["row"]) - {reference}))}


def _finding(accuracy: pl.DataFrame, versions: Sequence[str], setting: str, halves: str) -> str:
    def value(version: str, part: str, name: str) -> str:
        rates = accuracy.filter(version=version, setting=setting, part=part, name=name)
        return percent(rates["value"][0])

    first, last = versions[0], versions[-1]
    n = accuracy.filter(setting=setting, part=WHOLE)["n"][0]
    later = (
        f"; version {last}, made with failing runs in view and drawn here, {value(last, *BOTH)} %"
        if last != first
        else ""
    )
    return (
        f"The first rules of the monitor, frozen before any run was scored, name the component of "
        f"{value(first, *BOTH)} % of the causes{later}; the ending alone "
        f"{value(last, 'rung', LADDER[0].name)} % ({setting}, {n} scenarios, {halves})"
    )


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
