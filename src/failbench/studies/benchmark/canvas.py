"""Canvas: drawing in points, for figures that are laid out by hand and have no data axes."""

from __future__ import annotations

import textwrap
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from failbench.reporting.picture import POINTS
from failbench.reporting.style import LEAST_TEXT

LETTER: Final = 0.56
"""Mean width of a letter of the style's family, in sizes of the letters, with some to spare."""

LINE: Final = 1.2
"""Distance between lines, in sizes of the letters."""


def canvas(figure: Figure, height: float) -> Axes:
    """Axes over all but the title of a figure: points from the left, and down from the top.

    Parameters
    ----------
    figure
        As :meth:`failbench.reporting.picture.Picture.figure` hands it over.
    height
        Of the picture without its title, inches.
    """
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, height / figure.get_figheight()))
    axes.set(xlim=(0.0, POINTS * figure.get_figwidth()), ylim=(POINTS * height, 0.0))
    axes.set_axis_off()
    return axes


def lines_of(text: str, width: float) -> list[str]:
    """A text in lines of the least size of letters that are no wider than some points."""
    return textwrap.wrap(text, max(1, int(width / (LETTER * LEAST_TEXT)))) or [""]


def line_height() -> float:
    """Points from one line of the least size of letters to the next."""
    return LINE * LEAST_TEXT
