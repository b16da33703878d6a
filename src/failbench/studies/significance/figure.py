"""The figure of significance: the named contrasts with the margin of equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import FEATURE_SET_LABELS, drawn_label, label_inside
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, FULL_WIDTH, GREY, Mark
from failbench.statistics.comparison import Comparison, Difference
from failbench.statistics.significance import SignificanceSettings

ROW_HEIGHT: Final = 0.34
"""Inches per contrast."""

TESTED: Final = Mark("tested, p: Holm-adjusted", BLACK, "D", size=3.5)
IN_SAMPLE: Final = replace(TESTED, label="*: in-sample (development), no test", fill="none")


def contrasts_picture(contrasts: Sequence[Difference], settings: SignificanceSettings) -> Picture:
    """A forest plot: the named contrasts with their intervals, a panel per feature set."""
    rows = {_key(contrast): _name(contrast) for contrast in contrasts}
    primary = [
        contrast
        for contrast in contrasts
        if isinstance(contrast, Comparison) and contrast.feature_set == settings.feature_set
    ]
    return Picture(
        _finding(primary, settings),
        "A row per named contrast between two methods and a panel per feature set: the difference "
        "in accuracy with its interval, over a band that is the margin of equivalence around no "
        "difference. At the right of each row the p of the corrected resampled t test after "
        "Holm's adjustment over the contrasts of a panel; differences of methods that were made "
        "with these scenarios in view are in-sample, drawn hollow, and not tested.",
        FULL_WIDTH,
        0.8 + ROW_HEIGHT * len(rows),
        partial(_draw_contrasts, contrasts, rows, settings),
    )


def _key(contrast: Difference) -> str:
    return f"{contrast.left}/{contrast.right}"


def _name(contrast: Difference) -> str:
    return f"{drawn_label(contrast.left)}\n− {label_inside(contrast.right)}"


def _finding(primary: Sequence[Comparison], settings: SignificanceSettings) -> str:
    """How many contrasts are decided on the primary feature set."""
    differ = sum(contrast.reported_p <= settings.alpha for contrast in primary)
    equal = sum(
        contrast.equivalent and contrast.reported_p > settings.alpha for contrast in primary
    )
    margin = f"{100 * settings.equivalence_margin:g} points"
    features = FEATURE_SET_LABELS.get(settings.feature_set, settings.feature_set)
    return (
        f"Of {len(primary)} contrasts that are tested, {differ} are differences, {equal} "
        f"equivalent within {margin}, and {len(primary) - differ - equal} undecided (features: "
        f"{features})"
    )


def _draw_contrasts(
    contrasts: Sequence[Difference],
    rows: dict[str, str],
    settings: SignificanceSettings,
    figure: Figure,
) -> None:
    names = [contrast.feature_set for contrast in contrasts]
    ordered = sorted(dict.fromkeys(names), key=lambda name: name != settings.feature_set)
    panels = {
        name: f"features: {FEATURE_SET_LABELS.get(name, name)}"
        + (" (primary)" if name == settings.feature_set else "")
        for name in ordered
    }
    points = pl.DataFrame(
        {
            "panel": names,
            "row": [_key(contrast) for contrast in contrasts],
            "mark": [
                "tested" if isinstance(each, Comparison) else "in-sample" for each in contrasts
            ],
            "value": [contrast.difference for contrast in contrasts],
            "ci_low": [contrast.ci_low for contrast in contrasts],
            "ci_high": [contrast.ci_high for contrast in contrasts],
        },
        schema_overrides={"ci_low": pl.Float64, "ci_high": pl.Float64},
    )
    marks = {"tested": TESTED, "in-sample": IN_SAMPLE}
    heavy = [_key(each) for each in contrasts if not isinstance(each, Comparison)][:1]
    grid = dot_panels(
        figure, points, rows, marks, panels, spread=0.0, heavy_above=heavy, guide=False
    )
    margin = 100 * settings.equivalence_margin
    for axes, panel in zip(grid, panels, strict=True):
        axes.axvspan(-margin, margin, color=GREY, alpha=0.25, linewidth=0, zorder=0)
        axes.axvline(0, color=BLACK, linewidth=0.6, zorder=0)
        _write_p(axes, [each for each in contrasts if each.feature_set == panel], list(rows))
    figure.supxlabel(
        f"difference in accuracy, points, with {100 * settings.confidence:g} % interval "
        f"(n = {contrasts[0].n} scenarios)"
    )
    used = [marks[name].handle for name in marks if name in set(points["mark"])]
    band = Patch(color=GREY, alpha=0.25, linewidth=0, label=f"margin of ± {margin:g} points")
    legend_outside(figure, [*used, band], columns=3)


def _write_p(axes: Axes, contrasts: Sequence[Difference], rows: Sequence[str]) -> None:
    """The adjusted p in the lower right corner of each tested row, clear of the interval."""
    for contrast in contrasts:
        if not isinstance(contrast, Comparison):
            continue
        p = contrast.reported_p
        axes.annotate(
            "p < 0.001" if p < 0.001 else f"p = {p:.3f}",
            (1.0, rows.index(_key(contrast)) + 0.48),
            xycoords=("axes fraction", "data"),
            horizontalalignment="right",
            verticalalignment="bottom",
        )
