"""The figure: what predictors reach in each arm, and what information adds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.crashes.question import ARMS
from failbench.reporting.cells import percent, signed
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import (
    BLACK,
    BLUE,
    FULL_WIDTH,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    Mark,
)
from failbench.studies.crash_prediction.comparisons import Contrast
from failbench.studies.crash_prediction.labels import ARM_LABELS, label_of
from failbench.studies.crash_prediction.published import Published
from failbench.studies.crash_prediction.settings import COMBINED, DRY_RUN, LENGTH, RULES
from failbench.studies.crash_prediction.tables import cells_of

HEIGHT: Final = 2.9
"""Inches."""

MARKS: Final = {
    COMBINED: Mark(label_of(COMBINED), VERMILLION, "o"),
    DRY_RUN: Mark(label_of(DRY_RUN), ORANGE, "^"),
    RULES: Mark(label_of(RULES), BLUE, "s"),
    "pyright": Mark(label_of("pyright"), GREEN, "D"),
    "pylint": Mark(label_of("pylint"), PURPLE, "v"),
    LENGTH: Mark(label_of(LENGTH), GREY, "x"),
}
PUBLISHED: Final = Mark("published of CRANE-LLM", BLACK, "|", size=9.0)

GAIN_POINTS: Final = pl.Schema(
    {
        "row": pl.String(),
        "mark": pl.String(),
        "value": pl.Float64(),
        "ci_low": pl.Float64(),
        "ci_high": pl.Float64(),
    }
)


def crash_prediction_picture(
    table: pl.DataFrame, contrasts: Sequence[Contrast], published: Sequence[Published]
) -> Picture:
    """Accuracy by arm, and the gain over code alone."""
    cells = cells_of(table)
    told, alone = (cells[COMBINED, arm, "accuracy"] for arm in ("all", "code"))
    gain = next(
        each
        for each in contrasts
        if (each.predictor, each.metric, each.left, each.right)
        == (COMBINED, "accuracy", "all", "code")
    )
    return Picture(
        f"With what the kernel holds, a dry run and small rules are right on "
        f"{percent(told['value'])} % of notebooks, from code alone {percent(alone['value'])} % "
        f"({signed(100 * gain.difference)} points, {signed(100 * gain.ci_low)} to "
        f"{signed(100 * gain.ci_high)})",
        "Two panels. Left: accuracy of predictors in each arm, from code alone to all facts of the "
        "kernel and, as a control, those of another notebook, with intervals. Right: what each arm "
        "adds to the accuracy of the small rules and of the dry run with them, in points, with "
        "intervals, and as ticks what is published of three language models.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, table, gain_points(contrasts), published),
    )


def gain_points(contrasts: Sequence[Contrast]) -> pl.DataFrame:
    """What arms add to code alone: ``GAIN_POINTS``."""
    rows = [
        (each.left, each.predictor, each.difference, each.ci_low, each.ci_high)
        for each in contrasts
        if each.metric == "accuracy" and each.right == "code"
    ]
    return pl.DataFrame(rows, schema=GAIN_POINTS, orient="row")


def _draw(
    table: pl.DataFrame, gains: pl.DataFrame, published: Sequence[Published], figure: Figure
) -> None:
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    rows: dict[str, str] = {arm: ARM_LABELS[arm] for arm in ARMS}
    points = table.filter(pl.col("metric") == "accuracy").rename(
        {"predictor": "mark", "arm": "row"}
    )
    dot_plot(left, points, rows, MARKS, heavy_above=("other",))
    left.axvline(50, color=GREY, linestyle=":", linewidth=0.8)
    left.set_xlim(28, 102)
    left.set_xlabel("accuracy, percent of notebooks\n(dotted: chance)")
    left.set_title("what they reach")
    dot_plot(right, gains, rows, MARKS, heavy_above=("other",))
    right.axvline(0, color=GREY, linestyle=":", linewidth=0.8)
    for each in published:
        if each.counted == "detection" and each.model not in MARKS:
            right.plot(100 * each.gain, list(rows).index("all"), **PUBLISHED.look)
    right.set_xlabel("points over code alone")
    right.set_title("what information adds")
    handles = [*(mark.handle for mark in MARKS.values()), PUBLISHED.handle]
    legend_outside(figure, handles, columns=4, columnspacing=1.0, handletextpad=0.3)
