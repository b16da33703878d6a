"""Figures: drawn from published points alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from failbench.reporting.style import CATEGORY_COLOURS, LINE, MARK, TWIN
from failbench.vocabulary import CATEGORIES, Category

COLUMNS = 10
"""Runs in a row of the gallery."""

CELL_HEIGHT = 1.75
HEADING_HEIGHT = 0.35
"""Heights on the gallery, in inches, of a run and of a category's name above its first row."""

LOSS_LIMIT = 10.0
"""Top of the gallery's loss axes, in nats; what lies above is drawn at the top."""


@dataclass(frozen=True)
class Panel:
    """One signal of the dashboard: the columns it draws and how their axis reads."""

    title: str
    unit: str
    columns: tuple[str, ...]
    logarithmic: bool = False


PANELS = (
    Panel(
        "Training loss (line) and validation loss (dots)",
        "nats a token",
        ("loss", "validation_loss"),
    ),
    Panel("Learning rate", "", ("learning_rate",)),
    Panel("Perplexity on held-out data", "", ("perplexity",), logarithmic=True),
    Panel("Gradient norm before clipping", "", ("gradient_norm",), logarithmic=True),
    Panel("Memory", "fraction of capacity", ("memory",)),
    Panel("Training speed", "tokens a second", ("tokens_per_second",)),
)
"""The six panels of the paper's Figure 6."""


