"""Runs over their twins: curves as tables that are published, and panels drawn from these."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.study.cells import counted, words
from failbench.study.labels import CATEGORY_LABELS
from failbench.study.picture import MARGIN, POINTS, Picture, legend_outside
from failbench.study.style import CATEGORY_COLOURS, FULL_WIDTH, LEAST_TEXT, LINE, MARK, TWIN

RUNS = "data/telemetry/runs.parquet"
SIGNIFICANT_DIGITS = 5  # more cannot be seen on a figure


def pairs(telemetry: Telemetry) -> pl.DataFrame:
    """Each failing run, with the id of its twin."""
    twins = telemetry.runs.filter(pl.col("kind") == "twin").select(
        pl.col("twin_of").alias("run_id"), pl.col("run_id").alias("twin")
    )
    failing = telemetry.runs.filter(pl.col("kind") == "failure")
    return failing.join(twins, on="run_id", how="left").sort("run_id")


def run_curves(telemetry: Telemetry, run_id: str) -> pl.DataFrame:
    """Every signal of one failing run, of its twin, and of the run with each remedy."""
    pair = pairs(telemetry).filter(pl.col("run_id") == run_id)
    if pair.height == 0 or pair["twin"][0] is None:
        problem = f"there is no failing run {run_id!r} with a twin."
        raise BadInputError(RUNS, "run_id", problem, "Choose the id of a run of the kind failure.")
    return (
        _with_memory(telemetry, pl.concat([_roles(pair), _remedies(telemetry, run_id)]))
        .select(
            "role",
            "step",
            "loss",
            "validation_loss",
            "learning_rate",
            pl.col("validation_loss").exp().alias("perplexity"),
            "gradient_norm",
            "memory",
            (pl.col("tokens") / pl.col("step_seconds")).alias("tokens_per_second"),
        )
        .with_columns(_rounded("role", "step"))
        .sort("role", "step")
    )


def sheet_curves(telemetry: Telemetry, every: int) -> pl.DataFrame:
    """Loss and memory of every failing run and of its twin."""
    curves = _with_memory(telemetry, _roles(pairs(telemetry)))
    last = pl.col("step") == pl.col("step").max().over("run_id")
    return (
        curves.filter((pl.col("step") % every == 0) | last)
        .select("scenario", "role", "step", "loss", "memory")
        .with_columns(_rounded("scenario", "role", "step"))
        .sort("scenario", "role", "step")
    )


def sheet_runs(telemetry: Telemetry, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """What the gallery says of each failing run."""
    categories = {scenario.id: scenario.category for scenario in scenarios}
    category = pl.col("scenario").replace_strict(categories, return_dtype=pl.Enum(CATEGORIES))
    shown = ("scenario", "category", "outcome", "onset_step", "failure_step")
    failing = pairs(telemetry).with_columns(category=category)
    return failing.sort("category", "scenario").select(shown)


SHARED = ("scenario", "capacity_bytes")


def _roles(failing: pl.DataFrame) -> pl.DataFrame:
    roles = {"run_id": "failing", "twin": "twin"}
    parts = (
        failing.select(pl.col(name).alias("run_id"), pl.lit(role).alias("role"), *SHARED)
        for name, role in roles.items()
    )
    return pl.concat(parts).drop_nulls("run_id")


def _remedies(telemetry: Telemetry, run_id: str) -> pl.DataFrame:
    remedied = telemetry.runs.filter(kind="remedy", twin_of=run_id)
    role = pl.col("run_id").str.strip_prefix(f"{run_id}-").alias("role")
    return remedied.select("run_id", role, *SHARED)


def _with_memory(telemetry: Telemetry, roles: pl.DataFrame) -> pl.DataFrame:
    return telemetry.steps.join(roles, on="run_id").with_columns(
        (pl.col("memory_bytes") / pl.col("capacity_bytes")).alias("memory")
    )


def _rounded(*keys: str) -> pl.Expr:
    return pl.all().exclude(keys).cast(pl.Float64).round_sig_figs(SIGNIFICANT_DIGITS)


COLUMNS = 5  # runs in a row of the gallery

LOSS_HEIGHT, MEMORY_HEIGHT = 0.46, 0.22
NAME_HEIGHT, OUTCOME_HEIGHT, GAP = 0.28, 0.17, 0.05  # inches in a cell, from top to bottom

CELL_HEIGHT = NAME_HEIGHT + LOSS_HEIGHT + GAP + MEMORY_HEIGHT + OUTCOME_HEIGHT
LEFT, LEGEND_HEIGHT, FOOT = 0.32, 0.18, 0.2  # inches: first labels, legend, foot note
NAME_WIDTH = 17  # letters in a line of a scenario's name
LOSS_LIMIT = 10.0  # top of the gallery's loss axes, in nats; what lies above is drawn at the top

ONSET_DASHES = (0, (3, 2))

WIDE = 1000  # a logarithmic axis whose ends are so far apart has ticks at powers of ten alone


LOSSES = ("loss", "validation_loss")


@dataclass(frozen=True)
class Panel:
    """One signal of the dashboard: the columns it draws and how their axis reads."""

    title: str
    unit: str
    columns: tuple[str, ...]
    logarithmic: bool = False


PANELS = (  # the six panels of the paper's Figure 6
    Panel("Training loss (line), validation loss (dots)", "nats a token", LOSSES),
    Panel("Learning rate", "", ("learning_rate",)),
    Panel("Perplexity on held-out data", "", ("perplexity",), logarithmic=True),
    Panel("Gradient norm before clipping", "", ("gradient_norm",), logarithmic=True),
    Panel("Memory", "fraction of capacity", ("memory",)),
    Panel("Training speed", "tokens a second", ("tokens_per_second",)),
)


def dashboard_picture(
    curves: pl.DataFrame, *, title: str, onset_step: int | None, failure_step: int
) -> Picture:
    """Six signals of a failing run over those of its twin."""
    return Picture(
        title,
        "Six panels over the steps of training: loss, learning rate, perplexity, gradient norm, "
        "memory and speed of a failing run, over those of its twin without the fault. Vertical "
        "lines mark where the fault was switched on and where the run failed.",
        FULL_WIDTH,
        4.8,
        partial(_dashboard, curves, onset_step, failure_step),
    )


def _dashboard(
    curves: pl.DataFrame, onset_step: int | None, failure_step: int, figure: Figure
) -> None:
    grid = figure.subplots(3, 2, sharex=True)
    for axes, panel in zip(grid.flat, PANELS, strict=True):
        for role, colour in (("twin", TWIN), ("failing", LINE)):
            _draw_signals(axes, curves.filter(pl.col("role") == role), panel, colour)
        mark_steps(axes, onset_step, failure_step)
        axes.set_title(panel.title)
        axes.set_ylabel(panel.unit)
        if panel.logarithmic:
            logarithmic(axes)
        if panel.columns == ("memory",):
            axes.axhline(1.0, color=MARK, linewidth=0.6, linestyle=":")
            axes.set_ylim(0.0, 1.08)
    for axes in grid[-1]:
        axes.set_xlabel("step")
    legend_outside(figure, _legend(LINE), above=False, columns=4)


def gallery_picture(
    category: Category, runs: pl.DataFrame, curves: pl.DataFrame, *, setting: str
) -> Picture:
    """Loss and memory of every failing run of a category, over its twin, on one sheet."""
    of_category = runs.filter(pl.col("category") == category)
    outcomes = of_category["outcome"].value_counts().sort("count", "outcome", descending=True)
    counts = ", ".join(f"{count} {words(outcome)}" for outcome, count in outcomes.iter_rows())
    lines = -(-of_category.height // COLUMNS)
    failures = counted(of_category.height, "failure")
    return Picture(
        f"{CATEGORY_LABELS[category]}, {failures}: {counts} ({setting})",
        "A cell per scenario: the loss of its failing run, and below it the memory in use, each "
        "over the same of its twin without the fault. Vertical lines mark onset and failure.",
        FULL_WIDTH,
        LEGEND_HEIGHT + CELL_HEIGHT * lines + FOOT,
        partial(_gallery, of_category, curves),
    )


def _gallery(runs: pl.DataFrame, curves: pl.DataFrame, figure: Figure) -> None:
    last_step = float(curves["step"].max())  # type: ignore[arg-type]
    points = curves.partition_by("scenario", "role", as_dict=True)
    figure.set_layout_engine("none")
    for place, run in enumerate(runs.iter_rows(named=True)):
        loss_axes, memory_axes = _add_cell(figure, place, runs.height)
        colour = CATEGORY_COLOURS[run["category"]]
        for role, line_colour in (("twin", TWIN), ("failing", colour)):
            group = points.get((run["scenario"], role))
            if group is None:
                continue
            _draw_loss(loss_axes, group.drop_nulls("loss"), line_colour)
            _line(memory_axes, group["step"].to_numpy(), group["memory"].to_numpy(), line_colour)
        for axes in (loss_axes, memory_axes):
            mark_steps(axes, run["onset_step"], run["failure_step"])
            axes.set_xlim(-2, last_step + 2)
        name = textwrap.fill(words(run["scenario"]), NAME_WIDTH)
        loss_axes.set_title(name, fontsize=LEAST_TEXT, pad=2)
        outcome, axes_of_text = words(run["outcome"]), memory_axes.transAxes
        memory_axes.text(0.0, -0.12, outcome, transform=axes_of_text, va="top")
    foot = (
        f"above: loss in nats a token, up to {LOSS_LIMIT:g} (triangle: beyond); below: memory, "
        f"share of capacity; steps 0 to {last_step:g}"
    )
    figure.text(MARGIN / POINTS / figure.get_figwidth(), 0.03 / figure.get_figheight(), foot)
    handles = _legend(CATEGORY_COLOURS[runs["category"][0]])
    bottom = (FOOT + CELL_HEIGHT * -(-runs.height // COLUMNS)) / figure.get_figheight()
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, bottom), ncols=4)


def _add_cell(figure: Figure, place: int, cells: int) -> tuple[Axes, Axes]:
    """Axes for the loss, and below them for the memory; only the first column has tick labels."""
    row, column = divmod(place, COLUMNS)
    height, width = figure.get_figheight(), figure.get_figwidth()
    rows_below = (cells - 1) // COLUMNS - row
    bottom = FOOT + rows_below * CELL_HEIGHT + OUTCOME_HEIGHT
    pitch = (width - LEFT) / COLUMNS
    left, reach = (LEFT + column * pitch) / width, (pitch - 0.1) / width
    memory_axes = figure.add_axes((left, bottom / height, reach, MEMORY_HEIGHT / height))
    loss_axes = figure.add_axes(
        (left, (bottom + MEMORY_HEIGHT + GAP) / height, reach, LOSS_HEIGHT / height)
    )
    loss_axes.set(ylim=(0.0, LOSS_LIMIT), xticks=())
    loss_axes.set_yticks((0, 5, 10), ("", "5", "10"))  # the 0 would stand on the 1 below it
    memory_axes.set(ylim=(0.0, 1.1), yticks=(0, 1), xticks=())
    for axes in (loss_axes, memory_axes):
        axes.tick_params(length=1.5, pad=1, labelleft=column == 0)
    return loss_axes, memory_axes


def logarithmic(axes: Axes) -> None:
    """A logarithmic vertical axis with plain numbers."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1,) if high > WIDE * low else (1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())


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
    marker = "." if len(steps) == 1 else ""
    axes.plot(steps, values, color=colour, linewidth=0.9, marker=marker, markersize=3)


def mark_steps(axes: Axes, onset_step: int | None, failure_step: int) -> None:
    """Vertical lines: dashed where the fault was switched on, drawn out where the run failed."""
    if onset_step is not None:
        axes.axvline(onset_step, color=MARK, linewidth=0.7, linestyle=ONSET_DASHES, zorder=0)
    axes.axvline(failure_step, color=MARK, linewidth=0.7, zorder=0)


def _legend(colour: str) -> list[Line2D]:
    return [
        Line2D([], [], color=colour, label="failing run"),
        Line2D([], [], color=TWIN, label="twin, fault never switched on"),
        Line2D([], [], color=MARK, linestyle=ONSET_DASHES, label="onset"),
        Line2D([], [], color=MARK, label="failure"),
    ]
