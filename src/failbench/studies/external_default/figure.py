"""The figure: how the printed accuracy falls, protocol by protocol."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.external.tables import DETECTION
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import (
    BLACK,
    BLUE,
    FULL_WIDTH,
    GREY,
    ORANGE,
    THICK,
    VERMILLION,
    Mark,
)
from failbench.studies.external_default.results import ACCURACY, MAJORITY, NO_COLUMNS, cell
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    CATEGORY,
    CLUSTERS,
    GROUPINGS,
    HOST_COLUMNS,
    PRINTED,
    SHUFFLED,
    THEIR_FOREST,
    TRAINING_COLUMNS,
    WITH_CRASHED,
    ExternalDefaultSettings,
    grouped_by,
)

ROW_HEIGHT: Final = 0.4
"""Inches per protocol."""

MARKS: Final = {
    ALL_COLUMNS: Mark("all columns", VERMILLION, "o"),
    TRAINING_COLUMNS: Mark("without the host's", BLUE, "s"),
    HOST_COLUMNS: Mark("only the host's", ORANGE, "^"),
}
PRINTED_MARK: Final = Mark("printed by the authors", BLACK, "|", size=9.0)

ROW_LABELS: Final = {
    PRINTED: "authors' protocol",
    WITH_CRASHED: "shuffled folds, fitted\nto training rows",
    SHUFFLED: "the same, without\ncrashed runs",
}
GROUPED_LABELS: Final = {
    BLOCKS: "grouped by blocks\nof the file",
    CLUSTERS: "grouped by clusters\nof hosts",
}
PANELS: Final = {DETECTION: "faulty or correct", CATEGORY: "which of seven categories"}


def external_default_picture(
    table: pl.DataFrame, printed: dict[str, float], settings: ExternalDefaultSettings
) -> Picture:
    """Accuracy by protocol and columns, a panel for each of the two tasks."""
    grouped = {grouped_by(way, settings.groups): GROUPED_LABELS[way] for way in GROUPINGS}
    rows = {**ROW_LABELS, **grouped}
    return Picture(
        _title(table, printed, settings),
        "Two panels: accuracies of the authors' forest with intervals, for telling faulty runs "
        "from correct ones and for naming one of seven fault categories. A row is a protocol, from "
        "the authors' own to folds that keep groups of runs together; the marks of a row are all "
        "columns, those without the host's and the host's alone. A vertical tick is what the "
        "authors print, of categories by a classifier for each, a grey line what naming the "
        "majority reaches.",
        FULL_WIDTH,
        0.75 + ROW_HEIGHT * len(rows),
        partial(_draw, table, rows, printed),
    )


def _title(
    table: pl.DataFrame, printed: dict[str, float], settings: ExternalDefaultSettings
) -> str:
    def right(protocol: str, columns: str) -> str:
        key = {"protocol": protocol, "columns": columns, "method": THEIR_FOREST}
        return percent(cell(table, task=DETECTION, metric=ACCURACY, **key)["value"])

    left = [right(grouped_by(way, settings.groups), ALL_COLUMNS) for way in GROUPINGS]
    return (
        f"DEFault prints {percent(printed[DETECTION])} %: the host's load alone gives "
        f"{right(PRINTED, HOST_COLUMNS)} %, and where groups of runs stay together all columns "
        f"give {' or '.join(left)} %"
    )


def _draw(
    table: pl.DataFrame, rows: dict[str, str], printed: dict[str, float], figure: Figure
) -> None:
    panels = list(figure.subplots(1, len(PANELS), sharex=True, sharey=True))
    points = table.filter(pl.col("metric") == ACCURACY, pl.col("method") == THEIR_FOREST)
    for axes, (task, title) in zip(panels, PANELS.items(), strict=True):
        drawn = points.filter(pl.col("task") == task).rename({"protocol": "row", "columns": "mark"})
        dot_plot(axes, drawn, rows, MARKS, spread=0.5)
        axes.plot(100 * printed[task], 0, **PRINTED_MARK.look)
        _majority(axes, table, task)
        axes.set_title(title)
    panels[0].set_xlim(0, 102)
    figure.supxlabel("accuracy, percent of runs, with interval by resampling groups")
    majority = Line2D([], [], color=GREY, linewidth=THICK, label="majority label")
    handles = [*(mark.handle for mark in MARKS.values()), PRINTED_MARK.handle, majority]
    legend_outside(figure, handles, columns=5, columnspacing=1.0, handletextpad=0.3)


def _majority(axes: Axes, table: pl.DataFrame, task: str) -> None:
    key = {"columns": NO_COLUMNS, "method": MAJORITY, "metric": ACCURACY}
    value = cell(table, task=task, protocol=SHUFFLED, **key)["value"]
    axes.axvline(100 * value, color=GREY, linewidth=THICK, zorder=0)
