"""Style: colours that most eyes can tell apart, and figures that are saved to the same bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from failbench.reporting.labels import METHOD_LABELS, in_label_order, method_label
from failbench.vocabulary import Category

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


@dataclass(frozen=True)
class MethodStyle:
    """How every figure shows one method.

    Attributes
    ----------
    label
        Its name in legends.
    colour
        One for all methods of a kind.
    line, marker
        Which of them it is, for eyes and printers without colours: no two have the same marker.
    """

    label: str
    colour: str
    line: str
    marker: str


def _style(method: str, colour: str, line: str, marker: str) -> MethodStyle:
    return MethodStyle(METHOD_LABELS[method], colour, line, marker)


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
    "symptom_baseline": _style("symptom_baseline", GREY, ":", "h"),
    "mistral_7b": _style("mistral_7b", BLACK, "-", "x"),
    "llama_3_8b": _style("llama_3_8b", BLACK, "--", "+"),
    "raw_series": _style("raw_series", GREY, "--", "1"),
    "raw_text": _style("raw_text", GREY, "-.", "2"),
    "raw_telemetry": _style("raw_telemetry", GREY, "-", "3"),
}
"""Methods in the order in which legends name them.

Blue is a list of rules, sky a sum of terms, orange one tree, vermillion many; green hands runs on,
black is a language model, grey reads symptoms alone, or all that was recorded, without features.
"""

ADDED_MARKERS: Final = ("4", "8", "d", "H")


def method_styles(methods: Iterable[str]) -> dict[str, MethodStyle]:
    """Styles of methods in the order of legends.

    Language models that were added to ``params.yaml`` come last, each with a marker of its own as
    far as there are any.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    found = set(methods)
    known = {name: style for name, style in METHOD_STYLES.items() if name in found}
    added = {
        name: MethodStyle(method_label(name), BLACK, ":", marker)
        for name, marker in zip(
            in_label_order(found - set(METHOD_STYLES)), cycle(ADDED_MARKERS), strict=False
        )
    }
    return known | added


TWIN: Final = GREY
LINE: Final = BLUE
MARK: Final = BLACK


def save_svg(figure: Figure, path: Path) -> None:
    """Save a figure as SVG without a date or a program's version in it.

    The bytes repeat only under the project's matplotlibrc, whose ``svg.hashsalt`` fixes the ids.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
