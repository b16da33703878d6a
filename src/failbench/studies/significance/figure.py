"""The figure of significance: every method against every other, in one square."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import seaborn
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench.reporting.cells import percent, signed
from failbench.reporting.labels import method_label
from failbench.reporting.style import BLACK
from failbench.statistics.comparison import Comparison

PALETTE = "PuOr"
"""Orange to purple, which stay apart for colour-blind eyes (Harrower and Brewer, 2003)."""

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

CELL_FONT = 6.2

HEADROOM = 1.6
"""The palette ends at so many times the largest difference: its darkest part would hide numbers."""


def difference_map(comparisons: Sequence[Comparison], alpha: float) -> Figure:
    """Differences in accuracy between all methods, the best first.

    A cell is the accuracy of its row less that of its column, in percentage points. A star marks
    what the corrected t finds at level ``alpha``, a frame the contrasts.

    Parameters
    ----------
    comparisons
        Every pair of methods on one feature set.
    alpha
        The level, which a contrast has to reach after adjustment and other pairs without any.
    """
    accuracies = {one.left: one.accuracy_left for one in comparisons}
    accuracies |= {one.right: one.accuracy_right for one in comparisons}
    methods = sorted(accuracies, key=lambda method: (-accuracies[method], method))
    points = 100 * np.array([accuracies[method] for method in methods])
    matrix = points[:, None] - points[None, :]
    figure = Figure(figsize=(WIDTH, 2.4 + 0.32 * len(methods)), layout="constrained")
    axes = figure.subplots()
    largest = max(float(np.abs(matrix).max()), 1.0)
    seaborn.heatmap(
        matrix,
        ax=axes,
        cmap=PALETTE,
        center=0,
        vmin=-HEADROOM * largest,
        vmax=HEADROOM * largest,
        mask=np.eye(len(methods), dtype=bool),
        annot=_annotations(matrix, methods, comparisons, alpha),
        fmt="",
        annot_kws={"fontsize": CELL_FONT, "color": BLACK},
        linewidths=0.5,
        linecolor="white",
        xticklabels=[method_label(method) for method in methods],
        yticklabels=[
            f"{method_label(method)}, {percent(accuracies[method])} %" for method in methods
        ],
        # Below the map and not beside it: the width of the page is for the numbers in the cells.
        cbar_kws={
            "label": "percentage points, row less column",
            "location": "bottom",
            "shrink": 0.6,
            "aspect": 40,
        },
    )
    bar = axes.collections[0].colorbar
    assert bar is not None  # seaborn has just drawn it
    bar.ax.set_xlim(-largest, largest)
    for one in comparisons:
        if one.family == "contrast":
            corner = (methods.index(one.right), methods.index(one.left))
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=BLACK, linewidth=1.4))
    axes.tick_params(length=0, labelsize=7)
    axes.tick_params(axis="x", labelrotation=40)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right", rotation_mode="anchor")
    axes.set_title("Difference in accuracy between methods")
    axes.set_xlabel(
        f"* p ≤ {alpha:.2g} by the corrected t: after Holm's adjustment in the framed cells, which "
        "are\nthe contrasts that are tested; unadjusted, and so exploratory, in all others",
        fontsize=7,
        loc="left",
    )
    return figure


def _annotations(
    matrix: npt.NDArray[np.float64],
    methods: Sequence[str],
    comparisons: Sequence[Comparison],
    alpha: float,
) -> npt.NDArray[np.object_]:
    """What the cells say, ``[n_methods, n_methods]``."""
    starred = {frozenset((one.left, one.right)) for one in comparisons if one.reported_p <= alpha}
    cells = np.empty(matrix.shape, dtype=object)
    for row, upper in enumerate(methods):
        for column, lower in enumerate(methods):
            star = "*" if frozenset((upper, lower)) in starred else ""
            cells[row, column] = signed(float(matrix[row, column])) + star
    return cells
