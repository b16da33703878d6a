"""The figure: how failures of each category set in, and what the paper's rules of thumb reach."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.cells import percent
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, GREEN, ORANGE, VERMILLION, Mark
from failbench.studies.onset.results import ALL
from failbench.studies.onset.shown import Shown
from failbench.studies.onset.signs import KINDS

HEIGHT: Final = 2.7
"""Inches."""

KIND_MARKS: Final = {
    "gradual": Mark("gradual", BLUE, "o"),
    "sudden": Mark("sudden", ORANGE, "^"),
    "none": Mark("no sign", GREEN, "s"),
}
RULE_MARKS: Final = {
    "base": Mark("of all scenarios", BLACK, "|", size=9.0),
    "precision": Mark("of those with the sign", VERMILLION, "D"),
}

CATEGORY_ROWS: Final[dict[str, str]] = {
    str(name): label.replace(" ", "\n") for name, label in CATEGORY_LABELS.items()
} | {ALL: "All"}
RULE_ROWS: Final = {
    "gradual": "gradual:\noptimization, memory",
    "sudden_software": "sudden or no sign:\nmodel software",
    "sudden_trigger": "sudden or no sign:\nswitched on in mid-run",
    "norm_above_paper": "norm over paper's limit:\noptimization",
    "norm_above_healthy": "norm over healthy limit:\noptimization",
    "norm_grew": "norm grows tenfold:\noptimization",
}
"""Rules that are drawn: the sign, and below it what it is said to point to."""

POINTS: Final = pl.Schema(
    {
        "panel": pl.String(),
        "row": pl.String(),
        "mark": pl.String(),
        "value": pl.Float64(),
        "ci_low": pl.Float64(),
        "ci_high": pl.Float64(),
    }
)


def onset_points(shown: Shown) -> pl.DataFrame:
    """What is drawn: shares of kinds by category, and precision and base rate of each rule."""
    return pl.DataFrame(list(_points(shown)), schema=POINTS, orient="row")


def _points(shown: Shown) -> Iterator[tuple[object, ...]]:
    found = shown.reference.found
    for category in CATEGORY_ROWS:
        for kind in KINDS:
            share = found.kinds[category][kind]
            yield "kinds", category, kind, share.value, share.ci_low, share.ci_high
    for name, rule in found.rules.items():
        yield "rules", name, "base", rule.base, None, None
        if (shared := rule.precision) is not None:
            yield "rules", name, "precision", shared.value, shared.ci_low, shared.ci_high


def onset_picture(points: pl.DataFrame, shown: Shown) -> Picture:
    """Two panels: shares of kinds by category, and what the rules of thumb reach."""
    return Picture(
        _finding(shown),
        "On the left a row per category with the percent of its failures that are gradual, sudden, "
        "or come without a sign, and intervals. On the right a row per rule of thumb with the "
        "percent of scenarios with the sign that are of what it is said to point to, with its "
        "interval, and a line at the percent of all scenarios that are.",
        FULL_WIDTH,
        HEIGHT,
        partial(_draw, points),
    )


def _finding(shown: Shown) -> str:
    rules = shown.reference.found.rules
    held, refuted = (
        sum(each.verdict == verdict for each in shown.claims)
        for verdict in ("holds", "does not hold")
    )

    def of(name: str) -> str:
        rule = rules[name]
        value = "–" if rule.precision is None else percent(rule.precision.value)
        return f"{value} % (of all {percent(rule.base)})"

    return (
        f"Gradual failures are of optimization or memory in {of('gradual')}, sudden ones of model "
        f"software in {of('sudden_software')}; {held} of {len(shown.claims)} statements hold, "
        f"{refuted} fail"
    )


def _draw(points: pl.DataFrame, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
    dot_plot(
        left,
        points.filter(pl.col("panel") == "kinds"),
        CATEGORY_ROWS,
        KIND_MARKS,
        heavy_above=(ALL,),
    )
    dot_plot(
        right,
        points.filter(pl.col("panel") == "rules"),
        RULE_ROWS,
        RULE_MARKS,
        spread=0.0,
        heavy_above=("norm_above_paper",),
    )
    for axes in (left, right):
        axes.set_xlim(-3, 103)
    left.set_xlabel("failures, percent")
    right.set_xlabel("scenarios of what it points to, percent")
    marks = (*KIND_MARKS.values(), *RULE_MARKS.values())
    legend_outside(figure, [mark.handle for mark in marks], columns=5)
