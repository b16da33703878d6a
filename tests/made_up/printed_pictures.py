"""What a printer would hold against a picture, whatever it shows."""

from itertools import combinations

from matplotlib.axes._base import _AxesBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from failbench.study.picture import Picture
from failbench.study.style import FULL_WIDTH, HALF_WIDTH, LEAST_TEXT

SLACK = 1.5
"""Pixels by which boxes of letters may overlap: they have some room around them."""


def drawn(picture: Picture) -> Figure:
    """The figure with everything in its place."""
    figure = picture.figure()
    FigureCanvasAgg(figure).draw()
    return figure


def assert_printable(picture: Picture) -> Figure:
    """It has the width of a page, and its texts can be read, all of them and one by one."""
    figure = drawn(picture)
    assert figure.get_figwidth() in (FULL_WIDTH, HALF_WIDTH)
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    undrawn = _undrawn(figure)
    # an extent is laid out anew whenever it is asked for, and a picture has hundreds of texts
    extents = {text: text.get_window_extent() for text in texts if text not in undrawn}
    boxes = {text: box for text, box in extents.items() if box.width}
    for text, box in boxes.items():
        assert text.get_fontsize() >= LEAST_TEXT, text
        assert min(box.x0, box.y0) >= -SLACK, text
        assert max(box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1) <= SLACK, text
    upright = [
        (box.x0, box.x1, box.y0, box.y1, text)
        for text, box in boxes.items()
        if text.get_rotation() % 90 == 0
    ]
    for one, other in combinations(upright, 2):
        width = min(one[1], other[1]) - max(one[0], other[0])
        height = min(one[3], other[3]) - max(one[2], other[2])
        assert min(width, height) <= SLACK, (one[4], other[4])
    return figure


def _undrawn(figure: Figure) -> set[Text]:
    """Labels of ticks beyond the limits of their axes, which matplotlib keeps and does not draw."""
    undrawn = set()
    for axes in figure.findobj(_AxesBase):
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            low, high = sorted(limits)
            room = 1e-6 * (high - low)
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not (axes.axison and low - room <= tick.get_loc() <= high + room):
                    undrawn |= {tick.label1, tick.label2}
    return undrawn
