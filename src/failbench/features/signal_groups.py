"""Signal groups: signals that studies remove or permute together."""

from __future__ import annotations

from collections.abc import Collection

from failbench.base.vocabulary import ERROR_TEXT_SIGNAL, SIGNAL_GROUPS
from failbench.features.catalogue import FEATURES
from failbench.features.feature import Feature


def group_of(feature: Feature) -> str:
    """The signal group of a feature; keywords are the error text as classifiers read it."""
    if feature.group == "error_keywords":
        return ERROR_TEXT_SIGNAL
    return feature.subgroup if feature.group in ("data", "extra") else feature.group


def signal_groups(columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Features by signal group, in the order of ``SIGNAL_GROUPS``, without empty groups."""
    groups = {
        group: tuple(
            feature.name
            for feature in FEATURES
            if feature.name in columns and group_of(feature) == group
        )
        for group in SIGNAL_GROUPS
    }
    return {group: members for group, members in groups.items() if members}
