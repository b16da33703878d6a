"""Drawings of the benchmark, laid out by hand: the tree of the improved rules, and the workflow."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, Self

import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.textpath import text_to_path
from pydantic import Field, model_validator

from failbench import study as st
from failbench.methods.improved_tree import TREE
from failbench.methods.rules import Declared
from failbench.study.rule_words import short

WIDTH = st.POINTS * st.FULL_WIDTH
LINE = 1.2 * st.LEAST_TEXT
"""Points from one line of the least size of letters to the next."""

EDGE, GAP, PADDING, ROUND = 3.0, 4.0, 4.0, 2.5


def canvas(figure: Figure, height: float) -> Axes:
    """Axes over all but the title of a figure: points from the left, and down from the top."""
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, height / figure.get_figheight()))
    axes.set(xlim=(0.0, st.POINTS * figure.get_figwidth()), ylim=(st.POINTS * height, 0.0))
    axes.set_axis_off()
    return axes


def width_of(text: str) -> float:
    """Points that a text of the least size takes, with some to spare for viewers' own letters."""
    letters = FontProperties(size=st.LEAST_TEXT)
    width, _, _ = text_to_path.get_text_width_height_descent(text, letters, ismath=False)
    return float(width) / st.SHARE


lines_of = partial(st.wrapped, size=st.LEAST_TEXT, weight="normal")
"""A text of the least size in lines no wider than some points."""


PAGE = 8.05
"""Inches that the rows may take, on a page with a title above them."""

INDENT = 11.0
"""Points from a node to its children."""

MARK_WIDTH, MARK_HEIGHT = 10.0, 8.4
WHEN, CONFIRMS = 0.425, 0.645
"""Where two columns begin, as shares of the width."""

LEAF = 2
"""Depth of the leaves."""

