"""Settings of methods: the sections of params.yaml that reports read as well as fits."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from failbench.base.records import Record
from failbench.base.vocabulary import CATEGORIES

Share = Annotated[float, Field(gt=0, le=1)]


Count = Annotated[int, Field(ge=1)]


Positive = Annotated[float, Field(gt=0)]


MAX_RULES = 25
"""The paper's section 4.3: a decision list of at most 25 rules."""


Leaves = Annotated[int, Field(ge=2, le=MAX_RULES)]


class SimpleRulesSettings(Record):
    """Limits of the rules; the section ``simple_rules`` of params.yaml."""

    gradient_norm: float = Field(gt=0)
    perplexity: float = Field(gt=1)
    healthy_sds: float = Field(gt=0)


class ImprovedRulesSettings(Record):
    """Limits of the rules; the section ``improved_rules`` of params.yaml."""

    tau: float = Field(ge=0, le=1)
    catastrophic_perplexity: float = Field(gt=1)
    gradient_norm: float = Field(gt=0)
    healthy_sds: float = Field(gt=0)


class LearnedRulesSettings(Record):
    """Depth and grid of the tree; the section ``learned_rules`` of params.yaml."""

    max_depth: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    max_leaf_nodes: tuple[Leaves, ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


class LogisticRegressionSettings(Record):
    """Grid of logistic regression; the section ``logistic_regression`` of params.yaml."""

    inner_folds: int = Field(ge=2)
    inverse_penalty: tuple[Positive, ...] = Field(min_length=1)
    max_iterations: int = Field(ge=1)


class DecisionTreeSettings(Record):
    """Grid of the decision tree; the section ``decision_tree`` of params.yaml."""

    inner_folds: int = Field(ge=2)
    max_depth: tuple[Count | None, ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


class RandomForestSettings(Record):
    """Size and grid of the random forest; the section ``random_forest`` of params.yaml."""

    trees: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    max_features: tuple[Literal["sqrt", "log2"] | Share, ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


class LightgbmSettings(Record):
    """Size and grid of boosted trees; the section ``lightgbm`` of params.yaml."""

    trees: int = Field(ge=1)
    learning_rate: Positive
    inner_folds: int = Field(ge=2)
    leaves: tuple[Annotated[int, Field(ge=2)], ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)


class EbmSettings(Record):
    """Size and grid of the boosting machine; the section ``ebm`` of params.yaml."""

    inner_folds: int = Field(ge=2)
    learning_rate: tuple[Annotated[float, Field(gt=0, le=1)], ...] = Field(min_length=1)
    interactions: int = Field(ge=0)
    outer_bags: int = Field(ge=2)
    smoothing_rounds: int = Field(ge=0)
    max_rounds: int = Field(ge=1)
    min_samples_leaf: int = Field(ge=1)
    max_bins: int = Field(ge=3)
    early_stopping_rounds: int = Field(ge=1)


class SymptomBaselineSettings(Record):
    """Size of the forest; the section ``symptom_baseline`` of params.yaml."""

    trees: int = Field(ge=1)


class SkillLevel(Record):
    """Share of people of a level, and their accuracy.

    At one in five or less the person's answer would not be the most probable category.
    """

    share: float = Field(gt=0, le=1)
    accuracy: float = Field(gt=1 / len(CATEGORIES), le=1)


class SimulatedHumanSettings(Record):
    """The population; the section ``simulated_human`` of params.yaml."""

    levels: dict[str, SkillLevel] = Field(min_length=1)

    @field_validator("levels")
    @classmethod
    def _is_a_whole_population(cls, levels: dict[str, SkillLevel]) -> dict[str, SkillLevel]:
        if not math.isclose(sum(level.share for level in levels.values()), 1):
            raise ValueError("the shares of the levels must add up to 1")
        return levels


class HybridSettings(Record):
    """Thresholds of the three-way hybrid; the section ``hybrid`` of params.yaml."""

    rules_from: float = Field(ge=0, le=1)
    classifier_from: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.classifier_from > self.rules_from:
            raise ValueError("classifier_from must not be above rules_from")
        return self
