"""The figure of the case studies: six signals of each case, with twin and remedies."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from failbench.reporting.run_panels import PANELS, Panel, draw_panels
from failbench.reporting.style import BLACK, GREEN, LINE, ORANGE, PURPLE, SKY, TWIN
from failbench.studies.case_studies.cases import Case
from failbench.studies.case_studies.tables import CASE_LABELS, in_order, role_label

WIDTH: Final = 7.0
"""Inches: that of two columns."""

CASE_HEIGHT: Final = 3.7
FONT: Final = 6.5
TITLE_WIDTH: Final = 34
"""Letters in a line of a panel's title."""

WIDE: Final = 1000
"""A logarithmic axis whose ends are so far apart has ticks at powers of ten alone."""

REMEDIES: Final = (ORANGE, GREEN, PURPLE, SKY)
"""Colours of remedies, by name."""


def draw_case_studies(cases: Sequence[Case], curves: Mapping[str, pl.DataFrame]) -> Figure:
    """A block of six panels per case.

    Parameters
    ----------
    cases
        In the order of the blocks.
    curves
        By case, as :func:`failbench.reporting.run_curves.run_curves` returns them.
    """
    figure = Figure(figsize=(WIDTH, CASE_HEIGHT * len(cases)), layout="constrained")
    for block, case in zip(
        figure.subfigures(len(cases), 1, squeeze=False).flat, cases, strict=True
    ):
        points = _of_finished_steps(curves[case.name])
        colours = role_colours(points["role"].unique().to_list())
        grid = block.subplots(2, 3, sharex=True)
        draw_panels(
            grid.flat,
            points,
            colours,
            onset_step=case.onset_step,
            failure_step=case.failure_step,
        )
        for axes, panel in zip(grid.flat, PANELS, strict=True):
            _fit(axes, panel)
        block.suptitle(
            f"{CASE_LABELS[case.name]}: {case.run_id}", x=0.01, ha="left", fontsize=FONT + 1.5
        )
        block.legend(handles=_legend(colours), loc="outside lower left", ncols=4, fontsize=FONT)
    return figure


def _fit(axes: Axes, panel: Panel) -> None:
    """Make letters and ticks small enough for a block of six."""
    axes.set_title("\n".join(textwrap.wrap(panel.title, TITLE_WIDTH)), fontsize=FONT + 0.5)
    axes.xaxis.label.set_fontsize(FONT)
    axes.yaxis.label.set_fontsize(FONT)
    axes.tick_params(labelsize=FONT - 0.3)
    if panel.logarithmic:
        low, high = axes.get_ylim()
        wide = high > WIDE * low
        axes.yaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())


def _of_finished_steps(curves: pl.DataFrame) -> pl.DataFrame:
    """A step that died half-way has tokens and next to no seconds: that is no speed."""
    finished = pl.col("gradient_norm").is_not_null()
    return curves.with_columns(pl.when(finished).then("tokens_per_second"))


def role_colours(roles: Sequence[str]) -> dict[str, str]:
    """Colours by role, in the order of drawing: the failing run lies on top."""
    remedies = [role for role in in_order(roles) if role not in ("failing", "twin")]
    colours = {"twin": TWIN}
    colours |= {role: REMEDIES[place % len(REMEDIES)] for place, role in enumerate(remedies)}
    return colours | {"failing": LINE}


def _legend(colours: Mapping[str, str]) -> list[Line2D]:
    lines = [
        Line2D([], [], color=colours[role], label=role_label(role).lower())
        for role in in_order(list(colours))
    ]
    return [
        *lines,
        Line2D([], [], color=BLACK, linestyle=(0, (3, 2)), label="onset"),
        Line2D([], [], color=BLACK, label="failure"),
    ]
