"""Figure of the controls: balanced accuracy beside chance and the limit, and the planted leak."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from failbench.reporting.cells import counted, percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLUE, FULL_WIDTH, MARK, VERMILLION, Mark
from failbench.statistics.bootstrap import Interval
from failbench.studies.controls.results import ControlResult, ControlSettings
from failbench.studies.controls.settings import CHANCE
from failbench.studies.controls.tables import (
    CONTROL_LABELS,
    FOUND,
    PLANTED_LEAK,
    RAW_TWINS_LABEL,
    leak_verdict,
    twins_verdict,
)

RAW_TWINS: Final = "raw_twins"
ROW_HEIGHT: Final = 0.2
"""Inches per control."""

KEPT_FROM, LEAK = "must stay at chance", "must be found: a leak planted by us"
MARKS: Final = {
    "control": Mark(KEPT_FROM, BLUE, "o"),
    "leak": Mark(LEAK, VERMILLION, "s"),
}
LIMITS: Final[dict[LineStyleType, str]] = {"-": "chance", ":": "limit of the interval of a control"}
ROOM: Final = 1.62
"""Width of the axis over its last value: the verdicts stand beyond."""

POINTS: Final = pl.Schema(
    {
        "row": pl.String,
        "mark": pl.String,
        "value": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "n": pl.Int64,
        "verdict": pl.String,
    }
)


def controls_points(
    results: Mapping[str, ControlResult], twins: Interval, settings: ControlSettings
) -> pl.DataFrame:
    """What the figure draws: a row per control, the planted leak last."""
    rows: list[tuple[object, ...]] = [
        (name, "control", each.value, each.ci_low, each.ci_high, each.n, str(each.verdict))
        for name, each in results.items()
        if name != PLANTED_LEAK
    ]
    verdict = twins_verdict(twins, settings)
    rows.append((RAW_TWINS, "control", twins.value, twins.ci_low, twins.ci_high, twins.n, verdict))
    if PLANTED_LEAK in results:
        leak = results[PLANTED_LEAK]
        found = leak_verdict(leak)
        rows.append((PLANTED_LEAK, "leak", leak.value, leak.ci_low, leak.ci_high, leak.n, found))
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def controls_picture(points: pl.DataFrame, limit: float) -> Picture:
    """A dot plot with a row per control and its verdict."""
    return Picture(
        _finding(points),
        "A row per control with the balanced accuracy of a classifier that reads what must not "
        "tell the category, its interval and the verdict. One vertical line marks chance, another "
        "the limit at which the interval of a control must end. The last row is a leak that was "
        "planted, which the test must find.",
        FULL_WIDTH,
        0.75 + ROW_HEIGHT * points.height,
        partial(_draw, points, limit),
    )


def _finding(points: pl.DataFrame) -> str:
    controls = points.filter(pl.col("mark") == "control")
    passed = controls.filter(pl.col("verdict").str.starts_with("pass")).height
    stayed = f"{passed} of {counted(controls.height, 'control')} pass at chance"
    leaks = points.filter(pl.col("mark") == "leak")
    if leaks.is_empty():
        return stayed
    value, verdict = leaks["value"][0], leaks["verdict"][0]
    found = "is found" if verdict == FOUND else "is not found"
    return f"{stayed}, and the planted leak {found} at {percent(value)} %"


def _draw(points: pl.DataFrame, limit: float, figure: Figure) -> None:
    axes = figure.subplots()
    labels = {name: label for name, (label, _) in CONTROL_LABELS.items()}
    labels[RAW_TWINS] = RAW_TWINS_LABEL
    rows = {name: f"{labels[name]} (n = {n})" for name, n in points.select("row", "n").iter_rows()}
    leaks = points.filter(pl.col("mark") == "leak")["row"].to_list()
    dot_plot(axes, points, rows, MARKS, spread=0.0, heavy_above=leaks)
    for place, line in zip((CHANCE, limit), LIMITS, strict=True):
        axes.axvline(100 * place, color=MARK, linestyle=line, linewidth=0.7, zorder=0)
    _write_verdicts(axes, points)
    axes.set_xlabel("balanced accuracy in percent, with interval")
    handles = [
        *(mark.handle for mark in MARKS.values()),
        *(
            Line2D([], [], color=MARK, linestyle=line, linewidth=0.7, label=label)
            for line, label in LIMITS.items()
        ),
    ]
    legend_outside(figure, handles, columns=2)


def _write_verdicts(axes: Axes, points: pl.DataFrame) -> None:
    """The verdict of each row, right of everything that is drawn."""
    last = 100 * max(points["ci_high"].to_list())
    axes.set_xlim(0.0, ROOM * last)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0.0 <= tick <= last])
    for position, verdict in enumerate(points["verdict"]):
        axes.text(1.06 * last, position, verdict, verticalalignment="center_baseline")
