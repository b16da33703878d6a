"""Figures of significance: the named contrasts with the margin, and a map of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import polars as pl
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from failbench.reporting.captions import with_development
from failbench.reporting.cells import percent, signed
from failbench.reporting.dot_plot import dot_panels
from failbench.reporting.labels import (
    FEATURE_SET_LABELS,
    drawn_label,
    label_inside,
    reads_true_category,
)
from failbench.reporting.picture import Picture, legend_outside
from failbench.reporting.style import BLACK, FULL_WIDTH, GREY, Mark
from failbench.statistics.comparison import Comparison, contrasts_of
from failbench.statistics.significance import SignificanceSettings

ROW_HEIGHT: Final = 0.34
"""Inches per contrast."""

CELL_HEIGHT: Final = 0.19
"""Inches per method of the map."""

PALETTE: Final = "Purples"
HEADROOM: Final = 1.9
"""The palette ends at so many times the largest difference: its dark part would hide numbers."""

CONTRAST: Final = Mark("difference with interval", BLACK, "D", size=3.5)


def contrasts_picture(comparisons: Sequence[Comparison], settings: SignificanceSettings) -> Picture:
    """A forest plot: the named contrasts with their intervals, a panel per feature set.

    Parameters
    ----------
    comparisons
        On all feature sets; only the contrasts are drawn.
    settings
        The primary feature set, which comes first, and the margin of equivalence.
    """
    contrasts = contrasts_of(comparisons)
    rows = {_key(contrast): _name(contrast) for contrast in contrasts}
    primary = [contrast for contrast in contrasts if contrast.feature_set == settings.feature_set]
    named = [method for contrast in contrasts for method in (contrast.left, contrast.right)]
    return Picture(
        with_development(_finding(primary, settings), named),
        "A row per named contrast between two methods and a panel per feature set: the difference "
        "in accuracy with its interval, over a band that is the margin of equivalence around no "
        "difference. At the right of each row the p of the corrected resampled t test after "
        "Holm's adjustment.",
        FULL_WIDTH,
        0.8 + ROW_HEIGHT * len(rows),
        partial(_draw_contrasts, contrasts, rows, settings),
    )


def _key(contrast: Comparison) -> str:
    return f"{contrast.left}/{contrast.right}"


def _name(contrast: Comparison) -> str:
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
        f"Of {len(primary)} named contrasts, {differ} are differences, {equal} equivalent within "
        f"{margin}, and {len(primary) - differ - equal} undecided (features: {features})"
    )


def _draw_contrasts(
    contrasts: Sequence[Comparison],
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
            "mark": ["contrast"] * len(contrasts),
            "value": [contrast.difference for contrast in contrasts],
            "ci_low": [contrast.ci_low for contrast in contrasts],
            "ci_high": [contrast.ci_high for contrast in contrasts],
        },
        schema_overrides={"ci_low": pl.Float64, "ci_high": pl.Float64},
    )
    grid = dot_panels(figure, points, rows, {"contrast": CONTRAST}, panels, guide=False)
    margin = 100 * settings.equivalence_margin
    for axes, panel in zip(grid, panels, strict=True):
        axes.axvspan(-margin, margin, color=GREY, alpha=0.25, linewidth=0, zorder=0)
        axes.axvline(0, color=BLACK, linewidth=0.6, zorder=0)
        _write_p(
            axes, [contrast for contrast in contrasts if contrast.feature_set == panel], list(rows)
        )
    figure.supxlabel(f"difference in accuracy, points (n = {contrasts[0].n} scenarios)")
    handles = [
        Line2D(
            [], [], label=f"difference, {100 * settings.confidence:g} % interval", **CONTRAST.look
        ),
        Patch(color=GREY, alpha=0.25, linewidth=0, label=f"margin of ± {margin:g} points"),
        Line2D([], [], linestyle="none", label="p: Holm-adjusted"),
    ]
    legend_outside(figure, handles, columns=3)


def _write_p(axes: Axes, contrasts: Sequence[Comparison], rows: Sequence[str]) -> None:
    """The adjusted p in the lower right corner of each row, clear of the interval."""
    for contrast in contrasts:
        p = contrast.reported_p
        axes.annotate(
            "p < 0.001" if p < 0.001 else f"p = {p:.3f}",
            (1.0, rows.index(_key(contrast)) + 0.48),
            xycoords=("axes fraction", "data"),
            horizontalalignment="right",
            verticalalignment="bottom",
        )


def difference_map_picture(comparisons: Sequence[Comparison]) -> Picture:
    """Differences in accuracy between all methods, the best first, each pair once.

    Nothing is marked as significant: all pairs but the contrasts are exploratory.

    Parameters
    ----------
    comparisons
        Every pair of methods on one feature set; those that are handed the true category are left
        out, as they are of every ranking.
    """
    accuracies = {pair.left: pair.accuracy_left for pair in comparisons}
    accuracies |= {pair.right: pair.accuracy_right for pair in comparisons}
    accuracies = {
        name: value for name, value in accuracies.items() if not reads_true_category(name)
    }
    methods = sorted(accuracies, key=lambda method: (-accuracies[method], method))
    first, last = methods[0], methods[-1]
    spread = signed(100 * (accuracies[first] - accuracies[last])).lstrip("+")
    features = FEATURE_SET_LABELS.get(comparisons[0].feature_set, comparisons[0].feature_set)
    return Picture(
        with_development(
            f"From {label_inside(first)} to {label_inside(last)}, methods differ by up to {spread} "
            f"points of accuracy (features: {features})",
            methods,
        ),
        "A triangle with a row and a column per method, the most accurate first: each cell is the "
        "accuracy of its column less that of its row, in points. Pairs that are no named contrast "
        "are exploratory, and no cell is marked as significant.",
        FULL_WIDTH,
        1.3 + CELL_HEIGHT * len(methods),
        partial(_draw_map, methods, accuracies),
    )


def _draw_map(methods: Sequence[str], accuracies: dict[str, float], figure: Figure) -> None:
    axes = figure.subplots()
    points = 100 * np.array([accuracies[method] for method in methods])
    matrix = (points[None, :] - points[:, None])[1:, :-1]
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap=PALETTE,
        vmin=0.0,
        vmax=HEADROOM * max(float(matrix.max()), 1.0),
        mask=np.triu(np.ones(matrix.shape, dtype=bool), k=1),
        annot=True,
        fmt=".0f",
        annot_kws={"color": BLACK},
        linewidths=0.5,
        linecolor="white",
        cbar=False,
        xticklabels=[drawn_label(method) for method in methods[:-1]],
        yticklabels=[
            f"{drawn_label(method)}, {percent(accuracies[method])} %" for method in methods[1:]
        ],
    )
    axes.tick_params(length=0)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")
    axes.text(
        1.0,
        1.0,
        f"cells: column less row, points\nfirst: {drawn_label(methods[0])}, "
        f"{percent(accuracies[methods[0]])} %",
        transform=axes.transAxes,
        horizontalalignment="right",
        verticalalignment="top",
    )
