"""Signal groups: what is taken away, or shuffled, together."""

from __future__ import annotations

from collections.abc import Collection

from failbench.features.catalogue import FEATURES
from failbench.features.feature import Feature
from failbench.methods.reduced_tree import ERROR_TEXT

SIGNAL_GROUPS = (
    "training_dynamics",
    "memory",
    "perplexity",
    "vocabulary",
    "sequence_length",
    "configuration",
    ERROR_TEXT,
)
"""All groups in the order of tables: those of the paper, its data features by subgroup."""
ALL_GROUPS = "all"
"""The name that all groups together go by."""


def group_of(feature: Feature) -> str:
    """The signal group of a feature; keywords are what classifiers see of the error text."""
    if feature.group == "error_keywords":
        return ERROR_TEXT
    return feature.subgroup if feature.group in ("data", "extra") else feature.group


def signal_groups(columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Some features by signal group, in the order of ``SIGNAL_GROUPS``; no group is empty."""
    found = {
        group: tuple(one.name for one in FEATURES if one.name in columns and group_of(one) == group)
        for group in SIGNAL_GROUPS
    }
    return {group: members for group, members in found.items() if members}
