"""The figure of hybrids: who answers, what thresholds cost, and where the cheapest lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.methods.hybrid import HybridSettings
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLACK, BLUE, ORANGE, PURPLE, VERMILLION
from failbench.studies.hybrid.reported_routes import HYBRIDS, reported_routes
from failbench.studies.hybrid.routing import ROUTES
from failbench.vocabulary import Route

WIDTH, HEIGHT = 6.9, 2.9
"""In inches: the width is that of two columns."""

FONT = 6.5
NARROW = 0.1
"""Segments of a smaller share have no room for their numbers."""

ROUTE_COLOURS: Final[Mapping[Route, str]] = {"rules": BLUE, "classifier": ORANGE, "human": PURPLE}
LARGEST = 90
"""Area, in square points, of the mark of a pair that every resample finds cheapest."""

TITLE_PAD = 24
PALETTE = "viridis"
KINDS = {"hybrid": "three-way", "hybrid_two_way": "two-way"}


def draw_hybrids(
    routes: pl.DataFrame,
    grid: pl.DataFrame,
    paper: Reported,
    thresholds: HybridSettings,
    human_cost: float,
) -> Figure:
    """Routes, reported above measured; cost along one threshold; and cost over both.

    Parameters
    ----------
    routes, grid
        As :class:`failbench.studies.hybrid.results.HybridStudy` holds them.
    paper
        The numbers that the paper prints.
    thresholds
        Those of the main study.
    human_cost
        What a person's answer costs in the last panel; in both, wrong answers cost the most that
        the grid has.

    Raises
    ------
    BadInputError
        If ``paper`` lacks a claim about a hybrid.
    """
    wrong = grid.filter(pl.col("wrong_answer_cost") == pl.col("wrong_answer_cost").max())
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 1, 1.2))
    _draw_routes(left, _bars(routes, paper), max(routes["n"]))
    _draw_curves(middle, wrong, thresholds)
    _draw_map(right, wrong.filter(pl.col("human_cost") == human_cost), thresholds)
    return figure


Bar = tuple[str, dict[Route, float], dict[Route, float]]
"""Label, shares and precisions."""


def _bars(measured: pl.DataFrame, paper: Reported) -> list[Bar]:
    reported = reported_routes(paper)
    bars: list[Bar] = []
    for hybrid in HYBRIDS:
        bars.append((f"{KINDS[hybrid]},\nreported", *reported[hybrid]))
        part = measured.filter(hybrid=hybrid)
        values = {row[:2]: row[2] for row in part.select("route", "metric", "value").rows()}
        shares, precisions = (
            {route: values[route, metric] for route in ROUTES if (route, metric) in values}
            for metric in ("share", "precision")
        )
        bars.append((f"{KINDS[hybrid]},\nmeasured", shares, precisions))
    return bars


def _draw_routes(axes: Axes, bars: list[Bar], n: int) -> None:
    for row, (_, shares, precisions) in enumerate(bars):
        start = 0.0
        for route, share in shares.items():
            label = route if row == 0 else None
            axes.barh(row, share, left=start, color=ROUTE_COLOURS[route], alpha=0.6, label=label)
            if share >= NARROW:
                right = f"\n({100 * precisions[route]:.0f})" if route in precisions else ""
                text = f"{100 * share:.0f}{right}"
                middle = start + share / 2
                axes.text(middle, row, text, ha="center", va="center", fontsize=FONT)
            start += share
    axes.set_yticks(range(len(bars)), [label for label, _, _ in bars], fontsize=FONT)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=FONT)
    axes.set_xlim(0.0, 1.0)
    axes.set_xticks([0.0, 0.5, 1.0], ["0", "50", "100"])
    axes.set_xlabel(f"percent of n = {n} scenarios\n(percent of them right)", fontsize=FONT)
    axes.set_title("Who answers", pad=TITLE_PAD)
    _legend_above(axes, len(ROUTES))


def _legend_above(axes: Axes, columns: int) -> None:
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        ncols=columns,
        fontsize=FONT,
        handlelength=1.0,
        columnspacing=0.8,
        handletextpad=0.4,
        labelspacing=0.2,
        borderaxespad=0.0,
    )
    legend.set_in_layout(False)  # it would take width from its panel


def _draw_curves(axes: Axes, grid: pl.DataFrame, thresholds: HybridSettings) -> None:
    """Cost against the confidence below which a person answers, a line per price of theirs."""
    along = grid.filter((pl.col("rules_from") - thresholds.rules_from).abs() < 1e-6)
    prices = along["human_cost"].unique().sort().to_list()
    for price, shade in zip(prices, np.linspace(0.0, 0.85, len(prices)), strict=True):
        points = along.filter(pl.col("human_cost") == price).sort("classifier_from")
        x, cost = points["classifier_from"].to_numpy(), points["cost"].to_numpy()
        colour = colormaps[PALETTE](shade)
        axes.plot(x, cost, color=colour)
        lowest = int(cost.round(6).argmin())
        axes.plot(x[lowest], cost[lowest], color=colour, marker="o", markersize=3.5)
        axes.annotate(
            f"{price:g}",
            (x[-1], cost[-1]),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=FONT,
        )
    axes.axvline(thresholds.classifier_from, color=BLACK, linewidth=0.5, linestyle=":")
    axes.set_yscale("log")
    ticks = [tick for tick in (0.5, 0.7, 1, 1.5, 2, 3, 4, 6) if _within(tick, along["cost"])]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(labelsize=FONT)
    axes.set_xlabel(
        f"a person answers below;\nrules above {thresholds.rules_from:g}",
        fontsize=FONT,
    )
    (wrong,) = grid["wrong_answer_cost"].unique()
    axes.set_ylabel(f"cost of a diagnosis, {wrong:g} more if wrong", fontsize=FONT)
    axes.set_title("By price of a person", pad=TITLE_PAD)


def _within(tick: float, costs: pl.Series) -> bool:
    values = costs.to_numpy()
    return bool(0.95 * values.min() <= tick <= 1.05 * values.max())


def _draw_map(axes: Axes, grid: pl.DataFrame, thresholds: HybridSettings) -> None:
    """Cost over both thresholds, and which pairs resamples find cheapest."""
    levels = grid["rules_from"].unique().sort().to_numpy()
    cost = np.full((len(levels), len(levels)), np.nan)
    rows = np.searchsorted(levels, grid["classifier_from"].to_numpy() - 1e-9)
    columns = np.searchsorted(levels, grid["rules_from"].to_numpy() - 1e-9)
    cost[rows, columns] = grid["cost"].to_numpy()
    mesh = axes.pcolormesh(levels, levels, cost, cmap="Greys", shading="nearest", rasterized=False)
    chosen = grid.filter(pl.col("best") > 0)
    axes.scatter(
        chosen["rules_from"].to_numpy(),
        chosen["classifier_from"].to_numpy(),
        s=LARGEST * chosen["best"].to_numpy(),
        color=VERMILLION,
        linewidths=0,
        clip_on=False,
        label="cheapest in resamples (by area)",
    )
    axes.plot(
        thresholds.rules_from,
        thresholds.classifier_from,
        color=BLUE,
        marker="X",
        markersize=5,
        linestyle="none",
        label="thresholds as measured",
    )
    bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.9, aspect=25, pad=0.02)
    bar.ax.tick_params(labelsize=FONT)
    (price,) = grid["human_cost"].unique()
    bar.set_label(f"cost of a diagnosis, a person at {price:g}", fontsize=FONT)
    axes.tick_params(labelsize=FONT)
    axes.set_xlabel("rules answer above", fontsize=FONT)
    axes.set_ylabel("a person answers below", fontsize=FONT)
    axes.set_title("Cheapest thresholds", pad=TITLE_PAD)
    _legend_above(axes, 1)
