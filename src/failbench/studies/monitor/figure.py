"""The figure of the monitor: accuracy by what is logged, and by component."""

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
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, Mark
from failbench.studies.monitor.results import ALL_SETTINGS
from failbench.studies.monitor.rungs import LADDER
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.3
"""Inches."""

WHOLE: Final = "whole"
BOTH: Final = (WHOLE, WHOLE)
"""Part and name of the rate over all scenarios."""


def monitor_picture(
    rates: pl.DataFrame, versions: Sequence[str], setting: str, halves: str
) -> Picture:
    """Accuracy of a version by rung and by component.

    Parameters
    ----------
    rates
        As :func:`failbench.studies.monitor.results.rate_table` returns them.
    versions
        The last is drawn; the finding names the first too, which met none of the runs before.
    setting
        Which is drawn beside all of them.
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
    return Picture(
        _finding(of_all, versions, setting, halves),
        "A row for each rung of what is logged, from the ending alone to probes, and below one for "
        "the scenarios of each component: accuracy of the monitor with its interval, in the "
        "reference setting and over all of them.",
        FULL_WIDTH,
        0.85 + ROW_HEIGHT * len(rows),
        partial(_draw, drawn, rows, setting),
    )


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


def _draw(drawn: pl.DataFrame, rows: dict[str, str], setting: str, figure: Figure) -> None:
    marks = {
        setting: Mark(setting, BLUE, "o"),
        ALL_SETTINGS: Mark("all settings", BLACK, "D", "none"),
    }
    axes = figure.subplots()
    first = next((row for row in rows if row in CATEGORIES), None)
    dot_plot(axes, drawn, rows, marks, heavy_above=first)
    axes.set_xlim(0, 102)
    axes.set_xlabel("accuracy in percent, abstentions wrong")
    legend_outside(figure, [mark.handle for mark in marks.values()], columns=2)
