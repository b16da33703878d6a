"""Method styles: the one colour and the one marker that a method has in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import Final, Literal

from matplotlib.typing import LineStyleType, MarkerType

from failbench.study.labels import drawn_label, in_label_order, reads_true_category
from failbench.study.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Mark,
)


@dataclass(frozen=True)
class MethodStyle(Mark):
    """How every figure shows one method; no two have the same marker."""

    line: LineStyleType = "-"


def _style(method: str, colour: str, line: LineStyleType, marker: MarkerType) -> MethodStyle:
    fill: Literal["none", "full"] = "none" if reads_true_category(method) else "full"
    return MethodStyle(drawn_label(method), colour, marker, fill, line=line)


FOUR_POINTS: Final = (4, 1, 0)
THREE_POINTS: Final = (3, 1, 0)
"""Stars, as matplotlib describes them: points, 1, rotation."""

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
    """Styles of methods in the order of legends.

    Language models that were added to ``params.yaml`` come last, each with a marker of its own as
    far as there are any.
    """
    names = set(methods)
    known = {name: style for name, style in METHOD_STYLES.items() if name in names}
    added = {
        name: MethodStyle(drawn_label(name), BLACK, marker, line=":")
        for name, marker in zip(
            in_label_order(names - set(METHOD_STYLES)), cycle(ADDED_MARKERS), strict=False
        )
    }
    return known | added
