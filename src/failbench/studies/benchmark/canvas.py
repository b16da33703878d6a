"""Canvas: drawing in points, for figures that are laid out by hand and have no data axes."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from failbench.reporting.picture import POINTS, SHARE
from failbench.reporting.style import LEAST_TEXT

LINE: Final = 1.2
"""Distance between lines, in sizes of the letters."""


def canvas(figure: Figure, height: float) -> Axes:
    """Axes over all but the title of a figure: points from the left, and down from the top."""
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, height / figure.get_figheight()))
    axes.set(xlim=(0.0, POINTS * figure.get_figwidth()), ylim=(POINTS * height, 0.0))
    axes.set_axis_off()
    return axes


def width_of(text: str, *, bold: bool = False) -> float:
    """Points that a text of the least size takes, with some to spare for viewers' own letters."""
    letters = FontProperties(size=LEAST_TEXT, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, letters, ismath=False)
    return float(width) / SHARE


def lines_of(text: str, width: float, *, bold: bool = False) -> tuple[str, ...]:
    """A text in lines that are no wider than some points; a single wider word has one for itself.

    >>> lines_of("", 10.0)
    ('',)
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, bold=bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return tuple(lines)


def line_height() -> float:
    """Points from one line of the least size of letters to the next."""
    return LINE * LEAST_TEXT
