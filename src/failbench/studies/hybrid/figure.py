"""The figure of hybrids: who answers, reported above measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.prediction.main_study import ON_INVARIANTS
from failbench.reporting.cells import percent
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import Picture
from failbench.reporting.reported import Reported
from failbench.reporting.style import FULL_WIDTH
from failbench.studies.hybrid.reported_routes import reported_routes
from failbench.studies.hybrid.routing import ROUTES
from failbench.vocabulary import Route

HEIGHT: Final = 1.8
"""Inches."""

LETTER: Final = 0.0155
"""Share of a bar that a letter takes; what does not fit into its segment is left out."""

ROUTE_COLOURS: Final[Mapping[Route, str]] = {
    "rules": METHOD_STYLES["improved_rules"].colour,
    "classifier": METHOD_STYLES["random_forest"].colour,
    "human": METHOD_STYLES["simulated_human"].colour,
}
"""Those of the methods that answer."""

KINDS: Final = {
    "hybrid": "three-way",
    "hybrid_two_way": "two-way",
    ON_INVARIANTS: "monitor (development)",
}

Bar = tuple[str, dict[Route, float], dict[Route, float]]
"""Label, shares and precisions."""


def hybrids_picture(routes: pl.DataFrame, paper: Reported) -> Picture:
    """Routes, reported above measured."""
    return Picture(
        _finding(routes, paper),
        "A bar per hybrid, as reported and as measured: who answers which share of the scenarios, "
        "and in brackets the percent of these answers that are right. The human is simulated and "
        "handed the true category; the monitor's rules were made with these scenarios in view.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw_routes, _bars(routes, paper), max(routes["n"])),
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
        f"{percent(reported['hybrid']['rules'])} %), and simulated people are left "
        f"{percent(human)} % (reported: {percent(reported['hybrid']['human'])} %)"
    )


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


def _draw_routes(bars: list[Bar], n: int, figure: Figure) -> None:
    axes = figure.subplots()
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
