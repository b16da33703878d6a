"""Settings of sensitivity, and the variants that its measuring and reporting share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import Field

from failbench.records import Record

ONE_SEED, FAULTS_APART, INTERACTIONS = "one_seed", "faults_apart", "interactions"


@dataclass(frozen=True)
class Variant:
    """A choice of the main study that is made the other way."""

    name: str
    meaning: str
    methods: tuple[str, ...]
    repeats_key: str


VARIANTS: Final = (
    Variant(
        ONE_SEED,
        "one run per scenario is trained on and tested, as in the paper",
        ("simple_rules", "improved_rules", "decision_tree", "random_forest", "ebm"),
        "repeats",
    ),
    # In the main study a fit may have met the fault of a tested scenario in another scenario of the
    # same category, in another strength.
    Variant(
        FAULTS_APART,
        "no scenario of the same fault was trained on",
        ("decision_tree", "random_forest"),
        "repeats",
    ),
    # A reader would have to read these terms as surfaces; the main study has none.
    Variant(
        INTERACTIONS, "pairs of features have terms of their own", ("ebm",), "interaction_repeats"
    ),
)
"""In the order of the table."""

METHODS: Final = tuple(dict.fromkeys(method for variant in VARIANTS for method in variant.methods))
"""The methods that are fitted again."""

FEATURE_SET: Final = "19"


class SensitivitySettings(Record):
    """How often each choice is made the other way; the section ``sensitivity`` of params.yaml."""

    repeats: int = Field(ge=1)
    run_seed: int = Field(ge=0)
    interactions: int = Field(ge=1)
    interaction_repeats: int = Field(ge=1)
