"""Settings of sensitivity, and the variants that its measuring and reporting share.

faults apart
    Folds that keep scenarios of one fault together, whatever its strength. In the main study a fit
    may have met the fault of a tested scenario in another scenario of the same category.
interactions
    A boosting machine with terms of pairs of features, which a reader would have to read as
    surfaces; the main study has none.
"""

from __future__ import annotations

from pydantic import Field

from failbench.records import Record

FAULTS_APART = "faults_apart"
INTERACTIONS = "interactions"
VARIANTS = {
    FAULTS_APART: "no scenario of the same fault was trained on",
    INTERACTIONS: "pairs of features have terms of their own",
}
"""The choices that are made the other way, and what they mean for a tested run."""

REPEATS_KEYS = {FAULTS_APART: "repeats", INTERACTIONS: "interaction_repeats"}
"""The key of the section that says how many repeats a variant has."""

METHODS = ("decision_tree", "random_forest", "ebm")
"""The methods that are fitted again."""

FEATURE_SET = "19"


class SensitivitySettings(Record):
    """How often each choice is made the other way; the section ``sensitivity`` of params.yaml."""

    repeats: int = Field(ge=1)
    interactions: int = Field(ge=1)
    interaction_repeats: int = Field(ge=1)
