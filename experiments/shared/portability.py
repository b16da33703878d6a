"""What measuring portability and reporting it share."""

from collections.abc import Iterable

import polars as pl
from pydantic import Field

from failbench.base.method_settings import LogisticRegressionSettings, RandomForestSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Record
from failbench.base.slices import RunSetting
from failbench.statistics.pairs import Pair

HOME, HOME_ADAPTIVE = "home", "home_adaptive"
FIXED, RECALIBRATED, ADAPTIVE = "fixed", "recalibrated", "adaptive"
"""Conditions: the runs of the optimizer at home, and of the other one on three scales."""

METHODS = ("simple_rules", "improved_rules", "logistic_regression", "random_forest")
"""What is carried over, in the order in which contrasts are tested."""

ON_KNOWN = ("invariants", "ending", "forest_on_invariants")
"""Methods on what the monitor knows that are carried over too, where they are among those of the
main study. Bounds of the other optimizer are fixed thresholds, those of a run's own setting are
recalibrated ones; a run's early history bounds nothing, so that they have no adaptive condition."""

CARRIED_SCHEMA = pl.Schema({**PREDICTION_SCHEMA, "condition": pl.String()})
"""Columns of what was predicted under each condition."""


def methods_carried(methods: Iterable[str]) -> tuple[str, ...]:
    """The methods that are carried over, given the section ``methods`` of params.yaml."""
    main_study = set(methods)
    return (*METHODS, *(name for name in ON_KNOWN if name in main_study))


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
