"""Style: sizes of a printed page, colours that most eyes can tell apart, one mark a method."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final, Literal

from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType, MarkerType

from failbench.base.vocabulary import Category
from failbench.study.labels import drawn_label, in_label_order, mark_of, reads_true_category

FULL_WIDTH: Final = 5.5
HALF_WIDTH: Final = 2.7  # inches: of the text block, so that no figure is scaled
LEAST_TEXT: Final = 7.0  # points; ``figures/matplotlibrc`` sets most text to this size
FINDING_TEXT: Final = 8.0  # points: the finding above a figure

THIN: Final = 0.5
THICK: Final = 1.2  # points: lines that guide the eye, and lines that the eye must follow

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#999999"
PALE: Final = "#CCCCCC"
"""The palette of Okabe and Ito (2008), a grey for what is healthy, a pale one behind."""

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
HALF_SIZE: Final = 5.5  # points: of full marks, and of half filled ones

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


REPORTED: Final = Mark("reported by the original", BLACK, "|", size=9.0)
"""What the original prints, where values run along the horizontal axis."""

REPORTED_LEVEL: Final = Mark("reported by the original", BLACK, "_", size=9.0)
"""The same, where they run upwards."""

MARKS_OF_LABELS: Final = {
    "*": Mark("*: in-sample (rules developed on these scenarios)", BLACK, ""),
    "‡": Mark("‡: fitted out of fold to checks developed on them", BLACK, ""),
    "†": Mark("†: handed the true category", BLACK, ""),
}
"""What :func:`~.labels.mark_of` writes behind a label, as legends explain it."""


def marks_explained(methods: Iterable[str]) -> list[Mark]:
    """Entries of a legend for the marks that the labels of some methods have."""
    shown = set(map(mark_of, methods))
    return [entry for mark, entry in MARKS_OF_LABELS.items() if mark in shown]


@dataclass(frozen=True)
class MethodStyle(Mark):
    """How every figure shows one method; no two have the same marker."""

    line: LineStyleType = "-"

    @property
    def line_handle(self) -> Line2D:
        """The line, its mark and its label in a legend."""
        return Line2D([], [], linestyle=self.line, label=self.label, **self.look)


def _style(method: str, colour: str, line: LineStyleType, marker: MarkerType) -> MethodStyle:
    fill: Literal["none", "full"] = "none" if reads_true_category(method) else "full"
    return MethodStyle(drawn_label(method), colour, marker, fill, line=line)


FOUR_POINTS: Final = (4, 1, 0)
THREE_POINTS: Final = (3, 1, 0)  # stars of matplotlib: points, 1, rotation
SIX_RAYS: Final = (6, 2, 0)

METHOD_STYLES: Final[dict[str, MethodStyle]] = {
    "simple_rules": _style("simple_rules", BLUE, "-", "o"),
    "improved_rules": _style("improved_rules", BLUE, "--", "s"),
    "learned_rules": _style("learned_rules", BLUE, ":", "^"),
    "logistic_regression": _style("logistic_regression", SKY, "-", "D"),
    "decision_tree": _style("decision_tree", ORANGE, "-", "v"),
    "random_forest": _style("random_forest", VERMILLION, "-", "P"),
    "lightgbm": _style("lightgbm", VERMILLION, "--", "X"),
    "ebm": _style("ebm", SKY, "--", "*"),
    "simulated_human": _style("simulated_human", PURPLE, "-", "<"),
    "hybrid": _style("hybrid", GREEN, "-", ">"),
    "hybrid_two_way": _style("hybrid_two_way", GREEN, "--", "p"),
    "hybrid_monitor": _style("hybrid_monitor", GREEN, "-.", FOUR_POINTS),
    "symptom_baseline": _style("symptom_baseline", GREY, ":", "h"),
    "invariants": _style("invariants", BLUE, "-.", "d"),
    "invariants_abstaining": _style("invariants_abstaining", BLUE, (0, (1, 4)), THREE_POINTS),
    "forest_on_invariants": _style("forest_on_invariants", VERMILLION, "-.", "8"),
    "ebm_on_invariants": _style("ebm_on_invariants", SKY, "-.", "H"),
    "ending": _style("ending", GREY, (0, (1, 4)), "4"),
    "mistral_7b": _style("mistral_7b", BLACK, "-", "x"),
    "llama_3_8b": _style("llama_3_8b", BLACK, "--", "+"),
    "llm_unnamed_2026": _style("llm_unnamed_2026", BLACK, "-", SIX_RAYS),
    "raw_series": _style("raw_series", GREY, "--", "1"),
    "raw_text": _style("raw_text", GREY, "-.", "2"),
    "raw_telemetry": _style("raw_telemetry", GREY, "-", "3"),
}
"""Methods in the order in which legends name them.

Blue is a list of rules, sky a sum of terms, orange one tree, vermillion many; green hands runs on,
black is a language model, grey reads symptoms alone, or all that was recorded, without features.
Hollow are those that are handed the true category.
"""

ADDED_MARKERS: Final = ("$1$", "$2$", "$3$", "$4$")


def method_styles(methods: Iterable[str]) -> dict[str, MethodStyle]:
    """Styles in the order of legends, language models of ``params.yaml`` with markers last."""
    names = set(methods)
    known = {name: style for name, style in METHOD_STYLES.items() if name in names}
    others = zip(in_label_order(names - set(METHOD_STYLES)), cycle(ADDED_MARKERS), strict=False)
    added = {name: MethodStyle(drawn_label(name), BLACK, mark, line=":") for name, mark in others}
    return known | added
