"""Style: colours that most eyes can tell apart, and figures that are saved to the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from failbench.scenarios import Category

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#999999"
"""The palette of Okabe and Ito (2008), "Color Universal Design", and a grey for what is healthy."""

CATEGORY_COLOURS: Final[dict[Category, str]] = {
    "memory_hardware": BLUE,
    "optimization": ORANGE,
    "data_pipeline": GREEN,
    "model_software": PURPLE,
    "unknown": VERMILLION,
}

TWIN: Final = GREY
LINE: Final = BLUE
MARK: Final = BLACK


def save_svg(figure: Figure, path: Path) -> None:
    """Save a figure as SVG without a date or a program's version in it.

    The bytes repeat only under the project's matplotlibrc, whose ``svg.hashsalt`` fixes the ids.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
