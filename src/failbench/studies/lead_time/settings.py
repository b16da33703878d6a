"""Settings: how runs are cut and looked at before they fail, and which methods are asked."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from failbench.methods.classifiers import LogisticRegressionSettings, RandomForestSettings
from failbench.records import Record

METHODS = ("simple_rules", "improved_rules", "logistic_regression", "random_forest")
"""The methods on features that are asked, in the order of the published rates."""

ON_KNOWN = ("invariants", "ending", "forest_on_invariants")
"""Methods on what the monitor knows that are asked too, where they are among those of the main
study; a boosting machine at every number of steps would be too dear."""

FAILING, TWIN, HEALTHY, LOOK = "failing", "twin", "healthy", "look"
"""Subsets of the predictions: failing runs cut some steps before their failure; their healthy twins
cut at the same steps, by fits to twins, and by a fit to failing runs; and failing runs looked at
every few steps."""


def methods_asked(methods: Iterable[str]) -> tuple[str, ...]:
    """The methods that are asked, given the section ``methods`` of params.yaml.

    >>> methods_asked(["ebm", "invariants"])[-2:]
    ('random_forest', 'invariants')
    """
    main_study = set(methods)
    return (*METHODS, *(name for name in ON_KNOWN if name in main_study))


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
