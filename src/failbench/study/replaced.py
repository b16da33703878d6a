"""Replaced: scenarios that were taken out as they did not fail, and what captions say of it."""

from __future__ import annotations

from typing import Final

REPLACED: Final = {
    "gradients_not_cleared": "optimizer_maximizes",
    "only_biases_optimized": "weights_frozen",
    "scaling_without_epsilon": "standardised_over_one",
    "sequences_truncated": "single_document",
}
"""Scenarios whose trial runs did not fail, and what took their places (docs/categories.md)."""

DECLARED_NOTE: Final = (
    "Difficulty was declared with each scenario, before the first runs that were kept, but that of "
    f"{len(REPLACED)} ({', '.join(sorted(REPLACED.values()))}) after trial runs had begun: they "
    "replaced scenarios that had not failed."
)
