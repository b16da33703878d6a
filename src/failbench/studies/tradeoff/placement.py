"""Placement: labels beside the points of a figure, over nothing that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

Array = npt.NDArray[np.float64]

DISTANCES = np.arange(4.0, 90.0, 4.0)
"""Distances to try from a point to its label, in points of 1/72 inch."""

LEADER_FROM = 8.0
"""From this distance on, a line leads from the point to its label."""

DIRECTIONS = np.radians([0, 180, 30, 330, 150, 210, 45, 315, 135, 225, 60, 300, 120, 240])
"""Directions to try; of two that are as good as each other, the first is taken. None is straight up
or down, where an interval would hide the line."""

CROSSING = 25.0
"""Distance, in points, that a line may be longer to cross one thing less."""

NEAR = 12.0
"""Distance, in points, within which a label could be taken for that of another point."""

MARGIN = 0.5
"""Space that is kept free around a label, in points."""

ROUNDS = 3
"""How often every label is placed; from the second time on, with all others in place."""


@dataclass(frozen=True)
class Label:
    """What a point is called, and where the point is, in the units of the axes."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class _Choices:
    """Where a label could go: pixels of the canvas, boxes as x and y of two corners.

    Attributes
    ----------
    point
        What is labelled, of shape ``[2]``.
    boxes, ends
        Of the label, ``[n_choices, 4]``, and where a line from the point would meet it,
        ``[n_choices, 2]``.
    leads
        Whether there is such a line, ``[n_choices]``.
    hidden, detour
        What each choice costs whatever becomes of the other labels, ``[n_choices]``: pixels of
        drawing that are covered or of label that are lost; and points from the point, with some
        for each thing that the line crosses and for each other point that is near.
    """

    point: Array
    boxes: Array
    ends: Array
    leads: npt.NDArray[np.bool_]
    hidden: Array
    detour: Array


