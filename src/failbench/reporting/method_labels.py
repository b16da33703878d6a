"""Method labels: what methods are called in tables and figures."""

from __future__ import annotations

from typing import Final

from failbench.errors import BadInputError

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
