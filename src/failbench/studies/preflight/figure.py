"""The figure: how many crashes are foreseen, at which look, by when they come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.preflighted.answers import LOOKS
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLUE, HALF_WIDTH, ORANGE, VERMILLION, Mark
from failbench.studies.preflight.tables import LOOK_LABELS, Group

HEIGHT: Final = 2.3
"""Inches."""

ROWS: Final = {
    "all": "all crashes",
    "in the first step": "in the first step",
    "in the step of a later onset": "in the step of\na later onset",
    "later than their onset": "later than\ntheir onset",
}
"""Groups that are drawn, by when a run crashes."""

MARKS: Final = {
    "start": Mark(LOOK_LABELS["start"].lower(), BLUE, "s"),
    "onset": Mark(LOOK_LABELS["onset"].lower(), ORANGE, "^"),
    "failure": Mark(LOOK_LABELS["failure"].lower(), VERMILLION, "o"),
}

POINTS: Final = pl.Schema(
    {
        "row": pl.String(),
        "mark": pl.String(),
        "value": pl.Float64(),
        "ci_low": pl.Float64(),
        "ci_high": pl.Float64(),
    }
)


def preflight_picture(groups: Sequence[Group]) -> Picture:
    """Shares of crashes that are foreseen, a row for each time of the crash."""
    start, failure = (groups[0].shares["foreseen", look] for look in ("start", "failure"))
    assert start is not None
    assert failure is not None
    return Picture(
        f"Of {start.n} crashes a preflight foresees {start.count} before the first step and "
        f"{failure.count} before the step that crashes; its checks were made with these in view",
        "A row for all runs that crash and one for each time at which they do, with the percent of "
        "crashes that are foreseen before the first step, before that of the onset and before that "
        "of the crash, and Wilson's intervals.",
        HALF_WIDTH,
        HEIGHT,
        partial(_draw, _points(groups)),
    )


def _points(groups: Sequence[Group]) -> pl.DataFrame:
    rows = [
        (group.name, look, share.value, share.ci_low, share.ci_high)
        for group in groups
        for look in LOOKS
        if group.name in ROWS and (share := group.shares["foreseen", look]) is not None
    ]
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def _draw(points: pl.DataFrame, figure: Figure) -> None:
    axes = figure.subplots()
    dot_plot(axes, points, ROWS, MARKS, heavy_above=("in the first step",))
    axes.set_xlim(-3, 103)
    axes.set_xlabel("crashes foreseen, percent")
    legend_outside(figure, [mark.handle for mark in MARKS.values()], columns=2)
