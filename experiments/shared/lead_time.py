"""What measuring lead time and reporting it share."""

from collections.abc import Iterable

import polars as pl
from pydantic import Field

from failbench.base import measuring as st

METHODS = ("simple_rules", "improved_rules", "logistic_regression", "random_forest")
"""The methods on features that are asked, in the order of the published rates."""
ON_KNOWN = ("invariants", "ending", "forest_on_invariants")
"""Methods on what the monitor knows that are asked too, where they are among those of the main
study; a boosting machine at every number of steps would be too dear."""

FAILING, TWIN, HEALTHY, LOOK = "failing", "twin", "healthy", "look"
"""Subsets of the predictions: failing runs cut some steps before their failure; their healthy twins
cut at the same steps, by fits to twins, and by a fit to failing runs; and failing runs looked at
every few steps."""

EARLY_SCHEMA = pl.Schema(
    {**st.PREDICTION_SCHEMA, "evidence": pl.Boolean(), "subset": pl.String()}
    | dict.fromkeys(("steps_ahead", "step"), pl.Int32())
)
RUN = {"run_id": pl.String, "category": pl.String, "scenario": pl.String}
MEASURED = {
    "runs": pl.Schema({**RUN, "onset_step": pl.Int32, "failure_step": pl.Int32}),
    "scores": pl.Schema({"run_id": pl.String, "step": pl.Int32, "score": pl.Float64}),
    "healthy_scores": pl.Schema({**RUN, "score": pl.Float64}),
}
"""Tables beside the predictions: the runs, and how far these and healthy ones stray."""


class LeadTimeSettings(st.Record):
    """How snapshots, looks and alarms are made; the section ``lead_time`` of params.yaml."""

    steps: tuple[int, ...] = Field(min_length=1)
    repeats: int = Field(ge=1)
    run_seed: int = Field(ge=0)
    every: int = Field(ge=1)
    training_snapshots: int = Field(ge=1)
    false_alarms: float = Field(gt=0, lt=1)
    calibration_share: float = Field(gt=0, lt=1)
    divisions: int = Field(ge=1)
    seed: int = Field(ge=0)
    logistic_regression: st.LogisticRegressionSettings
    random_forest: st.RandomForestSettings


def methods_asked(methods: Iterable[str]) -> tuple[str, ...]:
    """The methods that are asked, given the section ``methods`` of params.yaml.

    >>> methods_asked(["ebm", "invariants"])[-2:]
    ('random_forest', 'invariants')
    """
    main_study = set(methods)
    return (*METHODS, *(name for name in ON_KNOWN if name in main_study))
