"""What measuring unknown scenarios and reporting them share."""

from pydantic import Field

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.observables import ENDINGS, STEP_TIMES

UNKNOWN: st.Category = "unknown"
"""The category of scenarios whose cause nobody can tell."""

ADDED: dict[str, tuple[str, ...]] = {
    "19+step_times": STEP_TIMES,
    "19+ending": ENDINGS,
    "19+both": (*STEP_TIMES, *ENDINGS),
}
"""Measurements that are added to the paper's features, by name of the feature set."""

MEASURED_SETS = {st.PRIMARY_SET: FEATURE_SETS[st.PRIMARY_SET]} | {
    name: (*FEATURE_SETS[st.PRIMARY_SET], *columns) for name, columns in ADDED.items()
}


class UnknownAnatomyDesign(st.Record):
    """What is looked at; the section ``unknown_anatomy`` of params.yaml."""

    left_out: tuple[str, ...]
    neighbours: int = Field(ge=1)
    forest: st.RandomForestSettings
    repeats: int = Field(ge=1)