LETTERS = dict(zip(st.CATEGORIES, "MODSU", strict=True))
BRIGHT = 0.45
"""Brightness from which letters on a colour are black."""

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the brightness of a colour (ITU-R BT.601)."""


class Node(NamedTuple):
    """A node in words, in the order in which it is asked."""

    depth: int
    node: str
    name: str
    when: str
    answer: str
    confirms: str
    against: str
    source: str


def nodes() -> list[Node]:
    """The nodes of the tree, each refinement before its leaves."""
    rows = [Node(0, "0", st.words(TREE.name), "", "", "", "", TREE.source)]
    for place, each in enumerate(TREE.refinements, start=1):
        reached = named(each.when) or "else"
        rows.append(Node(1, f"{place}", st.words(each.name), reached, "", "", "", each.source))
        for number, leaf in enumerate(each.leaves, start=1):
            answer = leaf.category or f"abstains: {st.words(str(leaf.reason))}"
            confirms, against = (
                named(conditions) if leaf.category else ""
                for conditions in (leaf.confirms, leaf.against)
            )
            name, reached = st.words(leaf.name), named(leaf.when) or "else"
            asked = (name, reached, answer, confirms, against, leaf.source)
            rows.append(Node(LEAF, f"{place}.{number}", *asked))
    return rows


def named(conditions: Sequence[Declared]) -> str:
    return ", ".join(map(short, conditions))


def draw_tree(of_tree: Sequence[Node], figure: Figure) -> None:
    axes = canvas(figure, PAGE)
    texts = [lines_of_node(node) for node in of_tree]
    lines = [max(map(len, columns)) for columns in texts]
    heading, legend = 1.5 * LINE, 2.8 * LINE
    gap = (st.POINTS * PAGE - heading - legend - sum(lines) * LINE) / len(of_tree)
    headings = {
        EDGE: "node",
        WHEN * WIDTH: "reached when",
        CONFIRMS * WIDTH: "names it if all hold",
    }
    for place, text in headings.items():
        write(axes, place, heading / 2, text, color=st.GREY)
    top = heading
    middles: list[float] = []
    for node, columns, height in zip(of_tree, texts, lines, strict=True):
        middles.append(top + gap / 2 + LINE / 2)
        draw_node(axes, node, columns, middles[-1])
        top += height * LINE + gap
    connect(axes, of_tree, middles)
    for place, (answer, label) in enumerate(({**st.CATEGORY_LABELS} | {"": "Abstains"}).items()):
        row, column = divmod(place, 3)
        left = EDGE + column * WIDTH / 3
        middle = st.POINTS * PAGE - legend + (0.8 + 1.2 * row) * LINE
        draw_mark(axes, left, middle, answer)
        write(axes, left + MARK_WIDTH + GAP / 2, middle, label)


def start(node: Node) -> float:
    """Where the name of a node begins."""
    return EDGE + INDENT * node.depth + (MARK_WIDTH + GAP if node.depth == LEAF else 0.0)


def weight_of(node: Node) -> str:
    return "bold" if node.depth < LEAF else "normal"


def lines_of_node(node: Node) -> tuple[list[str], ...]:
    """Name, what leads to it, and what confirms it or its answer, in lines."""
    return (
        lines_of(node.name, WHEN * WIDTH - start(node) - GAP, weight=weight_of(node)),
        lines_of(node.when, (CONFIRMS - WHEN) * WIDTH - GAP),
        lines_of(node.confirms or node.answer, (1.0 - CONFIRMS) * WIDTH - EDGE),
    )


def draw_node(axes: Axes, node: Node, columns: Sequence[Sequence[str]], middle: float) -> None:
    """A row whose first lines are centred on ``middle``."""
    left = start(node)
    if node.depth == LEAF:
        draw_mark(axes, left - MARK_WIDTH - GAP, middle, node.answer)
    for place, lines in zip((left, WHEN * WIDTH, CONFIRMS * WIDTH), columns, strict=True):
        weight = weight_of(node) if place == left else "normal"
        for number, text in enumerate(lines):
            if text:
                write(axes, place, middle + number * LINE, text, fontweight=weight)


def draw_mark(axes: Axes, left: float, middle: float, answer: str) -> None:
    category = next((each for each in st.CATEGORIES if each == answer), None)
    colour = st.CATEGORY_COLOURS[category] if category else "white"
    corner, edge = (left, middle - MARK_HEIGHT / 2), colour if category else st.GREY
    look: dict[str, Any] = {"facecolor": colour, "edgecolor": edge, "linewidth": st.THIN}
    axes.add_patch(Rectangle(corner, MARK_WIDTH, MARK_HEIGHT, **look, zorder=2))
    brightness = sum(weight * part for weight, part in zip(LUMA, to_rgb(colour), strict=True))
    letter = LETTERS[category] if category else st.ABSENT
    look = {"color": st.BLACK if brightness > BRIGHT else "white", "fontweight": "bold"}
    write(axes, left + MARK_WIDTH / 2, middle, letter, horizontalalignment="center", **look)


def connect(axes: Axes, of_tree: Sequence[Node], middles: Sequence[float]) -> None:
    """A line down from each node that has children, and one from it to each of them."""
    for place, node in enumerate(of_tree):
        if not node.depth:
            continue
        parent = max(each for each in range(place) if of_tree[each].depth < node.depth)
        stem = EDGE + INDENT * (node.depth - 1) + INDENT / 3
        across = [stem, stem, stem + INDENT / 2]
        down = [middles[parent] + LINE / 2, middles[place], middles[place]]
        axes.plot(across, down, color=st.PALE, linewidth=2 * st.THIN, zorder=0)


def write(axes: Axes, x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, fontsize=st.LEAST_TEXT, verticalalignment="center_baseline", **look)


ACROSS = 8.0
"""Points between boxes of a row."""

CHANNEL = 9.0
"""Points on the right of the boxes, for arrows that pass them."""

DOWN, CROSSING = 13.0, 1.4
"""Points between rows; more where arrows cross, by what each arrow adds."""

SOURCE_COLOURS = (st.SKY, st.VERMILLION, st.BLUE, st.GREEN)
"""Of the sources of the methods, from left to right, and of what comes from each."""

Text = Annotated[str, Field(min_length=1)]


class Box(st.Record):
    """A box of the workflow."""

    id: Text
    title: Text
    text: str = ""
    share: float = Field(default=1.0, gt=0)
    sources: tuple[st.Source, ...] = ()
    methods: tuple[str, ...] = ()


class Workflow(st.Record):
    """Boxes by row from top to bottom, and arrows that the catalogue of methods does not give.

    Those of ``around`` pass the others on the right.
    """

    rows: tuple[tuple[Box, ...], ...] = Field(min_length=2)
    arrows: tuple[tuple[str, str], ...]
    around: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...]

    @model_validator(mode="after")
    def _names_methods(self) -> Self:
        named = {method for box in self.boxes for method in box.methods}
        if unknown := sorted({*named, *self.left_out} - set(st.ENTRIES)):
            raise ValueError(f"{', '.join(unknown)} is not in the catalogue of methods")
        return self

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, row by row."""
        return tuple(box for row in self.rows for box in row)

    @property
    def joined(self) -> tuple[tuple[str, str], ...]:
        """All arrows: the declared ones, and from each source to the methods that read it."""
        of_catalogue = (
            (box.id, reader.id)
            for box in self.boxes
            for reader in self.boxes
            if any(st.ENTRIES[method].reads & set(box.sources) for method in reader.methods)
        )
        return (*self.arrows, *of_catalogue)


class Place(NamedTuple):
    """Where a box stands, in points from the left and the top, and its texts in lines."""

    left: float
    top: float
    width: float
    height: float
    title: list[str]
    text: list[str]

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


