"""Variants: the methods and the subsets of signals, in the order and words of what is published."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.signal_groups import ALL_GROUPS, SIGNAL_GROUPS
from failbench.reporting.labels import FEATURE_SET_LABELS, GROUP_LABELS, METHOD_LABELS
from failbench.studies.ablation.measure import FOREST, REDUCED, RULES

VARIANTS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    (RULES, PRIMARY_SET): (METHOD_LABELS[RULES], "19 + error text"),
    (REDUCED, PRIMARY_SET): (f"{METHOD_LABELS[RULES]}, reduced tree", "19 + error text"),
    **{
        (FOREST, name): (METHOD_LABELS[FOREST], label) for name, label in FEATURE_SET_LABELS.items()
    },
}
"""Methods and feature sets in the order of tables, with their labels."""

REPORTED_ROWS: Final = {
    "memory": "memory",
    "perplexity": "perplexity",
    "vocabulary": "vocabulary",
    "memory+perplexity": "memory_and_perplexity",
    ALL_GROUPS: "full",
}
"""The subsets that the paper has, with the keys of its table."""


def subset_label(subset: str) -> str:
    """The label of a subset of the signals.

    >>> subset_label("memory+perplexity"), subset_label("without_error_text")
    ('memory + perplexity', 'without error text')
    """
    if subset.startswith("without_"):
        return f"without {GROUP_LABELS[subset.removeprefix('without_')]}"
    return " + ".join(GROUP_LABELS[group] for group in subset.split("+"))


def kept_subsets(points: pl.DataFrame) -> list[str]:
    """The subsets that keep groups, in the order of the groups; all signals come last."""
    names = {name for name in points["subset"] if not name.startswith("without_")} - {ALL_GROUPS}

    def position(subset: str) -> tuple[int, list[int]]:
        groups = subset.split("+")
        return len(groups), [SIGNAL_GROUPS.index(group) for group in groups]

    return [*sorted(names, key=position), ALL_GROUPS]


def left_out_subsets(points: pl.DataFrame) -> list[str]:
    """The subsets that leave one group out, in the order of the groups; all signals come last."""
    present = set(points["subset"])
    names = [f"without_{group}" for group in SIGNAL_GROUPS]
    return [*(name for name in names if name in present), ALL_GROUPS]
