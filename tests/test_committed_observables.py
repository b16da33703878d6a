"""What the committed recordings let a diagnosis see."""

from __future__ import annotations

import polars as pl

from failbench.features.observables import observe
from failbench.scenarios import read_scenarios
from failbench.telemetry import read_telemetry


def test_committed_observables_name_no_scenario_no_fault_and_no_project_path(repository):
    telemetry = read_telemetry(repository / "data" / "telemetry")
    scenarios = read_scenarios(repository / "data" / "scenarios")
    last_steps = telemetry.runs.select("run_id", last_step=pl.col("failure_step"))
    observables, _ = observe(telemetry, last_steps)
    text = observables.runs.select(
        pl.concat_str(pl.col("error_type", "error_message", "error_traceback"), ignore_nulls=True)
    ).to_series()
    assert text.str.len_chars().gt(0).any()
    words = (
        {scenario.id for scenario in scenarios}
        | {scenario.fault.name for scenario in scenarios}
        | {"failbench"}
    )
    actual = {word for word in words if text.str.contains(rf"(?i)\b{word}\b").any()}
    assert not actual
