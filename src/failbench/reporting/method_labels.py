"""Method labels: what methods are called in tables and figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from failbench.errors import BadInputError
from failbench.methods.llm_settings import ADDED, is_language_model

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
    "raw_series": "Raw series",
    "raw_text": "Raw error text",
    "raw_telemetry": "Raw telemetry",
}
"""The methods of the paper in the order of its Table 1, then those that the table has not."""


def method_label(method: str) -> str:
    """What a measured method is called.

    A language model that was added to ``params.yaml`` is called by its name there.

    >>> method_label("random_forest"), method_label("llm_qwen_7b")
    ('Random forest', 'qwen 7b')

    Raises
    ------
    BadInputError
        If it has no label.
    """
    if method not in METHOD_LABELS and is_language_model(method):
        return method.removeprefix(ADDED).replace("_", " ")
    if method not in METHOD_LABELS:
        raise BadInputError(
            "data/metrics/intervals.json",
            method,
            "has no label.",
            "Add it to METHOD_LABELS in failbench.reporting.method_labels.",
        )
    return METHOD_LABELS[method]


def in_label_order(methods: Iterable[str]) -> list[str]:
    """Methods in the order of their labels, each once; those without a label last, by name.

    >>> in_label_order(["llm_qwen_7b", "ebm", "simple_rules"])
    ['simple_rules', 'ebm', 'llm_qwen_7b']
    """
    found = set(methods)
    return [*(one for one in METHOD_LABELS if one in found), *sorted(found - set(METHOD_LABELS))]
