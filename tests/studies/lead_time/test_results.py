"""Lead time: the whole study on made-up runs, from memory and from files, and its refusals."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.feature_table import categories_of
from failbench.methods.monitor_methods import EndingSettings, NoSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.lead_time.measure import measure
from failbench.studies.lead_time.results import (
    lead_time_results,
)
from failbench.studies.lead_time.settings import LeadTimeSettings
from failbench.telemetry import Telemetry
from made_up_known import made_up_known
from made_up_telemetry import made_up_scenarios, made_up_telemetry

SETTINGS = LeadTimeSettings.model_validate(
    {
        "steps": [1],
        "repeats": 1,
        "run_seed": 0,
        "every": 2,
        "training_snapshots": 2,
        "false_alarms": 0.02,
        "calibration_share": 0.5,
        "divisions": 20,
        "seed": 0,
        "logistic_regression": {"inner_folds": 2, "inverse_penalty": [1], "max_iterations": 99},
        "random_forest": {
            "trees": 2,
            "inner_folds": 2,
            "max_features": ["sqrt"],
            "min_samples_leaf": [1],
        },
    }
)
RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
)


def refused(telemetry, scenarios, **changed: object) -> None:
    splits = pl.DataFrame({"repeat": [0], "fold": [0], "scenario": ["killed_by_operator"]})
    settings = SETTINGS.model_copy(update=changed)
    measure(telemetry, scenarios, splits, REFERENCE, {}, settings)


def test_runs_that_were_not_recorded_are_refused(small_telemetry, small_scenarios):
    with pytest.raises(BadInputError, match="no failing run of transformer with adamw, seed 9"):
        refused(small_telemetry, small_scenarios, run_seed=9)


def test_twins_of_the_tested_seed_do_not_calibrate_the_alarm(small_telemetry, small_scenarios):
    twins = small_telemetry.select(pl.col("kind") == "twin")
    as_successes = Telemetry(
        twins.runs.with_columns(kind=pl.lit("success"), run_id=pl.col("run_id") + "-success"),
        twins.steps.with_columns(run_id=pl.col("run_id") + "-success"),
    )
    recorded = Telemetry(
        pl.concat([small_telemetry.runs, as_successes.runs]),
        pl.concat([small_telemetry.steps, as_successes.steps]),
    )
    with pytest.raises(BadInputError, match="no twins of other seeds"):
        refused(recorded, small_scenarios)


CHOSEN = SETTINGS.model_copy(update={"steps": (0, 3), "false_alarms": 0.1})


@pytest.fixture(scope="module")
def measured():
    return measure(
        made_up_telemetry(seeds=4, successes=4),
        made_up_scenarios(),
        make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0),
        REFERENCE,
        {"simple_rules": RULES},
        CHOSEN,
    )


def test_the_study_reports_every_method_beside_the_alarm_and_what_was_possible(measured):
    results = lead_time_results(measured, CHOSEN, INTERVALS)
    rates = {
        (method, metric, steps): (value, n)
        for method, metric, steps, value, n in results.rates.select(
            "method", "metric", "steps", "value", "n"
        ).iter_rows()
    }
    # half of twenty scenarios calibrate with three seeds each, the others are counted: every
    # scenario is among the others in one of the divisions
    assert results.calibration_runs == 30
    assert rates["alarm", "false_alarms", 0][1] == 20
    # all faults start at step 8 and fail at 19, and raise the loss far above the healthy course
    assert rates["possible", "diagnosed_ahead", 3] == (1.0, 20)
    # a rare alarm before onset is a false one
    assert rates["alarm", "diagnosed_ahead", 3][0] > 0.95
    assert rates["simple_rules", "accuracy", 3] == rates["simple_rules", "accuracy_past_onset", 3]


@pytest.fixture(scope="module")
def of_monitor():
    """What methods on what the monitor knows answer, of runs that are ended at step 19."""
    recorded = made_up_telemetry(seeds=4, successes=4)
    runs = recorded.runs.join(categories_of(made_up_scenarios()), on="scenario", how="left")
    failing = pl.when(pl.col("kind") == "failure").then("category")
    known = made_up_known(
        runs.filter(pl.col("seed") == 0, pl.col("kind") != "success").with_columns(
            category=failing
        ),
        ("transformer-adamw",),
        onset=10,
    )
    return measure(
        recorded,
        made_up_scenarios(),
        make_splits(categories_of(made_up_scenarios()), folds=2, repeats=1, seed=0),
        REFERENCE,
        {"invariants": NoSettings(), "ending": EndingSettings(fewest=2)},
        CHOSEN.model_copy(update={"steps": (0, 3, 10)}),
        known=known,
    )


def test_methods_of_the_monitor_know_what_had_broken_by_then(of_monitor):
    answers = of_monitor.predictions.filter(method="invariants")
    named = {
        (subset, ahead): set(part.filter(pl.col("prediction") != "abstain")["category"])
        for (subset, ahead), part in answers.group_by("subset", "steps_ahead")
    }
    at_once = {"data_pipeline", "model_software", "optimization"}
    # the end tells of memory where it is known, at the failure; nothing breaks in a twin
    assert named["failing", 0] - {"unknown"} == {*at_once, "memory_hardware"}
    assert at_once <= named["failing", 3] <= {*at_once, "unknown"}
    assert named["failing", 10] == named["twin", 0] == named["healthy", 0] == set()
    looks = answers.filter(pl.col("step").is_not_null(), pl.col("category").is_in(at_once))
    seen = looks.with_columns(right=pl.col("prediction") == pl.col("category"))
    assert seen.filter("right")["step"].min() == 10
    assert seen.filter(pl.col("step") >= 10)["right"].all()
    endings = of_monitor.predictions.filter(method="ending", subset="failing", steps_ahead=3)
    assert endings["prediction"].n_unique() == 1  # alive, all are alike
