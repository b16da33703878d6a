"""The figure of difficulty: who tells which scenario, as a map of shares."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from failbench.reporting.cells import words
from failbench.reporting.labels import ARCHITECTURE_LABELS, in_label_order, method_label
from failbench.reporting.style import BLACK, CATEGORY_COLOURS
from failbench.scenarios import ARCHITECTURES, Architecture
from failbench.vocabulary import Category

PANELS: Final[tuple[tuple[Category, ...], ...]] = (
    ("memory_hardware", "data_pipeline"),
    ("optimization", "model_software", "unknown"),
)
"""Half of the 76 scenarios each."""

PALETTE = "cividis"
"""Evenly lighter for all eyes (Nunez, Anderton and Renslow, 2018)."""

WIDTH = 6.9
"""Inches: the width of a page with two columns."""

FONT = 6.0
ROW_HEIGHT = 0.118
"""Inches per scenario."""

GAP = 0.7
"""Rows between categories, and columns between methods and architectures."""


def draw_difficulty(points: pl.DataFrame) -> Figure:
    """Shares of right answers, a row per scenario, the hardest of each category first.

    Beside the name of a scenario stands the difficulty that was declared (e, m, h). Columns are
    methods, over all architectures and seeds, then architectures, over all methods and seeds.

    Parameters
    ----------
    points
        As :func:`failbench.studies.difficulty.tables.difficulty_points` returns them.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    methods, architectures = _names(points)
    labels = [*map(method_label, methods), *(ARCHITECTURE_LABELS[name] for name in architectures)]
    rows = points.filter(view="all")
    heights = [
        rows.filter(pl.col("category").is_in(panel)).height + GAP * (len(panel) - 1)
        for panel in PANELS
    ]
    figure = Figure(figsize=(WIDTH, 1.35 + ROW_HEIGHT * max(heights)), layout="constrained")
    image = None
    for axes, panel in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        image = _draw_panel(axes, points, panel, [*methods, *architectures], len(methods))
        at = [_column(number, len(methods)) for number in range(len(labels))]
        axes.set_xticks(at, labels, rotation=60, ha="left", rotation_mode="anchor", fontsize=FONT)
        axes.xaxis.tick_top()
        axes.set_xlim(-0.5, max(at) + 0.5)
        axes.set_ylim(max(heights) - 0.5, -0.5)
        axes.tick_params(length=0, pad=1.5)
        axes.spines[:].set_visible(False)
    assert image is not None  # there are panels
    bar = figure.colorbar(
        image, ax=figure.axes, orientation="horizontal", fraction=0.02, aspect=60, pad=0.01
    )
    bar.set_label(
        f"share of right answers; n = {rows.height} scenarios; declared: e easy, m medium, "
        "h hard; white: not recorded",
        fontsize=FONT,
    )
    bar.ax.tick_params(labelsize=FONT, length=2)
    bar.outline.set_visible(False)
    return figure


def _names(points: pl.DataFrame) -> tuple[list[str], list[Architecture]]:
    """Methods and architectures that were measured, each in the order of their labels."""
    methods, architectures = (
        set(points.filter(view=view)["name"]) for view in ("method", "architecture")
    )
    return (
        in_label_order(methods),
        [name for name in ARCHITECTURES if name in architectures],
    )


def _draw_panel(
    axes: Axes, points: pl.DataFrame, panel: tuple[Category, ...], names: list[str], methods: int
) -> AxesImage | None:
    top, ticks, labels, image = 0.0, [], [], None
    right = _column(len(names) - 1, methods)
    for category in panel:
        of_category = points.filter(category=category)
        order = of_category.filter(view="all").sort("ease", "scenario")
        if order.is_empty():
            continue
        image = _draw_shares(axes, of_category, order, names, methods, top)
        ticks += [top + row for row in range(order.height)]
        labels += [
            f"{words(scenario)}  {declared[0]}"
            for scenario, declared in order.select("scenario", "declared").iter_rows()
        ]
        _name_category(axes, category, right, top, order.height)
        top += order.height + GAP
    axes.set_yticks(ticks, labels, fontsize=FONT)
    return image


def _draw_shares(
    axes: Axes,
    points: pl.DataFrame,
    order: pl.DataFrame,
    names: list[str],
    methods: int,
    top: float,
) -> AxesImage | None:
    """The shares of one category: a block of methods, and a block of architectures."""
    wide = points.filter(pl.col("view") != "all").pivot("name", index="scenario", values="ease")
    shares = order.select("scenario").join(wide, on="scenario", maintain_order="left")
    image = None
    for first, last in ((0, methods), (methods, len(names))):
        image = axes.imshow(
            shares.select(names[first:last]).to_numpy().astype(np.float64),
            cmap=PALETTE,
            norm=Normalize(0, 1),
            aspect="auto",
            interpolation="nearest",
            extent=(
                _column(first, methods) - 0.5,
                _column(last - 1, methods) + 0.5,
                top + order.height - 0.5,
                top - 0.5,
            ),
        )
    return image


def _name_category(axes: Axes, category: Category, right: float, top: float, height: int) -> None:
    """The name of a category beside its rows, and a line in its colour along them."""
    axes.text(
        right + 0.75,
        top + (height - 1) / 2,
        words(category),
        color=BLACK,
        fontsize=FONT,
        rotation=270,
        va="center",
        ha="left",
    )
    axes.plot(
        [right + 0.6] * 2,
        [top - 0.4, top + height - 0.6],
        color=CATEGORY_COLOURS[category],
        linewidth=1.6,
        clip_on=False,
    )


def _column(number: int, methods: int) -> float:
    """Where a column lies: architectures stand a little apart from methods."""
    return number + GAP * (number >= methods)
