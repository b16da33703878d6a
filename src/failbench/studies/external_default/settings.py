"""Settings of the study of DEFault's tables, and the names of what is compared in it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import (
    Count,
    DecisionTreeSettings,
    LightgbmSettings,
    LogisticRegressionSettings,
    RandomForestSettings,
)
from failbench.methods.learned_rules import LearnedRulesSettings
from failbench.records import Record
from failbench.statistics.bootstrap import BootstrapSettings

Grouping = Literal["blocks", "clusters"]
"""Ways to guess which rows are of one session: neighbours in a file, and hosts that look alike."""

BLOCKS: Final[Grouping] = "blocks"
CLUSTERS: Final[Grouping] = "clusters"
GROUPINGS: Final = (BLOCKS, CLUSTERS)

PRINTED: Final = "printed"
"""The authors' protocol: all is fitted to all rows, but for forests; one random split of rows."""
WITH_CRASHED: Final = "with_crashed"
"""Folds of shuffled rows, with those of crashed runs; all is fitted to training rows."""
SHUFFLED: Final = "shuffled"
"""The same without crashed runs."""

ALL_COLUMNS: Final = "all"
TRAINING_COLUMNS: Final = "training"
HOST_COLUMNS: Final = "host"
COLUMN_SETS: Final = (ALL_COLUMNS, TRAINING_COLUMNS, HOST_COLUMNS)

CATEGORY: Final = "category"
"""The task of naming one of seven fault categories, beside those that are called as their table."""

THEIR_FOREST: Final = "their_forest"
SIMPLE_RULES: Final = "simple_rules"


class PrintedProtocol(Record):
    """The authors' protocol, with the values that their grid search tries."""

    test_share: float = Field(gt=0, lt=1)
    split_seed: int = Field(ge=0)
    selected: int = Field(ge=1)
    selection_trees: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    trees: tuple[Count, ...] = Field(min_length=1)
    max_depth: tuple[Count | None, ...] = Field(min_length=1)
    min_samples_split: tuple[Annotated[int, Field(ge=2)], ...] = Field(min_length=1)
    min_samples_leaf: tuple[Count, ...] = Field(min_length=1)
    max_features: tuple[Literal["sqrt", "log2"], ...] = Field(min_length=1)


class HouseMethods(Record):
    """Our classifiers, each with one value a parameter: nothing is searched for."""

    learned_rules: LearnedRulesSettings
    logistic_regression: LogisticRegressionSettings
    decision_tree: DecisionTreeSettings
    random_forest: RandomForestSettings
    lightgbm: LightgbmSettings
    ebm: EbmSettings

    @model_validator(mode="after")
    def _one_value_each(self) -> Self:
        for name in HOUSE_METHODS:
            for key, value in getattr(self, name).model_dump().items():
                if isinstance(value, tuple) and len(value) > 1:
                    raise ValueError(f"{name}.{key} must have one value, not {len(value)}")
        return self


HOUSE_METHODS: Final = tuple(HouseMethods.model_fields)
"""In the order of tables."""


class ExternalDefaultDesign(Record):
    """What is fitted to which rows; the section ``external_default`` of params.yaml."""

    seed: int = Field(ge=0)
    folds: int = Field(ge=2)
    groups: int = Field(ge=2)
    other_groups: tuple[Annotated[int, Field(ge=2)], ...]
    trees: int = Field(ge=1)
    printed: PrintedProtocol
    methods: HouseMethods


class ExternalDefaultSettings(ExternalDefaultDesign, BootstrapSettings):
    """What was fitted, and how groups are resampled."""


def grouped_by(grouping: Grouping, groups: int) -> str:
    """The name of the protocol whose folds keep groups together.

    >>> grouped_by("blocks", 59)
    'blocks_59'
    """
    return f"{grouping}_{groups}"
