"""Measurement of portability: which runs are taken, and how features are carried over."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.portability.measure import TRAINED, condition_tables
from failbench.studies.portability.settings import ADAPTIVE, HOME, RECALIBRATED
from made_up_portability import portability_settings
from made_up_telemetry import made_up_scenarios


@pytest.fixture(scope="module")
def tables(telemetry):
    return condition_tables(telemetry, made_up_scenarios(), portability_settings())[0]


def test_only_scenarios_and_seeds_of_both_settings_are_taken(tables):
    assert {name: table.height for name, table in tables.items()} == dict.fromkeys(tables, 20)
    assert {tuple(sorted(set(table["seed"]))) for table in tables.values()} == {(0,)}


@pytest.mark.parametrize("condition", [RECALIBRATED, ADAPTIVE])
def test_a_change_of_scale_is_undone(tables, condition):
    """The made-up runs of both optimizers differ by the factor on gradient norms alone."""
    home = tables[HOME if condition == RECALIBRATED else "home_adaptive"]
    for name in ("max_gradient_norm", "mean_gradient_norm", "gradient_norm_variance"):
        assert tables[condition][name].to_numpy() == pytest.approx(home[name].to_numpy(), rel=1e-4)


def test_a_setting_that_was_not_recorded_is_refused(telemetry):
    lacking = telemetry.select((pl.col("optimizer") == "adamw") | (pl.col("kind") != "success"))
    with pytest.raises(BadInputError, match="no success run of transformer with sgd"):
        condition_tables(lacking, made_up_scenarios(), portability_settings())


def test_early_history_must_end_before_the_earliest_onset(telemetry):
    settings = portability_settings(own_history_steps=9)
    with pytest.raises(BadInputError, match="starts at step 8, within the 9 steps"):
        condition_tables(telemetry, made_up_scenarios(), settings)


def test_a_run_is_predicted_in_every_condition_of_its_optimizer(predictions, telemetry):
    assert predictions.columns == [*PREDICTION_SCHEMA.names(), "condition"]
    conditions = {condition for tested in TRAINED.values() for condition in tested}
    assert set(predictions["condition"]) == conditions
    assert not predictions.select("run_id", "repeat", "condition").is_duplicated().any()
    optimizers = dict(predictions.select("condition", "optimizer").unique().iter_rows())
    assert optimizers == {
        "home": "adamw",
        "home_adaptive": "adamw",
        "fixed": "sgd",
        "recalibrated": "sgd",
        "adaptive": "sgd",
    }
    assert set(predictions["run_id"]) <= set(telemetry.runs["run_id"])
