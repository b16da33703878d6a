from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from failbench.studies.tradeoff.placement import Label, place_labels

pytestmark = pytest.mark.usefixtures("project_style")


def placed(points, drawn=()):
    """Labels at points of a square whose axes run from 0 to 100, and their boxes in pixels."""
    figure = Figure(figsize=(4, 4))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.set(xlim=(0, 100), ylim=(0, 100))
    boxes = [Bbox(axes.transData.transform(corners)) for corners in drawn]
    notes = place_labels(axes, [Label(f"method {x}", x, y) for x, y in points], boxes, size=7)
    renderer = FigureCanvasAgg(figure).get_renderer()
    extents = [note.get_window_extent(renderer) for note in notes]
    leaders = [text for text in axes.texts if not text.get_text()]
    return axes, extents, boxes, leaders


def shared(one, other):
    common = Bbox.intersection(one, other)
    return 0.0 if common is None else common.width * common.height


def test_a_label_alone_stands_right_beside_its_point_without_a_line():
    axes, (box,), _, leaders = placed([(50, 50)])
    x, y = axes.transData.transform((50, 50))
    assert 0 < box.x0 - x < 10
    assert box.y0 < y < box.y1
    assert leaders == []


def test_labels_of_crowded_points_cover_neither_one_another_nor_what_is_drawn():
    points = [(50 + shift, 50 + shift / 2) for shift in range(0, 16, 2)]
    marks = [((x - 1, y - 1), (x + 1, y + 1)) for x, y in points]
    bars = [((x - 0.2, y - 20), (x + 0.2, y + 20)) for x, y in points]
    _, extents, drawn, leaders = placed(points, [*marks, *bars])
    assert all(shared(*pair) == 0 for pair in combinations(extents, 2))
    assert all(shared(box, one) == 0 for box in extents for one in drawn)
    assert leaders


def test_a_label_at_the_edge_stays_within_the_axes():
    axes, extents, _, _ = placed([(100, 100), (0, 0), (100, 0)])
    frame = axes.get_window_extent()
    for box in extents:
        assert shared(box, frame) == pytest.approx(box.width * box.height)


def test_a_line_leads_from_a_label_that_is_far_to_its_point():
    everything_near = ((40, 40), (60, 60))
    axes, (box,), _, (leader,) = placed([(50, 50)], [everything_near])
    assert leader.xy == (50, 50)
    offset = np.array(leader.xyann) * axes.get_figure().dpi / 72
    end = axes.transData.transform((50, 50)) + offset
    assert box.padded(1.0).contains(*end)
