"""Figure of the twin: one failing run over its twin, with the signal that departs first."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from failbench.reporting.cells import counted, words
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.run_panels import logarithmic, mark_steps
from failbench.reporting.style import FULL_WIDTH, LEAST_TEXT, LINE, MARK, PALE, THICK, TWIN
from failbench.studies.benchmark.chosen_twin import ChosenTwin
from failbench.studies.benchmark.settings import SIGNAL_LABELS

HEIGHT: Final = 1.85
ROOM: Final = 0.16
"""Share of an axis above the curves, in which the two steps are named."""

SHADE: Final = 0.35
LOGARITHMIC: Final = 50
"""An axis whose largest value is so many times the smallest is logarithmic."""


def twin_picture(chosen: ChosenTwin) -> Picture:
    """Loss and the telling signal of a failing run over those of its twin."""
    scenario = chosen.scenario
    signal = SIGNAL_LABELS[chosen.signal].split(" (")[0].lower()
    steps = counted(chosen.steps_to_failure, "step")
    return Picture(
        f"{scenario.title}: equal to its twin until the fault is on, the run "
        f"{words(chosen.outcome)} {steps} later, and the {signal} tells why",
        "Two panels over the steps of training around the onset of a fault: the loss, and the "
        "signal that departs first from the twin's, of a failing run over those of its twin in "
        "which the fault is never switched on. Until onset the two are one line. Vertical lines "
        "mark where the fault was switched on and where the run failed; what comes after, which "
        "no method reads, is grey.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, chosen),
    )


def _draw(chosen: ChosenTwin, figure: Figure) -> None:
    grid = figure.subplots(1, 2, sharex=True)
    panels = (("loss", "Training loss (nats a token)"), (chosen.signal, None))
    for axes, (column, title) in zip(grid, panels, strict=True):
        _draw_signal(axes, chosen, column)
        axes.set_title(title or SIGNAL_LABELS[chosen.signal])
        axes.set_xlabel("step")
    legend_outside(
        figure,
        [
            Line2D([], [], color=LINE, linewidth=THICK, label="failing run"),
            Line2D([], [], color=TWIN, linewidth=THICK, label="twin, fault never switched on"),
            Patch(facecolor=PALE, alpha=SHADE, label="after failure: read by no method"),
        ],
        above=False,
        columns=3,
    )


def _draw_signal(axes: Axes, chosen: ChosenTwin, column: str) -> None:
    for role, colour in (("failing", LINE), ("twin", TWIN)):
        curve = chosen.points.filter(pl.col("role") == role)
        axes.plot(curve["step"], curve[column], color=colour, linewidth=THICK)
    steps = chosen.points["step"].to_numpy()
    first, last = float(steps.min()), float(steps.max())
    axes.set_xlim(first, last)
    _make_room(axes, chosen.points[column].drop_nulls())
    mark_steps(axes, chosen.onset_step, chosen.failure_step)
    axes.axvspan(chosen.failure_step, last, color=PALE, alpha=SHADE, linewidth=0, zorder=-1)
    for step, text, side in (
        (chosen.onset_step, f"fault on: {chosen.onset_step}", "right"),
        (chosen.failure_step, f"failed: {chosen.failure_step}", "left"),
    ):
        axes.annotate(
            text,
            (step, 1.0),
            xytext=(-3 if side == "right" else 3, -1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="top",
            fontsize=LEAST_TEXT,
            color=MARK,
        )


def _make_room(axes: Axes, values: pl.Series) -> None:
    """Choose the axis by the range of the values, and leave room above them."""
    least, most = float(values.min()), float(values.max())  # type: ignore[arg-type]
    if least > 0 and most > LOGARITHMIC * least:
        logarithmic(axes)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** ROOM)
    else:
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + ROOM * (high - low))
