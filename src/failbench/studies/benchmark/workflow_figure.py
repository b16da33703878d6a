"""Figure of the workflow: from an injected cause to a diagnosis, as boxes and arrows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from failbench.methods.catalogue import ENTRIES
from failbench.reporting.picture import POINTS, Picture
from failbench.reporting.style import (
    BLACK,
    BLUE,
    FULL_WIDTH,
    GREEN,
    GREY,
    LEAST_TEXT,
    PURPLE,
    SKY,
    THIN,
    VERMILLION,
)
from failbench.studies.benchmark.canvas import canvas, line_height, lines_of
from failbench.studies.benchmark.declarations import Box, Workflow, workflow

EDGE: Final = 3.0
ACROSS: Final = 8.0
"""Points between boxes of a row."""

DOWN: Final = 13.0
"""Points between rows; more where arrows cross, by what each arrow adds."""

CROSSING: Final = 1.4
PADDING: Final = 4.0
ROUND: Final = 2.5
SOURCE_COLOURS: Final = (SKY, VERMILLION, BLUE, GREEN)
"""Of the sources of the methods, from left to right, and of what comes from each."""


WORKFLOW_POINTS: Final = pl.Schema(
    {
        "row": pl.Int64,
        "box": pl.String,
        "title": pl.String,
        "text": pl.String,
        "from": pl.String,
        "left": pl.Float64,
        "top": pl.Float64,
        "width": pl.Float64,
        "height": pl.Float64,
    }
)


@dataclass(frozen=True)
class Placed:
    """A box with its texts in lines, in points from the left and the top."""

    box: Box
    left: float
    top: float
    width: float
    height: float
    title: tuple[str, ...]
    text: tuple[str, ...]

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


def arrows(declared: Workflow) -> tuple[tuple[str, str], ...]:
    """All arrows: the declared ones, and from each source to the methods that read it."""
    read = {
        box.id: {source for method in box.methods for source in ENTRIES[method].reads}
        for box in declared.boxes
        if box.methods
    }
    of_catalogue = (
        (box.id, reader)
        for box in declared.boxes
        for reader, sources in read.items()
        if sources & set(box.sources)
    )
    return (*declared.arrows, *of_catalogue)


def workflow_points(counts: Mapping[str, int]) -> pl.DataFrame:
    """What is drawn: a row a box, with the boxes that arrows come from, and its place in points."""
    declared = workflow()
    placed = placed_boxes(declared, counts)
    joined = arrows(declared)
    rows = []
    for number, row in enumerate(declared.rows):
        for box in row:
            each = placed[box.id]
            before = " ".join(start for start, end in joined if end == box.id)
            place = (each.left, each.top, each.width, each.height)
            texts = (" ".join(each.title), " ".join(each.text))
            rows.append((number, box.id, *texts, before, *(round(value, 1) for value in place)))
    return pl.DataFrame(rows, schema=WORKFLOW_POINTS, orient="row")


def workflow_picture(counts: Mapping[str, int]) -> Picture:
    """The workflow over the width of a page."""
    declared = workflow()
    placed = placed_boxes(declared, counts)
    height = (max(each.bottom for each in placed.values()) + EDGE) / POINTS
    return Picture(
        "From an injected cause to a diagnosis: what is recorded, what each kind of method reads "
        "of it, and what is held back from it",
        "Boxes from top to bottom, joined by arrows: a scenario and its twin; the recorder; "
        "telemetry and the log of the monitor; what methods read of them; the methods, each below "
        "arrows from what it reads; a diagnosis; the studies, which compare it with the injected "
        "cause.",
        FULL_WIDTH,
        height,
        partial(_draw, declared, placed, height),
    )


def placed_boxes(declared: Workflow, counts: Mapping[str, int]) -> dict[str, Placed]:
    """Where each box stands, by its id."""
    joined = arrows(declared)
    placed: dict[str, Placed] = {}
    top = EDGE
    for row in declared.rows:
        into = sum(end in {box.id for box in row} for _, end in joined)
        if placed:
            top += DOWN + CROSSING * max(0, into - len(row))
        of_row = _placed_row(row, top, counts)
        placed |= {each.box.id: each for each in of_row}
        top = max(each.bottom for each in of_row)
    return placed


def _placed_row(row: Iterable[Box], top: float, counts: Mapping[str, int]) -> list[Placed]:
    """Boxes as wide as their shares say, and all as high as the highest."""
    boxes = list(row)
    room = POINTS * FULL_WIDTH - 2 * EDGE - ACROSS * (len(boxes) - 1)
    whole = sum(box.share for box in boxes)
    widths = [room * box.share / whole for box in boxes]
    texts = [
        (
            lines_of(box.title.format(**counts), width - 2 * PADDING, bold=True),
            lines_of(box.text.format(**counts), width - 2 * PADDING) if box.text else (),
        )
        for box, width in zip(boxes, widths, strict=True)
    ]
    height = line_height() * max(len(title) + len(text) for title, text in texts) + 2 * PADDING
    left, placed = EDGE, []
    for box, width, (title, text) in zip(boxes, widths, texts, strict=True):
        placed.append(Placed(box, left, top, width, height, title, text))
        left += width + ACROSS
    return placed


def _draw(declared: Workflow, placed: Mapping[str, Placed], height: float, figure: Figure) -> None:
    axes = canvas(figure, height)
    sources = [box.id for box in declared.boxes if box.sources]
    colours = dict(zip(sources, SOURCE_COLOURS, strict=True))
    for name, each in placed.items():
        _draw_box(axes, each, colours.get(name) or _colour(each.box))
    joined = arrows(declared)
    for start, end in joined:
        _draw_arrow(axes, placed, joined, (start, end), colours.get(start) or GREY)


def _colour(box: Box) -> str:
    """Of a box that is no source: methods stand out."""
    return PURPLE if box.methods else BLACK


def _draw_box(axes: Axes, each: Placed, colour: str) -> None:
    inner = (each.left + ROUND, each.top + ROUND)
    axes.add_patch(
        FancyBboxPatch(
            inner,
            each.width - 2 * ROUND,
            each.height - 2 * ROUND,
            boxstyle=f"round,pad={ROUND}",
            facecolor="white",
            edgecolor=colour,
            linewidth=2 * THIN,
        )
    )
    lines = [*((text, "bold") for text in each.title), *((text, "normal") for text in each.text)]
    first = each.top + each.height / 2 - line_height() * (len(lines) - 1) / 2
    for number, (text, weight) in enumerate(lines):
        axes.text(
            each.left + each.width / 2,
            first + number * line_height(),
            text,
            fontsize=LEAST_TEXT,
            fontweight=weight,
            horizontalalignment="center",
            verticalalignment="center_baseline",
        )


def _draw_arrow(
    axes: Axes,
    placed: Mapping[str, Placed],
    joined: Iterable[tuple[str, str]],
    arrow: tuple[str, str],
    colour: str,
) -> None:
    """An arrow from the lower edge of a box to the upper edge of another.

    Arrows that share a box leave and reach it side by side, in the order of their other ends.
    """
    start, end = arrow
    leaving = sorted((other for first, other in joined if first == start), key=_left(placed))
    reaching = sorted((first for first, other in joined if other == end), key=_left(placed))
    begins, ends = placed[start], placed[end]
    axes.add_patch(
        FancyArrowPatch(
            (_beside(begins, leaving.index(end), len(leaving)), begins.bottom),
            (_beside(ends, reaching.index(start), len(reaching)), ends.top),
            arrowstyle="-|>",
            mutation_scale=6,
            shrinkA=0,
            shrinkB=0,
            color=colour,
            linewidth=1.6 * THIN,
        )
    )


def _left(placed: Mapping[str, Placed]) -> Callable[[str], float]:
    return lambda name: placed[name].left


def _beside(each: Placed, place: int, of: int) -> float:
    """Where the arrow in this place, of so many, meets an edge."""
    return each.left + each.width * (place + 1) / (of + 1)
