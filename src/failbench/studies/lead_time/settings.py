"""Settings: how runs are cut and looked at before they fail, and which methods are asked."""

from __future__ import annotations

from pydantic import Field

from failbench.methods.classifiers import LogisticRegressionSettings, RandomForestSettings
from failbench.records import Record

METHODS = ("simple_rules", "improved_rules", "logistic_regression", "random_forest")
"""The methods that are asked, in the order of the published rates."""

FAILING, TWIN, HEALTHY, LOOK = "failing", "twin", "healthy", "look"
"""Subsets of the predictions: failing runs cut some steps before their failure; their healthy twins
cut at the same steps, by fits to twins, and by a fit to failing runs; and failing runs looked at
every few steps."""


class AlarmSettings(Record):
    """How the alarm looks at runs and where its limit comes from."""

    every: int = Field(ge=1)
    false_alarms: float = Field(gt=0, lt=1)
    calibration_share: float = Field(gt=0, lt=1)
    divisions: int = Field(ge=1)
    seed: int = Field(ge=0)


class LeadTimeSettings(AlarmSettings):
    """How snapshots, looks and alarms are made; the section ``lead_time`` of params.yaml."""

    steps: tuple[int, ...] = Field(min_length=1)
    repeats: int = Field(ge=1)
    run_seed: int = Field(ge=0)
    training_snapshots: int = Field(ge=1)
    logistic_regression: LogisticRegressionSettings
    random_forest: RandomForestSettings
