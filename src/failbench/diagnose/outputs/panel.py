"""Panel: one signal of a log, drawn and marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from failbench.base.arrays import Array, Mask
from failbench.diagnose.outputs.marks import Mark
from failbench.diagnose.outputs.wording import SIGNAL_WORDS, number_words
from failbench.diagnose.readers.names import SPLITS, SignalName, Split

INK: Final = "#1b1b1b"
PAPER: Final = "#fefefe"
GRID: Final = "#d9d9d9"
COLOURS: Final[dict[Split, str]] = {"train": "#0072b2", "validation": "#d98a00"}
BROKEN: Final = "#d55e00"
EVIDENCE: Final = "#661100"
"""Of the palettes of Okabe and Ito (2008) and Tol (2021), as in the figures of the studies. Each
stands for one role, so that a page can turn it into another one where it is dark."""

DECADES: Final = 3.0
"""Positive values that span more are drawn on a logarithmic axis."""

LARGEST: Final = 1e30
"""Values are drawn up to here, and from its inverse on: beyond, the axes themselves overflow."""

_TITLES: Final = {
    signal: f"{words[0].upper()}{words[1:]}" for signal, words in SIGNAL_WORDS.items()
}


@dataclass(frozen=True)
class Curve:
    """One signal of one source on one split up to where its steps begin anew, thinned out."""

    split: Split
    x: Array
    y: Array


def draw_panel(axes: Axes, signal: SignalName, curves: list[Curve]) -> None:
    """Draw a signal; what is no number is a cross at the top, and breaks the line."""
    axes.set_title(_TITLES[signal])
    axes.grid(axis="y", color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    for curve in curves:
        finite = np.isfinite(curve.y)
        y = np.where(finite, _drawable(curve.y), np.nan)
        alone = finite & ~np.append(finite[1:], False) & ~np.append(False, finite[:-1])
        few = curve.split == "validation" and len(y) <= 60
        marker = {"marker": "o", "markersize": 3.0, "markevery": alone | (finite & few)}
        axes.plot(curve.x, y, color=COLOURS[curve.split], **marker)
        _draw_broken(axes, curve.x, ~finite)
    values = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in curves])
    _scale(axes, _drawable(values))
    _legend(axes, curves)


def _drawable(values: Array) -> Array:
    sizes = np.clip(np.abs(values), 1 / LARGEST, LARGEST)
    return np.where(values == 0, 0.0, np.copysign(sizes, values))


def _draw_broken(axes: Axes, x: Array, broken: Mask) -> None:
    """A pale band over each row of values that are no numbers, and a cross where it begins."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], broken, [False]]).astype(np.int8)))
    for start, end in edges.reshape(-1, 2):
        if end - start > 1:
            axes.axvspan(x[start], x[end - 1], color=BROKEN, alpha=0.15, linewidth=0)
    axes.plot(
        x[edges[::2]],
        np.full(len(edges) // 2, 0.92),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker="x",
        markersize=4.5,
        markeredgewidth=1.2,
        color=BROKEN,
        zorder=4,
    )


def _scale(axes: Axes, values: Array) -> None:
    formatter = FuncFormatter(lambda value, _: number_words(value))
    if not values.size:
        axes.set_yticks([])
        return
    low, high = float(values.min()), float(values.max())
    if low > 0 and np.log10(high) - np.log10(low) > DECADES:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=5))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.yaxis.set_major_formatter(formatter)


def _legend(axes: Axes, curves: list[Curve]) -> None:
    """Names of splits where there are two, and what a cross means, right of the title."""
    splits = [split for split in SPLITS if any(curve.split == split for curve in curves)]
    handles = [Line2D([], [], color=COLOURS[split], label=split) for split in splits]
    if splits == ["train"]:
        handles = []
    if any(not np.isfinite(curve.y).all() for curve in curves):
        cross = Line2D(
            [],
            [],
            color=BROKEN,
            label="NaN or infinite",
            linestyle="none",
            marker="x",
            markersize=4.5,
            markeredgewidth=1.2,
        )
        handles.append(cross)
    if handles:
        axes.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(handles),
            borderaxespad=0.0,
            handlelength=1.4,
        )


def mark_panel(axes: Axes, signal: SignalName, marks: list[Mark]) -> None:
    """Draw a line for each item of evidence: solid, with a ring, in the panel of its own signal."""
    for mark in marks:
        own = mark.signal == signal
        axes.axvline(
            mark.at,
            color=EVIDENCE,
            linewidth=0.9 if own else 0.5,
            linestyle="-" if own else (0, (2, 3)),
            zorder=1.5,
        )
        low, high = axes.get_ylim()
        if own and mark.value is not None and low <= mark.value <= high:
            axes.plot(
                [mark.at],
                [mark.value],
                color=EVIDENCE,
                marker="o",
                markersize=6.0,
                markerfacecolor="none",
                zorder=5,
            )
            axes.set_ylim(low, high)