def dashboard(
    curves: pl.DataFrame, *, title: str, onset_step: int | None, failure_step: int
) -> Figure:
    """Six signals of a failing run over those of its twin.

    Parameters
    ----------
    curves
        As :func:`failbench.reporting.run_curves.run_curves` returns them.
    title
        What the sheet says above itself.
    onset_step, failure_step
        The steps to mark; ``onset_step`` is None for a run without a fault.
    """
    figure = Figure(figsize=(11, 6), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    draw_panels(
        figure.subplots(2, 3, sharex=True).flat,
        curves,
        {"twin": TWIN, "failing": LINE},
        onset_step=onset_step,
        failure_step=failure_step,
    )
    figure.legend(handles=_legend(LINE), loc="outside lower left", ncols=4)
    return figure


def draw_panels(
    panels: Iterable[Axes],
    curves: pl.DataFrame,
    colours: Mapping[str, str],
    *,
    onset_step: int | None,
    failure_step: int,
) -> None:
    """The six signals, a panel each, of several runs over one another.

    Parameters
    ----------
    panels
        Six axes of one grid, in the order of ``PANELS``.
    curves
        As :func:`failbench.reporting.run_curves.run_curves` returns them.
    colours
        Of the roles that are drawn, the lowest first.
    onset_step, failure_step
        The steps to mark; ``onset_step`` is None for a run without a fault.
    """
    roles = {role: curves.filter(pl.col("role") == role) for role in colours}
    for axes, panel in zip(panels, PANELS, strict=True):
        for role, points in roles.items():
            _draw_signals(axes, points, panel, colours[role])
        _mark(axes, onset_step, failure_step)
        axes.set_title(panel.title)
        axes.set_ylabel(panel.unit)
        if panel.logarithmic:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
        if panel.columns == ("memory",):
            axes.axhline(1.0, color=MARK, linewidth=0.6, linestyle=":")
            axes.set_ylim(0.0, 1.08)
        place = axes.get_subplotspec()
        if place is not None and place.is_last_row():
            axes.set_xlabel("step")


def gallery(runs: pl.DataFrame, curves: pl.DataFrame, *, title: str) -> Figure:
    """Loss and memory of every failing run, over its twin, on one sheet.

    Parameters
    ----------
    runs
        As :func:`failbench.reporting.run_curves.sheet_runs` returns them: a cell each, in their
        order.
    curves
        As :func:`failbench.reporting.run_curves.sheet_curves` returns them.
    title
        What the sheet says above itself.
    """
    last_step = curves["step"].max()
    points = {
        (str(scenario), str(role)): group
        for (scenario, role), group in curves.group_by("scenario", "role")
    }
    places = _places(runs)
    lowest = max(top for _, top in places.values())
    figure = Figure(figsize=(2.0 * COLUMNS, lowest + CELL_HEIGHT))
    height = figure.get_figheight()
    figure.suptitle(title, x=0.03, y=1.0 - 0.12 / height, ha="left", va="top", fontsize=14)
    figure.legend(handles=_legend(LINE), loc="upper right", ncols=4)
    for category, heading in _headings(runs, places).items():
        figure.text(
            0.03,
            1.0 - (heading - 0.22) / height,
            category.replace("_", " "),
            color=CATEGORY_COLOURS[category],
            fontsize=11,
            fontweight="bold",
        )
    for run in runs.iter_rows(named=True):
        column, top = places[run["scenario"]]
        loss_axes, memory_axes = _add_cell(figure, column, top, labelled=top == lowest)
        colour = CATEGORY_COLOURS[run["category"]]
        for role, line_colour in (("twin", TWIN), ("failing", colour)):
            group = points.get((run["scenario"], role))
            if group is None:
                continue
            _draw_loss(loss_axes, group.drop_nulls("loss"), line_colour)
            _line(memory_axes, group["step"].to_numpy(), group["memory"].to_numpy(), line_colour)
        for axes in (loss_axes, memory_axes):
            _mark(axes, run["onset_step"], run["failure_step"])
            axes.set_xlim(-2, float(last_step) + 2)  # type: ignore[arg-type]
        loss_axes.set_title(run["scenario"], fontsize=6.5, pad=2)
        memory_axes.text(0.03, 0.06, run["outcome"], fontsize=6, transform=memory_axes.transAxes)
    return figure


def _places(runs: pl.DataFrame) -> dict[str, tuple[int, float]]:
    """Column and distance from the top (inches) of each scenario; a category starts a row."""
    places: dict[str, tuple[int, float]] = {}
    top = 0.6
    for category in CATEGORIES:
        scenarios = runs.filter(pl.col("category") == category)["scenario"].to_list()
        top += HEADING_HEIGHT if scenarios else 0.0
        for position, scenario in enumerate(scenarios):
            places[scenario] = (position % COLUMNS, top + position // COLUMNS * CELL_HEIGHT)
        top += -(-len(scenarios) // COLUMNS) * CELL_HEIGHT
    return places


def _headings(runs: pl.DataFrame, places: dict[str, tuple[int, float]]) -> dict[Category, float]:
    """Distance from the top (inches) of the first row of each category."""
    tops: dict[Category, float] = {}
    for scenario, category in runs.select("scenario", "category").iter_rows():
        tops.setdefault(category, places[scenario][1])
    return tops


def _add_cell(figure: Figure, column: int, top: float, *, labelled: bool) -> tuple[Axes, Axes]:
    """Axes for the loss, and below them for the memory; only the first column has tick labels."""
    height = figure.get_figheight()
    left, width = 0.03 + 0.97 * column / COLUMNS, 0.88 / COLUMNS
    loss_axes = figure.add_axes((left, 1.0 - (top + 0.85) / height, width, 0.85 / height))
    memory_axes = figure.add_axes((left, 1.0 - (top + 1.4) / height, width, 0.5 / height))
    loss_axes.set(ylim=(0.0, LOSS_LIMIT), yticks=(0, 5, 10), xticks=())
    memory_axes.set(ylim=(0.0, 1.1), yticks=(0, 1), xticks=(0, 100, 200, 300))
    if column == 0:
        loss_axes.set_ylabel("loss", fontsize=6)
        memory_axes.set_ylabel("memory", fontsize=6)
    for axes in (loss_axes, memory_axes):
        axes.tick_params(labelsize=5, length=1.5, pad=1, labelleft=column == 0)
    memory_axes.tick_params(labelbottom=labelled)
    return loss_axes, memory_axes


def _draw_signals(axes: Axes, points: pl.DataFrame, panel: Panel, colour: str) -> None:
    for column in panel.columns:
        measured = points.drop_nulls(column)
        steps, values = measured["step"].to_numpy(), measured[column].to_numpy()
        if column == "validation_loss":
            axes.plot(steps, values, linestyle="none", marker=".", markersize=4, color=colour)
        else:
            _line(axes, steps, values, colour)


def _draw_loss(axes: Axes, reached: pl.DataFrame, colour: str) -> None:
    """The loss up to the limit; a triangle at the top where it first is beyond, or no number."""
    steps, losses = reached["step"].to_numpy(), reached["loss"].to_numpy()
    _line(axes, steps, np.clip(losses, None, LOSS_LIMIT), colour)
    beyond = steps[~(losses <= LOSS_LIMIT)]
    if len(beyond):
        axes.plot(beyond[:1], [LOSS_LIMIT], marker="^", markersize=3, color=colour, clip_on=False)


def _line(axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str) -> None:
    """A line; a single point, which no line shows, is drawn as a dot."""
    marker = "." if len(steps) == 1 else ""
    axes.plot(steps, values, color=colour, linewidth=0.9, marker=marker, markersize=3)


def _mark(axes: Axes, onset_step: int | None, failure_step: int) -> None:
    if onset_step is not None:
        axes.axvline(onset_step, color=MARK, linewidth=0.7, linestyle=(0, (3, 2)), zorder=0)
    axes.axvline(failure_step, color=MARK, linewidth=0.7, zorder=0)


def _legend(colour: str) -> list[Line2D]:
    return [
        Line2D([], [], color=colour, label="failing run"),
        Line2D([], [], color=TWIN, label="twin, fault never switched on"),
        Line2D([], [], color=MARK, linestyle=(0, (3, 2)), label="onset"),
        Line2D([], [], color=MARK, label="failure"),
    ]
