"""The figure of the case studies: what each failure showed, and what its remedies reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.run_panels import ONSET_DASHES, logarithmic, mark_steps
from failbench.reporting.style import BLACK, FULL_WIDTH, LINE, THIN, TWIN, Mark
from failbench.studies.case_studies.cases import Case
from failbench.studies.case_studies.tables import CASE_LABELS, in_order, role_label

CASE_HEIGHT: Final = 1.45
"""Inches."""

SIGNALS: Final = {"loss": "training loss, nats", "gradient_norm": "gradient norm"}
"""What is drawn over the steps: the two signals that the paper tells the cases by."""

NEAR: Final = 0.10
"""A remedy ends near the twin if its last loss is above the twin's by no more than this share."""

RUNS: Final = {
    "twin": Mark("twin, fault never switched on", TWIN, "s"),
    "failing": Mark("failing run", LINE, "D"),
    "remedy": Mark("failing run with a remedy", LINE, "D", "none"),
}
"""Marks of what a run is."""


def case_studies_picture(
    cases: Sequence[Case], curves: Mapping[str, pl.DataFrame], settled_steps: int
) -> Picture:
    """Three panels a case: loss, gradient norm, and the loss that each run ended with."""
    ends = {case.name: last_losses(curves[case.name], settled_steps) for case in cases}
    return Picture(
        f"Remedies that end within {100 * NEAR:g} % of the twin's loss: "
        + ", ".join(_finding(case, ends[case.name]) for case in cases),
        "A row of three panels per case. The first two show the training loss and the gradient "
        "norm of the failing run over those of its twin, with lines at onset and failure. The "
        "third shows the loss over the last steps of the twin, of the failing run, and of the "
        "failing run with each remedy, and up to which step each ran.",
        FULL_WIDTH,
        0.4 + CASE_HEIGHT * len(cases),
        partial(_draw, cases, curves, ends, settled_steps),
    )


def _finding(case: Case, ends: pl.DataFrame) -> str:
    losses = dict(ends.select("role", "value").iter_rows())
    remedies = [role for role in losses if role not in RUNS]
    near = sum(losses[role] <= (1 + NEAR) * losses["twin"] for role in remedies)
    return f"{near} of {len(remedies)} against {CASE_LABELS[case.name].lower()}"


def last_losses(curves: pl.DataFrame, settled_steps: int) -> pl.DataFrame:
    """``role``, ``value`` (mean training loss of its last steps) and ``steps``."""
    finite = curves.filter(pl.col("loss").is_finite())
    return (
        finite.sort("step")
        .group_by("role", maintain_order=True)
        .agg(pl.col("loss").tail(settled_steps).mean().alias("value"))
        .join(curves.group_by("role").agg(pl.col("step").max().alias("steps")), on="role")
    )


def _draw(
    cases: Sequence[Case],
    curves: Mapping[str, pl.DataFrame],
    ends: Mapping[str, pl.DataFrame],
    settled_steps: int,
    figure: Figure,
) -> None:
    grid = figure.subplots(len(cases), 3, squeeze=False, width_ratios=(1, 1, 0.9))
    for row, case in zip(grid, cases, strict=True):
        for axes, (signal, label) in zip(row, SIGNALS.items(), strict=False):
            _draw_signal(axes, curves[case.name], signal, case)
            axes.set_ylabel(label)
        row[0].set_title(CASE_LABELS[case.name], fontweight="bold")
        _draw_ends(row[-1], ends[case.name])
    for axes in grid[-1][:2]:
        axes.set_xlabel("step")
    grid[-1][-1].set_xlabel(f"loss, last {settled_steps} steps")
    handles = [
        *(
            Line2D([], [], color=RUNS[role].colour, label=RUNS[role].label)
            for role in ("failing", "twin")
        ),
        Line2D([], [], color=BLACK, linewidth=0.7, linestyle=ONSET_DASHES, label="onset"),
        Line2D([], [], color=BLACK, linewidth=0.7, label="failure"),
    ]
    legend_outside(figure, handles, columns=4)


def _draw_signal(axes: Axes, curves: pl.DataFrame, signal: str, case: Case) -> None:
    for role, width in (("twin", THIN), ("failing", 0.9)):
        of_role = curves.filter(pl.col("role") == role, pl.col(signal).is_finite()).sort("step")
        axes.plot(
            of_role["step"].to_numpy(),
            of_role[signal].to_numpy(),
            color=RUNS[role].colour,
            linewidth=width,
        )
    mark_steps(axes, case.onset_step, case.failure_step)
    if signal == "gradient_norm":
        logarithmic(axes)


def _draw_ends(axes: Axes, ends: pl.DataFrame) -> None:
    roles = in_order(ends["role"].to_list())
    points = ends.with_columns(
        row="role",
        mark=pl.when(pl.col("role").is_in(list(RUNS))).then("role").otherwise(pl.lit("remedy")),
        ci_low=pl.lit(None, dtype=pl.Float64),
        ci_high=pl.lit(None, dtype=pl.Float64),
    )
    dot_plot(axes, points, {role: role_label(role) for role in roles}, RUNS, spread=0.0, scale=1.0)
    largest = float(ends["value"].to_numpy().max())
    for role, value, step in ends.select("role", "value", "steps").iter_rows():
        left = value > largest / 2  # of its mark, where there is more room
        axes.annotate(
            f"step {step}",
            (value, roles.index(role)),
            xytext=(-5 if left else 5, 0),
            textcoords="offset points",
            horizontalalignment="right" if left else "left",
            verticalalignment="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.set_xlim(left=0.0, right=1.1 * largest)
    axes.axvline(ends.filter(role="twin")["value"][0], color=TWIN, linewidth=THIN, zorder=0)
