"""Method labels: what methods are called in tables and figures, and how figures mark them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from failbench.errors import BadInputError
from failbench.reporting.style import BLACK, GREY, SKY

METHOD_LABELS: Final = {
    "simple_rules": "Simple rules",
    "improved_rules": "Improved rules",
    "learned_rules": "Learned rules",
    "mistral_7b": "Mistral 7B",
    "llama_3_8b": "Llama 3 8B",
    "logistic_regression": "Logistic regression",
    "decision_tree": "Decision tree",
    "random_forest": "Random forest",
    "lightgbm": "LightGBM",
    "ebm": "EBM",
    "simulated_human": "Simulated human",
    "hybrid": "Hybrid, three-way",
    "hybrid_two_way": "Hybrid, two-way",
    "symptom_baseline": "Symptom baseline",
}
"""The methods of the paper in the order of its Table 1, then those that the table has not."""


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


FAMILIES: Final = (
    Family("rules", ("simple_rules", "improved_rules", "learned_rules"), "o", BLACK),
    Family("tree or additive model", ("decision_tree", "logistic_regression", "ebm"), "s", SKY),
    Family("many trees", ("random_forest", "lightgbm", "symptom_baseline"), "^", GREY),
    Family("rules that hand on", ("hybrid", "hybrid_two_way"), "D", BLACK, filled=False),
    Family("person", ("simulated_human",), "", GREY),
)


def method_label(method: str) -> str:
    """What a measured method is called.

    Raises
    ------
    BadInputError
        If it has no label.
    """
    if method not in METHOD_LABELS:
        raise BadInputError(
            "data/metrics/intervals.json",
            method,
            "has no label.",
            "Add it to METHOD_LABELS in failbench.reporting.method_labels.",
        )
    return METHOD_LABELS[method]


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
    raise BadInputError(
        "data/metrics/intervals.json",
        method,
        "is in no family of methods.",
        "Add it to FAMILIES in failbench.reporting.method_labels.",
    )
