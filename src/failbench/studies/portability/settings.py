"""Settings: what is carried from which runs to which, and the conditions that are compared."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from failbench.methods.classifiers import LogisticRegressionSettings, RandomForestSettings
from failbench.prediction.slices import RunSetting
from failbench.predictions import PREDICTION_SCHEMA
from failbench.records import Record
from failbench.statistics.paired_scores import Pair

HOME, HOME_ADAPTIVE = "home", "home_adaptive"
FIXED, RECALIBRATED, ADAPTIVE = "fixed", "recalibrated", "adaptive"
"""Conditions: the runs of the optimizer at home, and of the other one on three scales."""

METHODS = ("simple_rules", "improved_rules", "logistic_regression", "random_forest")
"""What is carried over, in the order in which contrasts are tested."""

CARRIED_SCHEMA = pl.Schema({**PREDICTION_SCHEMA, "condition": pl.String()})
"""Columns of what was predicted under each condition."""


class PortabilitySettings(Record):
    """What is carried where, and how it is compared; the section ``portability`` of params.yaml."""

    home: RunSetting
    away: RunSetting
    own_history_steps: int = Field(ge=2)
    repeats: int = Field(ge=1)
    contrasts: tuple[Pair, ...] = Field(min_length=1)
    seed: int = Field(ge=0)
    logistic_regression: LogisticRegressionSettings
    random_forest: RandomForestSettings
