"""What measuring sensitivity and reporting it share."""

from pydantic import Field

from failbench.base.records import Record

FEATURE_SET = "19"
ONE_SEED, FAULTS_APART, INTERACTIONS = "one_seed", "faults_apart", "interactions"
VARIANTS = {
    ONE_SEED: ("simple_rules", "improved_rules", "decision_tree", "random_forest", "ebm"),
    # In the main study a fit may have met the fault of a tested scenario in another scenario of the
    # same category, in another strength.
    FAULTS_APART: ("decision_tree", "random_forest"),
    # A reader would have to read these terms as surfaces; the main study has none.
    INTERACTIONS: ("ebm",),
}
"""Choices of the main study that are made the other way, and the methods that are fitted again."""


class SensitivitySettings(Record):
    """How often each choice is made the other way; the section ``sensitivity`` of params.yaml."""

    repeats: int = Field(ge=1)
    run_seed: int = Field(ge=0)
    interactions: int = Field(ge=1)
    interaction_repeats: int = Field(ge=1)
