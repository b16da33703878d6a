"""Figure of the tree of the improved rules: an indented list, a row a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_args

import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from failbench.reporting.labels import CATEGORY_LABELS
from failbench.reporting.picture import POINTS, Picture
from failbench.reporting.style import (
    BLACK,
    CATEGORY_COLOURS,
    FULL_WIDTH,
    GREY,
    LEAST_TEXT,
    PALE,
    THIN,
)
from failbench.studies.benchmark.canvas import canvas, line_height, lines_of, width_of
from failbench.studies.benchmark.conditions import short
from failbench.studies.benchmark.rules_tables import Node, nodes
from failbench.vocabulary import CATEGORIES, Category

PAGE: Final = 8.05
"""Inches that the rows may take, on a page with a title above them."""

WIDTH: Final = POINTS * FULL_WIDTH
EDGE: Final = 3.0
INDENT: Final = 11.0
"""Points from a node to its children."""

MARK_WIDTH, MARK_HEIGHT = 10.0, 8.4
WHEN, CONFIRMS = 0.425, 0.645
"""Where two columns begin, as shares of the width."""

GAP: Final = 4.0
LEAF: Final = 2
"""Depth of the leaves."""

LETTERS: Final[dict[Category, str]] = {
    "memory_hardware": "M",
    "optimization": "O",
    "data_pipeline": "D",
    "model_software": "S",
    "unknown": "U",
}
ABSTAINS: Final = "–"
BRIGHT: Final = 0.45
"""Brightness from which letters on a colour are black."""

LUMA: Final = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the brightness of a colour (ITU-R BT.601)."""

TREE_POINTS: Final = pl.Schema(
    {
        "row": pl.Int64,
        "depth": pl.Int64,
        "node": pl.String,
        "name": pl.String,
        "when": pl.String,
        "answer": pl.String,
        "confirms": pl.String,
    }
)


@dataclass(frozen=True)
class Row:
    """A node with its texts in lines."""

    node: Node
    name: tuple[str, ...]
    when: tuple[str, ...]
    confirms: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Of the longest text."""
        return max(len(self.name), len(self.when), len(self.confirms))


def tree_points(of_tree: Sequence[Node]) -> pl.DataFrame:
    """What is drawn: a row a node, in the order in which they are drawn."""
    rows = [
        (
            place,
            node.depth,
            node.number,
            node.name,
            node.when_words,
            node.answer,
            ", ".join(map(short, node.confirms)),
        )
        for place, node in enumerate(of_tree)
    ]
    return pl.DataFrame(rows, schema=TREE_POINTS, orient="row")


def tree_picture() -> Picture:
    """The tree over a page."""
    of_tree = nodes()
    rows = tuple(map(_row, of_tree))
    leaves = [node for node in of_tree if node.depth == LEAF]
    abstaining = sum(node.answer not in get_args(Category) for node in leaves)
    return Picture(
        f"The improved rules: {len(of_tree)} nodes, of whose {len(leaves)} leaves {abstaining} "
        "always abstain and the others name a category once all their signals hold",
        "A list of the nodes of a tree, indented by level. Each refinement stands above its "
        "leaves; a leaf has a coloured box with the letter of the category that it names, or a "
        "dash where it abstains, its name, what leads to it, and the signals that must confirm it.",
        FULL_WIDTH,
        PAGE,
        partial(_draw, rows),
    )


def _row(node: Node) -> Row:
    start = _start(node)
    confirms = ", ".join(map(short, node.confirms)) if node.confirms else node.answer
    return Row(
        node,
        lines_of(node.name, WHEN * WIDTH - start - GAP, bold=node.depth < LEAF),
        lines_of(node.when_words, (CONFIRMS - WHEN) * WIDTH - GAP),
        lines_of(confirms, (1.0 - CONFIRMS) * WIDTH - EDGE),
    )


def _start(node: Node) -> float:
    """Where the name of a node begins."""
    return EDGE + INDENT * node.depth + (MARK_WIDTH + GAP if node.depth == LEAF else 0.0)


def _draw(rows: Sequence[Row], figure: Figure) -> None:
    axes = canvas(figure, PAGE)
    line = line_height()
    heading, legend = 1.5 * line, 1.6 * line
    taken = sum(row.lines for row in rows) * line
    gap = (POINTS * PAGE - heading - legend - taken) / len(rows)
    for place, text in (
        (EDGE, "node"),
        (WHEN * WIDTH, "reached when"),
        (CONFIRMS * WIDTH, "names it if all hold"),
    ):
        _write(axes, place, heading / 2, text, color=GREY)
    top = heading
    middles = []
    for row in rows:
        middles.append(top + gap / 2 + line / 2)
        _draw_row(axes, row, middles[-1])
        top += row.lines * line + gap
    _connect(axes, [row.node for row in rows], middles)
    _legend(axes, POINTS * PAGE - legend / 2)


def _draw_row(axes: Axes, row: Row, middle: float) -> None:
    """A row whose first lines are centred on ``middle``."""
    node = row.node
    left = _start(node)
    if node.depth == LEAF:
        _mark(axes, left - MARK_WIDTH - GAP, middle, node.answer)
    columns = ((left, row.name), (WHEN * WIDTH, row.when), (CONFIRMS * WIDTH, row.confirms))
    for place, lines in columns:
        for number, text in enumerate(lines):
            if text:
                _write(
                    axes,
                    place,
                    middle + number * line_height(),
                    text,
                    fontweight="bold" if node.depth < LEAF and place == left else "normal",
                )


def _mark(axes: Axes, left: float, middle: float, answer: str) -> None:
    category = next((each for each in CATEGORIES if each == answer), None)
    colour = CATEGORY_COLOURS[category] if category else "white"
    axes.add_patch(
        Rectangle(
            (left, middle - MARK_HEIGHT / 2),
            MARK_WIDTH,
            MARK_HEIGHT,
            facecolor=colour,
            edgecolor=colour if category else GREY,
            linewidth=THIN,
            zorder=2,
        )
    )
    brightness = sum(weight * part for weight, part in zip(LUMA, to_rgb(colour), strict=True))
    _write(
        axes,
        left + MARK_WIDTH / 2,
        middle,
        LETTERS[category] if category else ABSTAINS,
        horizontalalignment="center",
        color=BLACK if brightness > BRIGHT else "white",
        fontweight="bold",
    )


def _connect(axes: Axes, of_tree: Sequence[Node], middles: Sequence[float]) -> None:
    """A line down from each node that has children, and one from it to each of them."""
    for place, node in enumerate(of_tree):
        if not node.depth:
            continue
        parent = max(each for each in range(place) if of_tree[each].depth < node.depth)
        stem = EDGE + INDENT * (node.depth - 1) + INDENT / 3
        axes.plot(
            [stem, stem, stem + INDENT / 2],
            [middles[parent] + line_height() / 2, middles[place], middles[place]],
            color=PALE,
            linewidth=2 * THIN,
            zorder=0,
        )


def _legend(axes: Axes, middle: float) -> None:
    left = EDGE
    entries = [(category, CATEGORY_LABELS[category]) for category in CATEGORIES]
    for answer, label in (*entries, ("", "Abstains")):
        _mark(axes, left, middle, answer)
        _write(axes, left + MARK_WIDTH + GAP / 2, middle, label)
        left += MARK_WIDTH + width_of(label) + 1.5 * GAP


def _write(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, fontsize=LEAST_TEXT, verticalalignment="center_baseline", **look)
