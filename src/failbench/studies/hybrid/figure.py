"""The figure of hybrids: who answers, what thresholds cost, and where the cheapest lie."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.methods.hybrid import HybridSettings
from failbench.prediction.main_study import ON_INVARIANTS
from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture
from failbench.reporting.reported import Reported
from failbench.reporting.style import BLACK, FULL_WIDTH, VERMILLION
from failbench.studies.hybrid.reported_routes import reported_routes
from failbench.studies.hybrid.routing import ROUTES
from failbench.vocabulary import Route

HEIGHT: Final = 4.4
"""Inches."""

LETTER: Final = 0.0155
"""Share of a bar that a letter takes; what does not fit into its segment is left out."""

ROUTE_COLOURS: Final[Mapping[Route, str]] = {
    "rules": METHOD_STYLES["improved_rules"].colour,
    "classifier": METHOD_STYLES["random_forest"].colour,
    "human": METHOD_STYLES["simulated_human"].colour,
}
"""Those of the methods that answer."""

LARGEST: Final = 90
"""Area, in square points, of the mark of a pair that every resample finds cheapest."""

PALETTE: Final = "viridis"
KINDS: Final = {"hybrid": "three-way", "hybrid_two_way": "two-way", ON_INVARIANTS: "monitor*"}

MEASURED: Final[Mapping[str, Any]] = {"color": BLACK, "linewidth": 0.8, "linestyle": ":"}
"""Lines at the thresholds of the main study."""

Bar = tuple[str, dict[Route, float], dict[Route, float]]
"""Label, shares and precisions."""


def hybrids_picture(
    routes: pl.DataFrame,
    grid: pl.DataFrame,
    paper: Reported,
    thresholds: HybridSettings,
    human_cost: float,
) -> Picture:
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
    bars = _bars(routes, paper)
    return Picture(
        with_development(_finding(routes, paper), routes["hybrid"].unique()),
        "Above, a bar per hybrid, as reported and as measured: who answers which share of the "
        "scenarios, and in brackets the percent of these answers that are right. Below on the "
        "left, the cost of a diagnosis over the confidence under which a person answers, a line "
        "per price of that person; on the right, the cost over both thresholds as a grey map, with "
        "discs where resamples find the cheapest pair.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, bars, max(routes["n"]), wrong, thresholds, human_cost),
    )


def _finding(routes: pl.DataFrame, paper: Reported) -> str:
    shares = {
        (hybrid, route): value
        for hybrid, route, value in routes.filter(pl.col("metric") == "share")
        .select("hybrid", "route", "value")
        .iter_rows()
    }
    reported = {hybrid: parts[0] for hybrid, parts in reported_routes(paper).items()}
    rules, human = shares.get(("hybrid", "rules"), 0.0), shares.get(("hybrid", "human"), 0.0)
    return (
        f"In the three-way hybrid rules answer {percent(rules)} % (reported: "
        f"{percent(reported['hybrid']['rules'])} %), and people are left "
        f"{percent(human)} % (reported: {percent(reported['hybrid']['human'])} %)"
    )


def _draw(
    bars: list[Bar],
    n: int,
    wrong: pl.DataFrame,
    thresholds: HybridSettings,
    human_cost: float,
    figure: Figure,
) -> None:
    panels = figure.subplot_mosaic(
        [["routes", "routes"], ["price", "map"]], height_ratios=(1, 1.5), width_ratios=(1, 1.15)
    )
    _draw_routes(panels["routes"], bars, n)
    _draw_curves(panels["price"], wrong, thresholds)
    _draw_map(panels["map"], wrong.filter(pl.col("human_cost") == human_cost), thresholds)


def _bars(measured: pl.DataFrame, paper: Reported) -> list[Bar]:
    reported = reported_routes(paper)
    bars: list[Bar] = []
    for hybrid, kind in KINDS.items():
        part = measured.filter(hybrid=hybrid)
        if hybrid in reported:
            bars.append((f"{kind}, reported", *reported[hybrid]))
        elif part.is_empty():
            continue
        values = {row[:2]: row[2] for row in part.select("route", "metric", "value").rows()}
        shares, precisions = (
            {route: values[route, metric] for route in ROUTES if (route, metric) in values}
            for metric in ("share", "precision")
        )
        bars.append((f"{kind}, measured", shares, precisions))
    return bars


def _draw_routes(axes: Axes, bars: list[Bar], n: int) -> None:
    for row, (_, shares, precisions) in enumerate(bars):
        start = 0.0
        for route, share in shares.items():
            axes.barh(row, 100 * share, left=100 * start, color=ROUTE_COLOURS[route], alpha=0.6)
            right = f" ({100 * precisions[route]:.0f})" if route in precisions else ""
            numbers = f"{100 * share:.0f}{right}"
            texts = (f"{route}: {numbers}", numbers, f"{100 * share:.0f}")
            text = next((text for text in texts if len(text) * LETTER <= share), "")
            axes.text(100 * (start + share / 2), row, text, ha="center", va="center")
            start += share
    axes.set_yticks(range(len(bars)), [label for label, _, _ in bars])
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"percent of n = {n} scenarios (in brackets: percent of them right)")
    axes.set_title("who answers")


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
            f"{price:g}", (x[-1], cost[-1]), (3, 0), textcoords="offset points", va="center"
        )
    axes.axvline(thresholds.classifier_from, **MEASURED)
    axes.set_yscale("log")
    ticks = [tick for tick in (0.5, 0.7, 1, 1.5, 2, 3, 4, 6) if _within(tick, along["cost"])]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"a person answers below (rules above {thresholds.rules_from:g})")
    (wrong,) = grid["wrong_answer_cost"].unique()
    axes.set_ylabel(f"cost of a diagnosis, {wrong:g} more if wrong")
    axes.set_title("by price of a person (dot: cheapest)")


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
    axes.axvline(thresholds.rules_from, **MEASURED)
    axes.axhline(thresholds.classifier_from, label="thresholds as measured", **MEASURED)
    figure = axes.get_figure()
    assert figure is not None  # the axes were made in one
    bar = figure.colorbar(mesh, ax=axes, aspect=25, pad=0.02)
    (price,) = grid["human_cost"].unique()
    bar.set_label(f"cost of a diagnosis, a person at {price:g}")
    axes.set_xlabel("rules answer above")
    axes.set_ylabel("a person answers below")
    axes.set_title("cheapest thresholds", pad=24)
    legend = axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.0)
    legend.set_in_layout(False)  # it would take width from its panel
