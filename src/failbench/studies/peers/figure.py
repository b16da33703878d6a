"""The figure of the study of peers: alarms of failing and of healthy runs, and categories."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, VERMILLION, Mark
from failbench.studies.peers.said import PACKAGE
from failbench.studies.peers.schemas import DOCUMENTED
from failbench.studies.peers.shown import Shown, label, label_in_figure

HEIGHT: Final = 4.3
"""Inches."""

PANELS: Final = {
    "documented": "alarms, as documented",
    "best": "alarms, best thresholds",
    "category": "category right",
}

MARKS: Final = {
    "detected": Mark("failing runs alarmed", VERMILLION, "o"),
    "alarm_twin": Mark("healthy twins alarmed", BLACK, "D", "none"),
    "accuracy": Mark("category of a failing run right", BLUE, "s"),
}


def peers_picture(shown: Shown) -> Picture:
    """A row for each tool, with alarms as documented and with best thresholds, and categories."""
    return Picture(
        _finding(shown),
        "A row for each tool or method. On the left the share of failing runs and of healthy twins "
        "in which it alarms, with thresholds as documented; in the middle the same with thresholds "
        "that were chosen on other scenarios; on the right the share of failing runs of which it "
        "names the right category. Bars are intervals. A tool that was asked about runs of other "
        "architectures is judged on these.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, shown),
    )


def best_peer(shown: Shown) -> str:
    """The peer that alarms failing runs most often beyond their twins, as documented."""
    peers = shown.by_group["rules"] + shown.by_group["tools"]
    gains = shown.rates.filter(pl.col("method").is_in(peers), choice=DOCUMENTED, metric="gain")
    return str(gains.sort("value", "method", descending=[True, False])["method"][0])


def _finding(shown: Shown) -> str:
    def value(method: str, metric: str) -> str:
        row = shown.rate(DOCUMENTED, method, metric)
        assert row is not None  # every peer and the package have these
        return percent(row["value"])

    def words(method: str) -> str:
        return (
            f"{value(method, 'detected')} % of failing runs and {value(method, 'alarm_twin')} % of "
            f"healthy twins, and names {value(method, 'accuracy')} % of categories"
        )

    best = best_peer(shown)
    peers = len(shown.by_group["rules"]) + len(shown.by_group["tools"])
    title = (
        f"Of {peers} other tools on the same runs {label(best)} tells failing runs best from "
        f"healthy ones: it alarms {words(best)}; {label(PACKAGE)} {words(PACKAGE)}"
    )
    return with_development(title, shown.methods)


def _draw(shown: Shown, figure: Figure) -> None:
    methods = [method for group in shown.by_group.values() for method in group]
    first_of_group = {group[0] for group in shown.by_group.values() if group}
    rates = shown.rates.with_columns(row="method", mark="metric")
    alarms = rates.filter(pl.col("metric").is_in(["detected", "alarm_twin"]))
    points = pl.concat(
        [
            alarms.filter(choice=DOCUMENTED).with_columns(panel=pl.lit("documented")),
            alarms.filter(choice="best_detection").with_columns(panel=pl.lit("best")),
            rates.filter(choice=DOCUMENTED, metric="accuracy").with_columns(
                panel=pl.lit("category")
            ),
        ]
    )
    rows = {method: label_in_figure(method) for method in methods}
    grid = dot_panels(
        figure, points, rows, MARKS, PANELS, spread=0.45, heavy_above=first_of_group, guide=False
    )
    for axes in grid:
        axes.set_xlim(-4, 104)
        axes.set_xlabel("percent of runs")
    legend_outside(figure, [mark.handle for mark in MARKS.values()], columns=3)
