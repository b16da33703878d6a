"""What measuring DEFault's runs and reporting them share: settings, names, tasks and schemas."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
import pandas as pd
import polars as pl
from pydantic import Field, model_validator

from failbench.base import measuring as st
from failbench.neighbours.external import (
    BUGGY,
    DETECTION,
    LABEL,
    POSITIVES,
    ReleasedTables,
    crashed,
)
from failbench.statistics.bootstrap import BootstrapSettings

GROUPINGS = ("blocks", "clusters")
"""Ways to guess which rows are of one session: neighbours in a file, and hosts that look alike."""

PRINTED, WITH_CRASHED, SHUFFLED = "printed", "with_crashed", "shuffled"
"""The authors' protocol: all is fitted to all rows, but for forests; one random split of rows.
Folds of shuffled rows, with those of crashed runs, all fitted to training rows; and without."""

COLUMN_SETS = ("all", "training", "host")

CATEGORY = "category"
"""The task of naming one of seven fault categories, beside those that are called as their table."""

THEIR_FOREST = "their_forest"
SIMPLE_RULES = "simple_rules"

CONDITION = ("task", "protocol", "columns", "method")
"""The key of one way to ask."""

ANSWER_SCHEMA = pl.Schema(
    {**dict.fromkeys(CONDITION, pl.String()), "row": pl.Int32(), "answer": pl.String()}
)
"""A row per answer; ``row`` counts the rows of the task from zero."""

GROUP_SCHEMA = pl.Schema(
    dict.fromkeys(("task", "grouping"), pl.String())
    | dict.fromkeys(("groups", "row", "group"), pl.Int32())
)


class PrintedProtocol(st.Record):
    """The authors' protocol, with the values that their grid search tries."""

    test_share: float = Field(gt=0, lt=1)
    split_seed: int = Field(ge=0)
    selected: int = Field(ge=1)
    selection_trees: int = Field(ge=1)
    inner_folds: int = Field(ge=2)
    trees: tuple[st.Count, ...] = Field(min_length=1)
    max_depth: tuple[st.Count | None, ...] = Field(min_length=1)
    min_samples_split: tuple[Annotated[int, Field(ge=2)], ...] = Field(min_length=1)
    min_samples_leaf: tuple[st.Count, ...] = Field(min_length=1)
    max_features: tuple[Literal["sqrt", "log2"], ...] = Field(min_length=1)


class HouseMethods(st.Record):
    """Our classifiers, each with one value a parameter: nothing is searched for."""

    learned_rules: st.LearnedRulesSettings
    logistic_regression: st.LogisticRegressionSettings
    decision_tree: st.DecisionTreeSettings
    random_forest: st.RandomForestSettings
    lightgbm: st.LightgbmSettings
    ebm: st.EbmSettings

    @model_validator(mode="after")
    def _one_value_each(self) -> Self:
        for name in HOUSE_METHODS:
            for key, value in getattr(self, name).model_dump().items():
                if isinstance(value, tuple) and len(value) > 1:
                    raise ValueError(f"{name}.{key} must have one value, not {len(value)}")
        return self


HOUSE_METHODS = tuple(HouseMethods.model_fields)
"""In the order of tables."""


class ExternalDefaultDesign(st.Record):
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


@dataclass(frozen=True)
class Task:
    """Rows with labels: what is to be told of a run."""

    name: str
    rows: pd.DataFrame
    labels: st.Labels
    positive: str | None
    crashed: st.Mask
    host: tuple[str, ...]

    def columns(self, column_set: str) -> list[str]:
        """The columns of a set, in the order of the file."""
        wanted = {"all": (False, True), "host": (True,), "training": (False,)}[column_set]
        return [name for name in self.rows.columns if (name in self.host) in wanted]


def tasks_of(released: ReleasedTables) -> dict[str, Task]:
    """Detection, the seven categories, and each category against samples of the others."""
    tables = {DETECTION: (released.detection, BUGGY), CATEGORY: (released.categories, None)}
    for name, label in POSITIVES.items():
        own = pl.when(pl.col(LABEL) == label).then(LABEL).otherwise(pl.lit("other"))
        tables[name] = (released.tables[name].with_columns(own.alias(LABEL)), label)
    tasks = {}
    for name, (table, positive) in tables.items():
        rows, labels = table.drop(LABEL).to_pandas(), table[LABEL].to_numpy().astype(object)
        has_crashed = np.asarray(crashed(table).to_numpy())
        tasks[name] = Task(name, rows, labels, positive, has_crashed, released.host)
    return tasks
