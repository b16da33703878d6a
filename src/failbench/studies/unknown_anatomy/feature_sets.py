"""Feature sets: the paper's features, and measurements that they leave out added to them."""

from __future__ import annotations

from failbench.features.catalogue import FEATURE_SETS, PRIMARY_SET
from failbench.features.measurements import ENDINGS, STEP_TIMES

BASE = PRIMARY_SET

ADDED: dict[str, tuple[str, ...]] = {
    "19+step_times": STEP_TIMES,
    "19+ending": ENDINGS,
    "19+both": (*STEP_TIMES, *ENDINGS),
}
"""Measurements that are added to the paper's features, by name of the feature set."""

MEASURED_SETS = {BASE: FEATURE_SETS[BASE]} | {
    name: (*FEATURE_SETS[BASE], *columns) for name, columns in ADDED.items()
}