def place_labels(
    axes: Axes, labels: Sequence[Label], drawn: Sequence[Bbox], *, size: float
) -> list[Annotation]:
    """Write a label to each point where it covers nothing, as near as it goes.

    Labels are placed one after another, and again when all others are, each at the nearest place
    where it lies within the axes and clear of what is drawn, of the other labels and of the lines
    that lead to them. Where there is no such place, the one that hides least is taken. Of several
    orders of placing them the one with the best result is kept. The axes must have their final
    position and limits, so this is called last.

    Parameters
    ----------
    axes
        Where to write.
    labels
        At least one.
    drawn
        What must stay visible, in pixels of the canvas.
    size
        Of the letters, in points.

    Returns
    -------
    list of Annotation
        What was written, in the order of ``labels``.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    pixel = figure.dpi / 72
    frame = np.array(axes.get_window_extent(renderer).extents)
    obstacles = np.array([box.extents for box in drawn]).reshape(-1, 4)
    notes = [
        axes.annotate(
            label.text,
            (label.x, label.y),
            xytext=(0.0, 0.0),
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=size,
            zorder=4,
        )
        for label in labels
    ]
    points = axes.transData.transform([note.xy for note in notes])
    choices = [
        _choices(
            points[number],
            np.array(note.get_window_extent(renderer).size),
            np.delete(points, number, axis=0),
            frame,
            obstacles,
            pixel,
        )
        for number, note in enumerate(notes)
    ]
    for note, one, chosen in zip(notes, choices, _arranged(choices), strict=True):
        note.set_in_layout(False)
        corner = one.boxes[chosen, :2] + MARGIN * pixel
        note.set_position(tuple((corner - one.point) / pixel))
        if one.leads[chosen]:
            axes.annotate(
                "",
                note.xy,
                xytext=tuple((one.ends[chosen] - one.point) / pixel),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.35, "shrinkA": 0, "shrinkB": 3},
            ).set_in_layout(False)
    return notes


def _choices(
    point: Array, extent: Array, others: Array, frame: Array, drawn: Array, pixel: float
) -> _Choices:
    """Every place of a label whose nearest edge or corner lies at one of the distances."""
    distance, direction = (
        grid.ravel() for grid in np.meshgrid(DISTANCES, DIRECTIONS, indexing="ij")
    )
    towards = np.stack([np.cos(direction), np.sin(direction)], axis=1).round(6)
    anchor = point + (distance * pixel)[:, np.newaxis] * towards
    # right of its anchor, left of it, or centred on it
    corner = anchor - extent * (1.0 - np.sign(towards)) / 2.0
    margin = MARGIN * pixel
    boxes = np.concatenate([corner - margin, corner + extent + margin], axis=1)
    ends = np.clip(point, corner, corner + extent)
    leads = distance >= LEADER_FROM

    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    lost = area - _overlaps(boxes, frame[np.newaxis])[:, 0]
    own = np.all((drawn[:, :2] <= point) & (point <= drawn[:, 2:]), axis=1)
    crossings = _crosses(point, ends, drawn[~own]).sum(axis=1)
    gaps = others - np.clip(others, boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:])
    nearness = np.clip(NEAR - np.linalg.norm(gaps, axis=2) / pixel, 0.0, None).sum(axis=1)
    return _Choices(
        point,
        boxes,
        ends,
        leads,
        hidden=lost + _overlaps(boxes, drawn).sum(axis=1),
        detour=distance + CROSSING * leads * crossings + nearness,
    )


def _arranged(choices: Sequence[_Choices]) -> list[int]:
    """Which of its choices each label gets: the best of the arrangements from several orders."""
    forwards = list(range(len(choices)))
    orders = [
        order[start:] + order[:start] for order in (forwards, forwards[::-1]) for start in forwards
    ]
    found = [_in_order(choices, order) for order in orders]
    return min(found, key=lambda one: one[0])[1]


def _in_order(
    choices: Sequence[_Choices], order: Sequence[int]
) -> tuple[tuple[float, float], list[int]]:
    """The arrangement from placing labels in an order, after what it hides and its detours."""
    chosen: dict[int, int] = {}
    costs: dict[int, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for number in order:
            one = choices[number]
            others = [(choices[other], chosen[other]) for other in chosen if other != number]
            hidden = (one.hidden + _hidden(one, others)).round(3)
            best = int(np.lexsort((one.detour, hidden))[0])
            chosen[number] = best
            costs[number] = float(hidden[best]), float(one.detour[best])
    total = sum(cost[0] for cost in costs.values()), sum(cost[1] for cost in costs.values())
    return total, [chosen[number] for number in range(len(choices))]


def _hidden(one: _Choices, others: Sequence[tuple[_Choices, int]]) -> Array:
    """What each choice hides of other labels, or they of it.

    A line through a label hides it all, and a line that crosses another is as bad.
    """
    hidden = np.zeros(len(one.boxes))
    area = np.prod(one.boxes[0, 2:] - one.boxes[0, :2])
    for other, place in others:
        box = other.boxes[[place]]
        hidden += _overlaps(one.boxes, box)[:, 0]
        hidden += area * one.leads * _crosses(one.point, one.ends, box)[:, 0]
        if other.leads[place]:
            end = other.ends[place]
            hidden += area * _crosses(other.point, end[np.newaxis], one.boxes)[0]
            hidden += area * one.leads * _meets(one.point, one.ends, other.point, end)
    return hidden


def _overlaps(boxes: Array, others: Array) -> Array:
    """Areas that boxes share, of shape ``[n_boxes, n_others]``."""
    one, other = boxes[:, np.newaxis], others[np.newaxis]
    low, high = np.maximum(one[..., :2], other[..., :2]), np.minimum(one[..., 2:], other[..., 2:])
    areas: Array = np.prod(np.clip(high - low, 0.0, None), axis=2)
    return areas


def _crosses(start: Array, ends: Array, boxes: Array) -> npt.NDArray[np.bool_]:
    """Whether lines from one point touch boxes, of shape ``[n_ends, n_boxes]``.

    A line is inside a box for the shares of its length for which it is between both pairs of
    sides.
    """
    run = (ends - start)[:, np.newaxis]
    # a line along an axis never reaches the sides that it is parallel to, but may lie between them
    run = np.where(np.abs(run) < 1e-9, 1e-9, run)
    sides = np.stack([(boxes[:, :2] - start) / run, (boxes[:, 2:] - start) / run])
    entered = np.maximum(sides.min(axis=0).max(axis=2), 0.0)
    left = np.minimum(sides.max(axis=0).min(axis=2), 1.0)
    crossed: npt.NDArray[np.bool_] = entered <= left
    return crossed


def _meets(start: Array, ends: Array, from_: Array, to: Array) -> npt.NDArray[np.bool_]:
    """Whether lines from one point cross the line between two others, of shape ``[n_ends]``.

    They do if each has the ends of the other on both its sides.
    """
    apart = _side(from_, to, start) * _side(from_, to, ends) < 0
    crossed: npt.NDArray[np.bool_] = apart & (
        _side(start, ends, from_) * _side(start, ends, to) < 0
    )
    return crossed


def _side(start: Array, end: Array, point: Array) -> Array:
    """Positive where a point is on the left of a line, negative on the right."""
    run, to_point = end - start, point - start
    side: Array = run[..., 0] * to_point[..., 1] - run[..., 1] * to_point[..., 0]
    return side
