"""What was recorded of scenarios, and the run that is drawn over its twin."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.studies.benchmark.chosen_twin import chosen_twin
from failbench.studies.benchmark.results import DIFFICULTY_SCHEMA, described, scale_of
from failbench.studies.benchmark.settings import BenchmarkSettings, TwinRule
from failbench.studies.benchmark.tables import FACETS, counts, scenarios_tables
from failbench.telemetry import Telemetry

REFERENCE = (pl.col("architecture") == "transformer") & (pl.col("optimizer") == "adamw")
SETTINGS = BenchmarkSettings(
    twin=TwinRule(seed=0, onset="mid_run", outcome="diverged"),
    signals=("learning_rate", "gradient_norm"),
    before=3,
    after=2,
    prompt_steps=2,
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


def test_a_scenario_has_its_runs_outcome_and_steps(small_telemetry, small_scenarios, difficulty):
    rows = {
        row.scenario.id: row
        for row in described(small_telemetry.runs, small_scenarios, difficulty, REFERENCE)
    }
    late = rows["late_crash"]
    assert (late.runs, late.outcome, late.outcomes, late.steps) == (1, "crash", 1, 3.0)
    assert late.measured_difficulty == "hard"
    assert late.reference_steps == 3.0


def test_a_scenario_without_runs_of_the_reference_has_no_steps_there(
    small_telemetry, small_scenarios, difficulty
):
    rows = described(small_telemetry.runs, small_scenarios, difficulty, pl.lit(value=False))
    assert {row.reference_steps for row in rows} == {None}
    _, everything = scenarios_tables(rows, scale_of(small_telemetry.runs), "a setting")
    assert {row[-1] for row in everything.rows} == {"–"}


def test_each_scenario_is_counted_once_in_every_facet(small_telemetry, small_scenarios, difficulty):
    rows = described(small_telemetry.runs, small_scenarios, difficulty, REFERENCE)
    for facet, of_values in counts(rows).items():
        total = sum(sum(of_category.values()) for of_category in of_values.values())
        assert total == len(small_scenarios), facet
    assert counts(rows)["outcome"]["diverged"]["optimization"] == 1
    summary, _ = scenarios_tables(rows, scale_of(small_telemetry.runs), "a setting")
    values = sum(len(of_facet) for _, of_facet, _ in FACETS.values())
    assert len(summary.rows) == 3 + len(FACETS) + values


def test_runs_are_counted_by_kind_and_seeds_by_setting(small_telemetry):
    scale = scale_of(small_telemetry.runs)
    assert scale.runs == {"failure": 3, "twin": 3}
    assert (scale.settings, scale.architectures, scale.optimizers, scale.seeds) == (1, 1, 1, 1)


def test_a_scenario_that_was_not_recorded_is_refused(small_telemetry, small_scenarios, difficulty):
    runs = small_telemetry.runs.filter(pl.col("scenario") != "runaway")
    with pytest.raises(BadInputError, match=r"runs\.parquet.*'runaway'.*failbench record"):
        described(runs, small_scenarios, difficulty, REFERENCE)


def test_a_scenario_of_unmeasured_difficulty_is_refused(
    small_telemetry, small_scenarios, difficulty
):
    known = difficulty.filter(pl.col("scenario") != "runaway")
    with pytest.raises(BadInputError, match=r"'runaway' was not measured.*dvc repro"):
        described(small_telemetry.runs, small_scenarios, known, REFERENCE)


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


def test_of_two_signals_that_depart_together_the_first_named_is_drawn(telemetry, small_scenarios):
    together = Telemetry(
        telemetry.runs,
        telemetry.steps.with_columns(
            learning_rate=pl.when(pl.col("gradient_norm") == 9.0)
            .then(0.5)
            .otherwise("learning_rate")
        ),
    )
    chosen = chosen_twin(together, small_scenarios, REFERENCE, SETTINGS)
    assert chosen.signal == "learning_rate"


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


def test_signals_none_of_which_departs_are_refused(small_telemetry, small_scenarios):
    with pytest.raises(BadInputError, match=r"benchmark\.signals: none of them departs"):
        chosen_twin(small_telemetry, small_scenarios, REFERENCE, SETTINGS)