def places(workflow: Workflow, counts: Mapping[str, Any]) -> dict[str, Place]:
    """Where each box stands, by its id; its texts name the counts."""
    placed: dict[str, Place] = {}
    top = EDGE
    for row in workflow.rows:
        into = sum(end in {box.id for box in row} for _, end in workflow.joined)
        if placed:
            top += DOWN + CROSSING * max(0, into - len(row))
        placed |= places_of_row(row, top, counts)
        top = placed[row[0].id].bottom
    return placed


def places_of_row(row: Sequence[Box], top: float, counts: Mapping[str, Any]) -> dict[str, Place]:
    """Boxes as wide as their shares say, and all as high as the highest."""
    room = WIDTH - 2 * EDGE - CHANNEL - ACROSS * (len(row) - 1)
    whole = sum(box.share for box in row)
    widths = [room * box.share / whole for box in row]
    texts = [
        (
            lines_of(box.title.format(**counts), width - 2 * PADDING, weight="bold"),
            lines_of(box.text.format(**counts), width - 2 * PADDING) if box.text else [],
        )
        for box, width in zip(row, widths, strict=True)
    ]
    height = LINE * max(len(title) + len(text) for title, text in texts) + 2 * PADDING
    left, placed = EDGE, {}
    for box, width, (title, text) in zip(row, widths, texts, strict=True):
        placed[box.id] = Place(left, top, width, height, title, text)
        left += width + ACROSS
    return placed


def height_of(placed: Mapping[str, Place]) -> float:
    """Inches down to the lowest edge."""
    return (max(place.bottom for place in placed.values()) + EDGE) / st.POINTS


def workflow_points(workflow: Workflow, placed: Mapping[str, Place]) -> pl.DataFrame:
    """What is drawn: a row a box, with the boxes that arrows come from, and its place in points."""
    return pl.DataFrame(
        {
            "row": number,
            "box": box.id,
            "title": " ".join(placed[box.id].title),
            "text": " ".join(placed[box.id].text),
            "from": " ".join(start for start, end in workflow.joined if end == box.id),
            **{name: round(getattr(placed[box.id], name), 1) for name in Place._fields[:4]},
        }
        for number, row in enumerate(workflow.rows)
        for box in row
    )


TINT = 0.15
"""How strongly a box is filled with its colour."""


def draw_workflow(workflow: Workflow, placed: Mapping[str, Place], figure: Figure) -> None:
    axes = canvas(figure, height_of(placed))
    sources = [box.id for box in workflow.boxes if box.sources]
    colours = dict(zip(sources, SOURCE_COLOURS, strict=True))
    for box in workflow.boxes:  # methods and what they read stand out
        other = st.PURPLE if box.methods else st.BLACK
        tint = TINT if box.methods or box.sources else 0.0
        draw_box(axes, placed[box.id], colours.get(box.id, other), tint)
    for start, end in workflow.around:
        first, last = placed[start], placed[end]
        level, target = first.top + first.height / 2, last.top + last.height / 2
        edge, turn = first.left + first.width, WIDTH - EDGE
        axes.plot([edge, turn, turn], [level, level, target], color=st.BLACK, linewidth=st.THICK)
        head: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 7,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        side = (turn, target), (last.left + last.width, target)
        axes.add_patch(FancyArrowPatch(*side, color=st.BLACK, linewidth=st.THICK, **head))
    for start, end in workflow.joined:
        # arrows that share a box leave and reach it side by side, in the order of their other ends
        leaving = [to for of, to in workflow.joined if of == start]
        reaching = [of for of, to in workflow.joined if to == end]
        begins = beside(placed, start, end, leaving), placed[start].bottom
        ends = beside(placed, end, start, reaching), placed[end].top
        look: dict[str, Any] = {"color": colours.get(start, st.GREY), "linewidth": 1.6 * st.THIN}
        axes.add_patch(
            FancyArrowPatch(
                begins, ends, arrowstyle="-|>", mutation_scale=6, shrinkA=0, shrinkB=0, **look
            )
        )


def beside(placed: Mapping[str, Place], box: str, other: str, others: Sequence[str]) -> float:
    """Where the arrow between a box and another, one of several, meets its edge."""
    number = sorted(others, key=lambda name: placed[name].left).index(other)
    return placed[box].left + placed[box].width * (number + 1) / (len(others) + 1)


def draw_box(axes: Axes, place: Place, colour: str, tint: float) -> None:
    corner = place.left + ROUND, place.top + ROUND
    size = place.width - 2 * ROUND, place.height - 2 * ROUND
    filled = to_rgba(colour, tint)
    look: dict[str, Any] = {"facecolor": filled, "edgecolor": colour, "linewidth": 2 * st.THIN}
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=f"round,pad={ROUND}", **look))
    lines = [*((text, "bold") for text in place.title), *((text, "normal") for text in place.text)]
    first = place.top + place.height / 2 - LINE * (len(lines) - 1) / 2
    for number, (text, weight) in enumerate(lines):
        middle = place.left + place.width / 2, first + number * LINE
        write(axes, *middle, text, fontweight=weight, horizontalalignment="center")
