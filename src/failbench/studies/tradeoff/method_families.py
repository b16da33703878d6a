"""Method families: methods that are read alike, and how figures mark them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from failbench.errors import BadInputError
from failbench.methods.llm.settings import PAPER_MODELS, is_language_model
from failbench.reporting.style import BLACK, GREY, SKY


@dataclass(frozen=True)
class Family:
    """Methods that are read alike, and their mark on a figure.

    The colours are those of the palette that stand for no category of failures.
    """

    label: str
    methods: tuple[str, ...]
    marker: str
    colour: str
    filled: bool = True


LANGUAGE_MODELS: Final = Family("language model", PAPER_MODELS, "P", SKY, filled=False)

FAMILIES: Final = (
    Family("rules", ("simple_rules", "improved_rules", "learned_rules"), "o", BLACK),
    Family("tree or additive model", ("decision_tree", "logistic_regression", "ebm"), "s", SKY),
    Family("ensemble of trees", ("random_forest", "lightgbm", "symptom_baseline"), "^", GREY),
    Family("raw telemetry", ("raw_series", "raw_text", "raw_telemetry"), "v", SKY, filled=False),
    Family("hybrid", ("hybrid", "hybrid_two_way"), "D", BLACK, filled=False),
    Family("simulated person", ("simulated_human",), "", GREY),
    LANGUAGE_MODELS,
)


def method_family(method: str) -> Family:
    """The family of a measured method.

    Raises
    ------
    BadInputError
        If it is in none.
    """
    for family in FAMILIES:
        if method in family.methods:
            return family
    if is_language_model(method):
        return LANGUAGE_MODELS
    raise BadInputError(
        "data/metrics/intervals.json",
        method,
        "is in no family of methods.",
        "Add it to FAMILIES in failbench.studies.tradeoff.method_families.",
    )
