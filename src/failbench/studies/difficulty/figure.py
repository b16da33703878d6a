"""The figure of difficulty: who tells which scenario, as a map of shares."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from failbench.reporting.cells import words
from failbench.reporting.labels import in_label_order, method_label
from failbench.reporting.picture import Picture
from failbench.reporting.style import BLACK, CATEGORY_COLOURS, FULL_WIDTH
from failbench.vocabulary import Category

PANELS: Final[tuple[tuple[Category, ...], ...]] = (
    ("memory_hardware", "data_pipeline"),
    ("optimization", "model_software", "unknown"),
)
"""Half of the 76 scenarios each."""

PALETTE: Final = "cividis"
"""Evenly lighter for all eyes (Nunez, Anderton and Renslow, 2018)."""

ROW_HEIGHT: Final = 0.125
"""Inches per scenario."""

HEAD: Final = 1.65
"""Inches for the names of methods and the bar of colours."""

GAP: Final = 0.7
"""Rows between categories."""

SELDOM, MOSTLY = 0.1, 0.9
"""Shares of right answers below and above which the finding counts scenarios."""


def difficulty_picture(points: pl.DataFrame) -> Picture:
    """Shares of right answers, a row per scenario, the hardest of each category first.

    Beside the name of a scenario stands the difficulty that was declared (e, m, h). Columns are
    methods, over all architectures and seeds.
    """
    methods = in_label_order(points.filter(view="method")["name"])
    labels = [method_label(method) for method in methods]
    rows = points.filter(view="all")
    seldom = rows.filter(pl.col("ease") < SELDOM).height
    mostly = rows.filter(pl.col("ease") > MOSTLY).height
    heights = [
        rows.filter(pl.col("category").is_in(panel)).height + GAP * (len(panel) - 1)
        for panel in PANELS
    ]
    return Picture(
        f"Of {rows.height} scenarios {seldom} are told by fewer than {100 * SELDOM:g} % of all "
        f"answers and {mostly} by more than {100 * MOSTLY:g} %",
        "A map with a row per scenario, by category and the hardest first, and a column per "
        "method; the lighter a cell, the larger the share of right answers over all architectures "
        "and seeds. Behind the name of a scenario stands its declared difficulty.",
        FULL_WIDTH,
        HEAD + ROW_HEIGHT * max(heights),
        partial(_draw, points, methods, labels, max(heights)),
    )


def _draw(
    points: pl.DataFrame, methods: list[str], labels: list[str], height: float, figure: Figure
) -> None:
    image = None
    for axes, panel in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
        image = _draw_panel(axes, points, panel, methods) or image
        axes.set_xticks(
            range(len(labels)), labels, rotation=90, ha="center", rotation_mode="default"
        )
        axes.xaxis.tick_top()
        axes.set_xlim(-0.5, len(labels) - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        axes.tick_params(length=0, pad=1.5)
        axes.spines[:].set_visible(False)
    assert image is not None  # there are panels
    bar = figure.colorbar(
        image, ax=figure.axes, orientation="horizontal", fraction=0.02, aspect=60, pad=0.01
    )
    bar.set_label(
        "share of right answers (white: not recorded)\n"
        "behind a name the declared difficulty: e easy, m medium, h hard"
    )
    bar.ax.tick_params(length=2)
    bar.outline.set_visible(False)


def _draw_panel(
    axes: Axes, points: pl.DataFrame, panel: tuple[Category, ...], methods: list[str]
) -> AxesImage | None:
    top, ticks, labels, image = 0.0, [], [], None
    for category in panel:
        of_category = points.filter(category=category)
        order = of_category.filter(view="all").sort("ease", "scenario")
        if order.is_empty():
            continue
        image = _draw_shares(axes, of_category, order, methods, top)
        ticks += [top + row for row in range(order.height)]
        labels += [
            f"{words(scenario)} {declared[0]}"
            for scenario, declared in order.select("scenario", "declared").iter_rows()
        ]
        _name_category(axes, category, len(methods) - 1, top, order.height)
        top += order.height + GAP
    axes.set_yticks(ticks, labels)
    return image


def _draw_shares(
    axes: Axes, points: pl.DataFrame, order: pl.DataFrame, methods: list[str], top: float
) -> AxesImage:
    """The shares of one category."""
    wide = points.filter(view="method").pivot("name", index="scenario", values="ease")
    shares = order.select("scenario").join(wide, on="scenario", maintain_order="left", how="left")
    return axes.imshow(
        shares.select(
            pl.col(method) if method in wide.columns else pl.lit(None).alias(method)
            for method in methods
        )
        .to_numpy()
        .astype(np.float64),
        cmap=PALETTE,
        norm=Normalize(0, 1),
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, len(methods) - 0.5, top + order.height - 0.5, top - 0.5),
    )


def _name_category(axes: Axes, category: Category, right: float, top: float, height: int) -> None:
    """The name of a category beside its rows, and a line in its colour along them."""
    axes.text(
        right + 0.75,
        top + (height - 1) / 2,
        words(category),
        color=BLACK,
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
