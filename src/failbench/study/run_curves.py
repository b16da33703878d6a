"""Runs over their twins: curves as tables that are published, and panels drawn from these."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.study.cells import words
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


SIGNALS: Final[Mapping[str, tuple[str, pl.Expr]]] = {
    "loss": ("loss", pl.col("loss")),
    "validation_loss": ("validation loss", pl.col("validation_loss")),
    "gradient_norm": ("gradient norm", pl.col("gradient_norm")),
    "learning_rate": ("learning rate", pl.col("learning_rate")),
    "memory": ("memory (share)", pl.col("memory_bytes") / pl.col("capacity_bytes")),
    "step_seconds": ("step time (s)", pl.col("step_seconds")),
    "sequences": ("batch size", pl.col("sequences")),
    "mean_length": ("mean length", pl.col("mean_length")),
    "max_length": ("longest sequence", pl.col("max_length")),
    "max_token_id": ("largest token id", pl.col("max_token_id")),
    "unknown_share": ("unknown (share)", pl.col("unknown_tokens") / pl.col("tokens").clip(1)),
}
"""What a cell of the gallery may draw: what each step logs, with its name."""

LOOKED_AT, DEPARTS = 8, 3.0
"""Last values before the failure, and from how many healthy deviations a signal departs."""
NOT_FINITE = 1e4  # as which values are compared and drawn that are no number, or larger


def sheet_signals(telemetry: Telemetry, healthy: Telemetry) -> pl.DataFrame:
    """Which signal tells each failing run from its twin, by a rule that reads no method's answer.

    The one whose last values before the failure, from onset on, are furthest from the twin's at
    the same steps on the mean, in units of the standard deviation of healthy runs at a step (the
    median over steps). Where none departs it is the loss.
    """
    names, roles = list(SIGNALS), _roles(pairs(telemetry))
    spread = _signals(healthy, healthy.runs.select("run_id", "capacity_bytes"))
    spread = spread.group_by("step").agg(pl.col(names).std()).select(pl.col(names).median())
    curves = _signals(telemetry, roles).unpivot(
        names, index=["scenario", "role", "step"], variable_name="signal"
    )
    run, twin = (curves.filter(role=role).drop("role") for role in ("failing", "twin"))
    both = run.join(twin, on=["scenario", "signal", "step"], suffix="_twin").drop_nulls()
    units = spread.unpivot(variable_name="signal", value_name="unit")
    ends = pairs(telemetry).select("scenario", "onset_step", "failure_step")
    from_onset = pl.col("step").is_between(pl.col("onset_step").fill_null(0), "failure_step")
    apart = pl.col("value") - pl.col("value_twin")
    # a step that crashes is cut short, which is no departure
    apart = pl.when(signal="step_seconds").then(apart.clip(0.0)).otherwise(apart.abs())
    departures = (
        both.join(ends, on="scenario")
        .filter(from_onset)
        .join(units, on="signal")
        .sort("step")
        .group_by("scenario", "signal")
        .agg((apart / pl.col("unit")).fill_nan(0.0).tail(LOOKED_AT).mean().alias("departure"))
        .filter(pl.col("departure") >= DEPARTS)
        .sort("departure", "signal", descending=[True, False])
        .unique("scenario", keep="first", maintain_order=True)
    )
    return ends.select("scenario").join(departures, on="scenario", how="left")


def sheet_curves(telemetry: Telemetry, signals: pl.DataFrame, every: int) -> pl.DataFrame:
    """The chosen signal of every failing run and of its twin; the loss where there is none."""
    last = pl.col("step") == pl.col("step").max().over("scenario", "role")
    chosen = signals.select("scenario", pl.col("signal").fill_null("loss"))
    return (
        _signals(telemetry, _roles(pairs(telemetry)))
        .unpivot(list(SIGNALS), index=["scenario", "role", "step"], variable_name="signal")
        .join(chosen, on=["scenario", "signal"])
        .drop_nulls("value")
        .filter((pl.col("step") % every == 0) | last | (pl.col("signal") == "validation_loss"))
        .with_columns(_rounded("scenario", "role", "signal", "step"))
        .sort("scenario", "role", "step")
    )


def _signals(telemetry: Telemetry, runs: pl.DataFrame) -> pl.DataFrame:
    """All signals of runs by step, as numbers that can be compared."""
    values = {name: signal.cast(pl.Float64) for name, (_, signal) in SIGNALS.items()}
    steps = telemetry.steps.join(runs, on="run_id").with_columns(**values)
    finite = pl.col(list(SIGNALS)).fill_nan(NOT_FINITE).clip(upper_bound=NOT_FINITE)
    return steps.with_columns(finite)


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

NAME_HEIGHT, CURVE_HEIGHT, SIGNAL_HEIGHT = 0.31, 0.5, 0.34  # inches in a cell, from top to bottom
CELL_HEIGHT = NAME_HEIGHT + CURVE_HEIGHT + SIGNAL_HEIGHT
AXIS, LEGEND_HEIGHT, FOOT = 0.33, 0.18, 0.17  # inches: labels of an axis, legend, foot note
NAME_WIDTH = 17  # letters in a line of a scenario's name
TICKS = EngFormatter(sep="")
WIDE_CELL = 20  # a cell whose ends are so far apart has a logarithmic axis

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
        "lines mark where the fault was switched on and where the run failed. Memory and speed are "
        "of the machine too, so that run and twin differ in them before.",
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


def draw_gallery(runs: pl.DataFrame, curves: pl.DataFrame, figure: Figure) -> None:
    """The telling signal of every failing run of a category over its twin's, on one sheet."""
    last_step = float(curves["step"].max())  # type: ignore[arg-type]
    points = curves.partition_by("scenario", "role", as_dict=True)
    top = figure.get_layout_engine().get()["rect"][3] * figure.get_figheight()  # type: ignore[union-attr]
    figure.set_layout_engine("none")
    for place, run in enumerate(runs.iter_rows(named=True)):
        axes = _add_cell(figure, place, runs.height)
        for role, colour in (("twin", TWIN), ("failing", CATEGORY_COLOURS[run["category"]])):
            group = points.get((run["scenario"], role))
            if group is not None:
                _line(axes, group["step"].to_numpy(), group["value"].to_numpy(), colour)
        mark_steps(axes, run["onset_step"], run["failure_step"])
        axes.set_xlim(-2, last_step + 2)
        _scale(axes)
        name = textwrap.fill(words(run["scenario"]), NAME_WIDTH)
        # from the left end of the cell, where labels of the axis are
        start = -AXIS / (axes.get_position().width * figure.get_figwidth()) + 0.05
        axes.set_title(name, fontsize=LEAST_TEXT, pad=4, x=start)
        signal = SIGNALS[run["signal"]][0] if run["signal"] else "(loss)"
        # a cell with the twin alone is no missing data: its run stopped before the first value
        drawn = (run["scenario"], "failing") in points
        when = "" if drawn else f" at step {run['failure_step']}"
        below = f"{signal}\n{words(run['outcome'])}{when}"
        axes.text(start, -0.15, below, transform=axes.transAxes, va="top", linespacing=1.1)
    foot = f"(loss): no signal departs; steps 0 to {last_step:g}; line below a signal: how it ended"
    figure.text(MARGIN / POINTS / figure.get_figwidth(), 0.03 / figure.get_figheight(), foot)
    handles = _legend(CATEGORY_COLOURS[runs["category"][0]])
    above = (0.0, (top - LEGEND_HEIGHT) / figure.get_figheight())
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=above, ncols=4)


