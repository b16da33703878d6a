"""The figure of the monitor: accuracy by what is logged, and by component."""

from __future__ import annotations

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


def monitor_picture(rates: pl.DataFrame, version: str, setting: str, halves: str) -> Picture:
    """Accuracy of a version by rung and by component.

    Parameters
    ----------
    rates
        As :func:`failbench.studies.monitor.results.rate_table` returns them.
    version
        Which is drawn.
    setting
        Which is drawn beside all of them.
    halves
        Which scenarios, in words.
    """
    accuracy = rates.filter(
        pl.col("setting").is_in([ALL_SETTINGS, setting]), version=version, metric="accuracy"
    ).with_columns(row=pl.col("name"), mark=pl.col("setting"))
    rungs = {rung.name: rung.label for rung in LADDER}
    rows = rungs | {category: CATEGORY_LABELS[category] for category in CATEGORIES}
    drawn = accuracy.filter(pl.col("part").is_in(["rung", "component"]))
    rows = {row: label for row, label in rows.items() if row in set(drawn["row"])}
    return Picture(
        _finding(accuracy, setting, halves),
        "A row for each rung of what is logged, from the ending alone to probes, and below one for "
        "the scenarios of each component: accuracy of the monitor with its interval, in the "
        "reference setting and over all of them.",
        FULL_WIDTH,
        0.85 + ROW_HEIGHT * len(rows),
        partial(_draw, drawn, rows, setting),
    )


def _finding(accuracy: pl.DataFrame, setting: str, halves: str) -> str:
    def value(part: str, name: str) -> str:
        return percent(accuracy.filter(setting=setting, part=part, name=name)["value"][0])

    n = accuracy.filter(setting=setting, part=WHOLE)["n"][0]
    return (
        f"The monitor names the component of {value(WHOLE, WHOLE)} % of the causes, against "
        f"{value('rung', LADDER[0].name)} % by the ending alone ({setting}, {n} scenarios, "
        f"{halves})"
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
