"""Style: sizes of a printed page, colours that most eyes can tell apart, and marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType, MarkerType

from failbench.base.vocabulary import Category

FULL_WIDTH: Final = 5.5
HALF_WIDTH: Final = 2.7
"""Inches: a figure is as wide as the text block, or as half of it, so that none is scaled."""

LEAST_TEXT: Final = 7.0
"""Points: no text is smaller; ``figures/matplotlibrc`` sets most of it to this size."""

FINDING_TEXT: Final = 8.0
"""Points: the finding above a figure."""

THIN: Final = 0.5
THICK: Final = 1.2
"""Points: lines that guide the eye, and lines that the eye must follow."""

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#999999"
PALE: Final = "#CCCCCC"
"""The palette of Okabe and Ito (2008), "Color Universal Design", a grey for what is
healthy, and a pale one for what lies behind."""

INDIGO: Final = "#332288"
MAROON: Final = "#661100"
"""Two dark colours of Tol (2021), "Colour Schemes", that stay apart from these for most eyes."""

CATEGORY_COLOURS: Final[dict[Category, str]] = {
    "memory_hardware": INDIGO,
    "optimization": ORANGE,
    "data_pipeline": GREEN,
    "model_software": SKY,
    "unknown": MAROON,
}
CATEGORY_LINES: Final[dict[Category, LineStyleType]] = {
    "memory_hardware": "-",
    "optimization": "--",
    "data_pipeline": "-.",
    "model_software": ":",
    "unknown": "-",
}
"""For lines that carry no marker; only the darkest two share one, and differ most in colour."""

MARK_SIZE: Final = 4.0
HALF_SIZE: Final = 5.5
"""Points: of marks, and of half filled ones, which are told from full ones by their inside."""

TWIN: Final = GREY
LINE: Final = BLUE
MARK: Final = BLACK


@dataclass(frozen=True)
class Mark:
    """How one set of values is called and drawn."""

    label: str
    colour: str
    marker: MarkerType
    fill: Literal["full", "left", "none"] = "full"
    size: float = MARK_SIZE

    @property
    def look(self) -> Mapping[str, Any]:
        """Keywords of a line with this marker."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": self.size,
            "markeredgewidth": 0.7 if self.fill != "full" else 0.8,
            "markeredgecolor": self.colour,
            "markerfacecolor": "white" if self.fill == "none" else self.colour,
            "markerfacecoloralt": "white",
            "fillstyle": "left" if self.fill == "left" else "full",
        }

    @property
    def handle(self) -> Line2D:
        """The mark and its label in a legend."""
        return Line2D([], [], linestyle="none", label=self.label, **self.look)


REPORTED: Final = Mark("reported by the paper", BLACK, "|", size=9.0)
"""What the paper prints, where values run along the horizontal axis."""

REPORTED_LEVEL: Final = Mark("reported by the paper", BLACK, "_", size=9.0)
"""The same, where they run upwards."""