def gallery_height(cells: int) -> float:
    """Of a sheet of so many runs, in inches."""
    return LEGEND_HEIGHT + CELL_HEIGHT * -(-cells // COLUMNS) + FOOT


def _add_cell(figure: Figure, place: int, cells: int) -> Axes:
    row, column = divmod(place, COLUMNS)
    height, width = figure.get_figheight(), figure.get_figwidth()
    rows_below = (cells - 1) // COLUMNS - row
    bottom = FOOT + rows_below * CELL_HEIGHT + SIGNAL_HEIGHT
    pitch = width / COLUMNS
    left, reach = column * pitch + AXIS, pitch - AXIS - 0.05
    axes = figure.add_axes((left / width, bottom / height, reach / width, CURVE_HEIGHT / height))
    axes.set_xticks(())
    axes.tick_params(length=1.5, pad=1)
    return axes


def _scale(axes: Axes) -> None:
    """Two or three ticks, of powers of ten where values span more than an order."""
    drawn = (np.asarray(line.get_ydata(), dtype=float) for line in axes.lines)
    values = np.concatenate([curve for curve in drawn if len(curve) > 2])  # and no mark of a step
    if len(values) and values.min() > 0 and values.max() > WIDE_CELL * values.min():
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=3))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.yaxis.set_major_formatter(lambda value, _: _short(value))


def _short(value: float) -> str:
    """A tick of a narrow axis: ``1k``, ``0.02``, ``1e-5``."""
    return (
        TICKS(value)
        if value >= 1e3
        else f"{value:g}".replace("0.0001", "1e-4").replace("e-0", "e-")
    )


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
