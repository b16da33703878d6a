"""The figure of the architectures: what rules and a forest reach on each, beside the paper's."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from failbench.prediction.fold_plans import LEFT_OUT
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import ARCHITECTURE_LABELS
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.reported import Reported
from failbench.reporting.style import FULL_WIDTH, GREY, REPORTED
from failbench.scenarios import Architecture
from failbench.studies.architectures.cells import architectures_in
from failbench.studies.architectures.measure import RECORDED, RULES
from failbench.studies.architectures.results import ArchitecturesSettings

ROW_HEIGHT: Final = 0.22
"""Inches per architecture."""

RULES_METHOD, FOREST = "improved_rules", "random_forest"


def architectures_picture(
    points: pl.DataFrame, paper: Reported, settings: ArchitecturesSettings
) -> Picture:
    """Accuracy with its interval, a row per architecture and a panel per condition.

    The band is the margin of equivalence about the mean of the rules' accuracies as recorded.
    """
    accuracies = points.filter(pl.col("metric") == "accuracy")
    noisiest = settings.noise[-1]
    panels = {
        "recorded": "improved rules,\nlogs as recorded",
        "noisy": f"improved rules,\n{100 * noisiest:g} % noise",
        "own": f"improved rules, own\npercentile {100 * settings.percentile:g}",
        LEFT_OUT: "random forest,\narchitecture left out",
    }
    rules = accuracies.filter(pl.col("study") == RULES)
    left_out = accuracies.filter(pl.col("study") == LEFT_OUT, pl.col("method") == FOREST)
    drawn = pl.concat(
        part.with_columns(panel=pl.lit(panel), row="architecture", mark="method")
        for panel, part in (
            ("recorded", _of(rules, "reference", RECORDED)),
            ("noisy", _of(rules, "reference", noisiest)),
            ("own", _of(rules, "own_percentile", RECORDED)),
            (LEFT_OUT, left_out),
        )
    )
    names = architectures_in(accuracies)
    return Picture(
        _finding(drawn, paper, names),
        "Four panels of accuracies with intervals, a row per architecture: the improved rules on "
        "logs as recorded, with noise, with thresholds of the architecture's own, and the random "
        "forest on architectures that it was not trained on. Vertical ticks are the accuracies "
        "that the paper reports, a band the margin of equivalence.",
        FULL_WIDTH,
        1.0 + ROW_HEIGHT * len(names),
        partial(_draw, drawn, panels, names, paper, settings),
    )


def _finding(drawn: pl.DataFrame, paper: Reported, names: list[Architecture]) -> str:
    recorded = drawn.filter(pl.col("panel") == "recorded")["value"].sort().to_list()
    printed = sorted(
        row.accuracy for name, row in paper.tables.architectures.rows.items() if name in names
    )
    ends = f"{percent(recorded[0])} to {percent(recorded[-1])} %"
    if not printed:
        return f"The improved rules are right on {ends} of the scenarios of an architecture"
    return (
        f"The improved rules are right on {ends} of the scenarios of an architecture, where the "
        f"paper reports {percent(printed[0])} to {percent(printed[-1])} %"
    )


def _of(rules: pl.DataFrame, thresholds: str, noise: float) -> pl.DataFrame:
    return rules.filter(pl.col("thresholds") == thresholds, pl.col("noise") == noise)


def _draw(
    drawn: pl.DataFrame,
    panels: dict[str, str],
    names: list[Architecture],
    paper: Reported,
    settings: ArchitecturesSettings,
    figure: Figure,
) -> None:
    methods = (RULES_METHOD, FOREST)
    grid = dot_panels(
        figure,
        drawn,
        {name: ARCHITECTURE_LABELS[name] for name in names},
        {method: METHOD_STYLES[method] for method in methods},
        panels,
        spread=0.0,
    )
    mean = drawn.filter(pl.col("panel") == "recorded")["value"].to_numpy().mean()
    low, high = (100 * (mean + sign * settings.equivalence_margin) for sign in (-1, 1))
    colour = METHOD_STYLES[RULES_METHOD].colour
    for axes, panel in zip(grid, panels, strict=True):
        if panel != LEFT_OUT:
            axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0)
    printed = paper.tables.architectures.rows
    for position, name in enumerate(names):
        if name in printed:
            grid[0].plot(100 * printed[name].accuracy, position, **REPORTED.look)
    grid[0].set_xlim(0, 100)
    n = " or ".join(str(size) for size in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {n} scenarios, with interval")
    margin = f"mean as recorded ± {100 * settings.equivalence_margin:g} points"
    handles = [
        REPORTED.handle,
        Line2D([], [], color=GREY, label="value of the first panel"),
        Patch(color=colour, alpha=0.12, linewidth=0, label=margin),
    ]
    legend_outside(figure, handles, columns=3)
