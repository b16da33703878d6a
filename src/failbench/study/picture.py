"""Picture: a figure under its finding, saved to the same bytes, and dot plots of named rows."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path

from failbench.study.style import BLACK, FINDING_TEXT, GREY, THIN, Mark

POINTS: Final = 72.0  # in an inch
MARGIN: Final = 3.0  # points left of the finding and above it
GAP: Final = 2.0  # points between a legend and the panels
SHARE: Final = 0.94  # of the width that a line of the title may fill
LEADING: Final = 1.25  # distance between lines of the finding, in sizes of its letters


@dataclass(frozen=True)
class Picture:
    """A figure that is yet to be drawn."""

    title: str
    description: str
    width: float
    height: float
    draw: Callable[[Figure], None]

    def figure(self) -> Figure:
        """Draw it, with the title above."""
        lines = wrapped(self.title, POINTS * self.width - 2 * MARGIN)
        heading = (2 * MARGIN + LEADING * FINDING_TEXT * len(lines)) / POINTS
        whole = self.height + heading
        layout = ConstrainedLayoutEngine(rect=(0.0, 0.0, 1.0, self.height / whole))
        figure = Figure(figsize=(self.width, whole), layout=layout)
        self.draw(figure)
        figure.text(
            MARGIN / POINTS / self.width,
            1.0 - MARGIN / POINTS / whole,
            "\n".join(lines),
            fontsize=FINDING_TEXT,
            fontweight="bold",
            linespacing=LEADING,
            verticalalignment="top",
        ).set_in_layout(False)
        return figure


def wrapped(text: str, width: float, size: float = FINDING_TEXT, weight: str = "bold") -> list[str]:
    """Lines no wider than ``width`` points, but for single words, with some to spare."""
    # Viewers without the family of the style set its letters in others, or round their places.
    letters = FontProperties(size=size, weight=weight)
    lines = [""]
    for word in text.replace(" %", "\u00a0%").split(" "):
        longer = f"{lines[-1]} {word}".strip()
        reach, _, _ = text_to_path.get_text_width_height_descent(longer, letters, ismath=False)
        if lines[-1] and reach > SHARE * width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def legend_outside(
    figure: Figure,
    handles: Iterable[Artist | Mark],
    *,
    above: bool = True,
    columns: int,
    **look: Any,
) -> Legend:
    """A legend above or below all panels, which make room for it."""
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)  # pictures have one
    left, bottom, width, height = engine.get()["rect"]
    legend = figure.legend(
        handles=[each.handle if isinstance(each, Mark) else each for each in handles],
        loc="upper left" if above else "lower left",
        bbox_to_anchor=(0.0, bottom + height if above else bottom),
        ncols=columns,
        **look,
    )
    legend.set_in_layout(False)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    taken = (legend.get_window_extent(renderer).height / figure.dpi + GAP / POINTS) / (
        figure.get_figheight()
    )
    engine.set(rect=(left, bottom if above else bottom + taken, width, height - taken))
    return legend


def save_picture(picture: Picture, path: Path) -> None:
    """Save as SVG with title and description; bytes repeat under the project's ``svg.hashsalt``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = StringIO()
    metadata = {"Date": None, "Creator": None, "Title": picture.title}
    picture.figure().savefig(drawn, format="svg", metadata=metadata)
    head, end, rest = drawn.getvalue().partition("</title>\n")
    description = f" <desc>{escape(picture.description)}</desc>\n"
    path.write_text(head + end + description + rest, encoding="utf-8")


SPREAD = 0.62  # share of a row that its marks take


def dot_plot(
    axes: Axes,
    points: pl.DataFrame,
    rows: Mapping[str, str],
    marks: Mapping[str, Mark],
    *,
    spread: float = SPREAD,
    scale: float = 100.0,
    heavy_above: Collection[str] = (),
    lanes: Mapping[str, int] | None = None,
) -> None:
    """Draw values with their intervals along the horizontal axis, the first row on top.

    Marks have a lane of the row each, or those that ``lanes`` gives them.
    """
    positions = {row: position for position, row in enumerate(rows)}
    lane = lanes or {name: place for place, name in enumerate(marks)}
    count = max(lane.values()) + 1
    offsets = np.linspace(-spread / 2, spread / 2, count) if count > 1 else np.zeros(1)
    for name, mark in marks.items():
        drawn = points.filter(pl.col("mark") == name, pl.col("row").is_in(list(rows)))
        if drawn.is_empty():
            continue
        value, low, high = (
            scale * drawn[column].cast(pl.Float64).to_numpy()
            for column in ("value", "ci_low", "ci_high")
        )
        at = np.array([positions[row] for row in drawn["row"]]) + offsets[lane[name]]
        # not as error bars, which must hold the value: a bootstrap interval need not
        axes.hlines(at, low, high, color=mark.colour, linewidth=0.9)
        axes.plot(value, at, linestyle="none", label=mark.label, **mark.look)
    rule_rows(axes, rows, heavy_above=heavy_above)


def rule_rows(axes: Axes, rows: Mapping[str, str], *, heavy_above: Collection[str] = ()) -> None:
    """Name the rows, and draw a line between each and the next."""
    for position, row in enumerate(rows):
        if position:
            heavy = row in heavy_above
            colour, width = (BLACK, 0.8) if heavy else (GREY, THIN / 2)
            axes.axhline(position - 0.5, color=colour, linewidth=width, zorder=0)
    axes.set_yticks(range(len(rows)), list(rows.values()))
    axes.set_ylim(len(rows) - 0.4, -0.6)  # room for marks of the outer rows
    axes.tick_params(axis="y", length=0)


def beside_rows(axes: Axes, heading: str, texts: Iterable[str]) -> None:
    """A text at the right of each row of a dot plot, and what they are above the first."""
    right, named = axes.secondary_yaxis("right"), list(texts)
    right.set_yticks(range(len(named)), named)
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)
    axes.text(1.01, 1.0, heading, transform=axes.transAxes, va="bottom")


def dot_panels(
    figure: Figure,
    points: pl.DataFrame,
    rows: Mapping[str, str],
    marks: Mapping[str, Mark],
    panels: Mapping[str, str],
    *,
    spread: float = SPREAD,
    heavy_above: Collection[str] = (),
    guide: bool = True,
) -> list[Axes]:
    """A dot plot per condition, side by side, over the same rows."""
    grid = list(figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0])
    first = points.filter(pl.col("panel") == next(iter(panels)), pl.col("mark").is_in(list(marks)))
    guides = {
        row: (group["mark"][0], group["value"][0])
        for (row,), group in first.group_by("row")
        if group.height == 1 and row in rows
    }
    for number, (axes, (panel, title)) in enumerate(zip(grid, panels.items(), strict=True)):
        of_panel = points.filter(pl.col("panel") == panel)
        dot_plot(axes, of_panel, rows, marks, spread=spread, heavy_above=heavy_above)
        axes.set_title(title)
        present = set(of_panel.select("row", "mark").rows())
        for position, row in enumerate(rows):
            if guide and number and row in guides and (row, guides[row][0]) in present:
                at = [100 * guides[row][1]] * 2
                axes.plot(at, [position - 0.4, position + 0.4], color=GREY, zorder=1)
    return grid
