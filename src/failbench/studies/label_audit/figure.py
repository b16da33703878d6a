"""The figure of the label audit: kappa over all scenarios and of each category."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from failbench.reporting.cells import two_decimals
from failbench.reporting.dot_plot import dot_plot
from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, BLUE, FULL_WIDTH, REPORTED, VERMILLION, Mark
from failbench.studies.label_audit.raters import RATERS
from failbench.studies.label_audit.results import ALL, BOTH
from failbench.vocabulary import CATEGORIES

ROW_HEIGHT: Final = 0.3
"""Inches per category."""

MARKS: Final = {
    RATERS[0]: Mark("rater 1 and the labels", BLUE, "o"),
    RATERS[1]: Mark("rater 2 and the labels", VERMILLION, "s"),
    BOTH: Mark("rater 1 and rater 2", BLACK, "D", "none"),
}
ANNOTATORS: Final = replace(REPORTED, label="reported: the paper's two annotators, people")


def label_audit_picture(points: pl.DataFrame, reported: float) -> Picture:
    """Cohen's kappa with its interval, a row for all scenarios and for each category."""
    drawn = points.filter(metric="kappa")
    return Picture(
        _finding(drawn),
        "A row for all scenarios and for each category against the rest: Cohen's kappa with its "
        "interval of each rater with the labels, and of the two raters with one another. The "
        "raters are language models that were told causes and no label. A vertical tick is the "
        "Fleiss kappa that the paper reports of two human annotators of its own scenarios.",
        FULL_WIDTH,
        0.85 + ROW_HEIGHT * drawn["scope"].n_unique(),
        partial(_draw, drawn, reported),
    )


def _finding(drawn: pl.DataFrame) -> str:
    """Agreement over all scenarios, and the category on which raters and labels differ most."""
    kappas = drawn.filter(pl.col("subject").is_in(RATERS)).sort("subject")

    def of(scope: str) -> str:
        return " and ".join(two_decimals(value) for value in kappas.filter(scope=scope)["value"])

    def together(scope: str) -> str:
        return two_decimals(drawn.filter(scope=scope, subject=BOTH)["value"][0])

    means = kappas.filter(pl.col("scope") != ALL).group_by("scope").agg(pl.col("value").mean())
    least = means.sort("value", "scope")["scope"][0]
    return (
        f"Two language models that are told the causes agree with the labels at kappa {of(ALL)}, "
        f"least on {CATEGORY_LABELS[least].lower()} ({of(least)}), where they agree with one "
        f"another at {together(least)}"
    )


def _draw(drawn: pl.DataFrame, reported: float, figure: Figure) -> None:
    sizes = dict(drawn.select("scope", "n").iter_rows())
    rows = {ALL: f"All {sizes[ALL]} scenarios"}
    rows |= {category: CATEGORY_LABELS[category] for category in CATEGORIES if category in sizes}
    axes = figure.subplots()
    dot_plot(
        axes,
        drawn.rename({"scope": "row", "subject": "mark"}),
        rows,
        MARKS,
        scale=1.0,
        heavy_above=CATEGORIES[:1],
    )
    axes.plot(reported, 0, **ANNOTATORS.look)
    axes.set_xlim(min(0.0, *drawn["ci_low"]), 1.02)
    axes.set_xlabel(f"Cohen's kappa over n = {sizes[ALL]} scenarios, with interval")
    handles = [*(mark.handle for mark in MARKS.values()), ANNOTATORS.handle]
    legend_outside(figure, handles, columns=2)
