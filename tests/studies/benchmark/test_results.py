"""What was recorded of scenarios, and the run that is drawn over its twin."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.benchmark.chosen_twin import chosen_twin
from failbench.studies.benchmark.results import DIFFICULTY_SCHEMA, described, scale_of
from failbench.studies.benchmark.settings import BenchmarkSettings, TwinRule
from failbench.telemetry import Telemetry

REFERENCE = (pl.col("architecture") == "transformer") & (pl.col("optimizer") == "adamw")
SETTINGS = BenchmarkSettings(
    twin=TwinRule(seed=0, onset="mid_run", outcome="diverged"),
    signals=("learning_rate", "gradient_norm"),
    before=3,
    after=2,
    prompt_steps=2,
    confidence=0.95,
)


@pytest.fixture
def difficulty(small_scenarios) -> pl.DataFrame:
    names = [scenario.id for scenario in small_scenarios]
    return pl.DataFrame({"scenario": names, "measured": "hard"}, schema=DIFFICULTY_SCHEMA)


@pytest.fixture
def telemetry(small_telemetry) -> Telemetry:
    """In which the gradient norm of the divergence departs one step before its learning rate."""
    run = pl.col("run_id") == "runaway-transformer-adamw-s0"
    step = pl.col("step")
    return Telemetry(
        small_telemetry.runs,
        small_telemetry.steps.with_columns(
            gradient_norm=pl.when(run & (step >= 5))
            .then(9.0)
            .otherwise("gradient_norm")
            .cast(pl.Float32),
            learning_rate=pl.when(run & (step >= 6)).then(0.5).otherwise("learning_rate"),
        ),
    )


def sized(runs: pl.DataFrame) -> pl.DataFrame:
    """Runs of which is known how large they are."""
    return runs.with_columns(
        parameters=1_000_000, planned_steps=9, tokenizer_vocabulary=64, layers=1
    )


def test_a_scenario_has_its_runs_outcome_and_steps(small_telemetry, small_scenarios, difficulty):
    rows = {
        row.scenario.id: row
        for row in described(small_telemetry.runs, small_scenarios, difficulty, REFERENCE)
    }
    late = rows["late_crash"]
    assert (late.runs, late.outcome, late.outcomes, late.steps) == (1, "crash", 1, 3.0)
    assert late.measured_difficulty == "hard"
    assert late.reference_steps == 3.0


def test_runs_are_counted_by_kind_and_seeds_by_setting(small_telemetry):
    scale = scale_of(small_telemetry.runs)
    assert scale.runs == {"failure": 3, "twin": 3}
    assert (scale.settings, scale.architectures, scale.optimizers, scale.seeds) == (1, 1, 1, 1)


def test_a_scenario_that_was_not_recorded_is_refused(small_telemetry, small_scenarios, difficulty):
    runs = small_telemetry.runs.filter(pl.col("scenario") != "runaway")
    with pytest.raises(BadInputError, match=r"runs\.parquet.*'runaway'.*failbench record"):
        described(runs, small_scenarios, difficulty, REFERENCE)


def test_the_first_signal_to_depart_is_drawn_with_the_steps_around(telemetry, small_scenarios):
    chosen = chosen_twin(telemetry, small_scenarios, REFERENCE, SETTINGS)
    assert (chosen.run_id, chosen.candidates) == ("runaway-transformer-adamw-s0", 1)
    assert (chosen.signal, chosen.departs) == ("gradient_norm", 5)
    assert (chosen.onset_step, chosen.failure_step, chosen.steps_to_failure) == (5, 6, 1)
    assert chosen.points.columns == ["role", "step", "loss", "gradient_norm"]
    for role in ("failing", "twin"):
        steps = chosen.points.filter(pl.col("role") == role)["step"].to_list()
        assert steps == list(range(2, 9))
    assert chosen.at("failing", 5, "gradient_norm") == 9.0
    assert chosen.at("twin", 5, "gradient_norm") == 1.5


def test_the_middle_run_is_chosen_whatever_the_order_of_rows(telemetry, small_scenarios):
    lags = {"runaway_a": 9, "runaway_b": 2, "runaway_c": 4}
    run = telemetry.runs.filter(pl.col("run_id") == "runaway-transformer-adamw-s0")
    twin = telemetry.runs.filter(pl.col("twin_of") == "runaway-transformer-adamw-s0")
    runs, steps = [], []
    for name, lag in lags.items():
        runs.append(run.with_columns(run_id=pl.lit(name), failure_step=pl.lit(lag, pl.Int32) + 5))
        runs.append(twin.with_columns(run_id=pl.lit(f"{name}-twin"), twin_of=pl.lit(name)))
        for run_id, source in ((name, run), (f"{name}-twin", twin)):
            of_source = telemetry.steps.filter(pl.col("run_id") == source["run_id"][0])
            steps.append(of_source.with_columns(run_id=pl.lit(run_id)))
    for order in (runs, runs[::-1]):
        several = Telemetry(pl.concat(order), pl.concat(steps))
        chosen = chosen_twin(several, small_scenarios, REFERENCE, SETTINGS)
        assert (chosen.run_id, chosen.candidates) == ("runaway_c", 3)


def test_a_rule_that_no_run_fits_is_refused_by_its_parameter(telemetry, small_scenarios):
    none = SETTINGS.model_copy(update={"twin": TwinRule(seed=7, onset="mid_run", outcome="hung")})
    with pytest.raises(BadInputError, match=r"params\.yaml: benchmark\.twin: no recorded run"):
        chosen_twin(telemetry, small_scenarios, REFERENCE, none)
