import re

import polars as pl

from failbench.base.params import PARAMS, read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import read_telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.features.observables import observe
from failbench.methods.llm.prompt import prompts_of
from failbench.methods.llm.record import monitor_records
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.monitor.records.scoring import ScoringParams
from failbench.monitor.records.versions import read_rules


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


def test_the_monitors_record_of_committed_runs_tells_no_label_and_nothing_of_the_benchmark(
    repository,
):
    settings = read_section("llm_agents", LlmAgentsSettings, repository / PARAMS)
    version = read_section("monitor", ScoringParams, repository / PARAMS).versions[-1]
    measured = repository / "data" / "measurements" / "invariants"
    runs = pl.read_parquet(repository / "data" / "monitor" / "runs.parquet")
    breaks = pl.read_parquet(measured / "breaks.parquet").filter(pl.col("version") == version)
    ends = pl.read_parquet(measured / "ends.parquet")
    rules = read_rules(repository / "data" / "monitor", version)
    records = monitor_records(runs, breaks, ends, rules, settings)
    failed_at = dict(ends.select("run_id", "failure_step").rows())
    judged = runs.filter(kind="failure").join(ends, on="run_id", how="semi")
    failing = sorted(judged["run_id"])
    assert failing
    assert set(failing) <= set(records)

    telemetry = read_telemetry(repository / "data" / "telemetry")
    plain = prompts_of(telemetry, failing, settings)
    monitored = prompts_of(telemetry, failing, settings, records)
    scenarios = read_scenarios(repository / "data" / "scenarios")
    # a few invariants are called as the signal that they speak of, which is shown
    invariants = {each.id for each in rules.invariants} - {each.signal for each in rules.invariants}
    words = {
        *(scenario.id for scenario in scenarios),
        *(scenario.fault.name for scenario in scenarios),
        *(category for category in CATEGORIES if category != "unknown"),
        *(name for name in invariants if "_" in name),
        *("failbench", "onset", "twin", "scenario", "symptom"),
    }
    leak = re.compile(rf"\b(?:{'|'.join(sorted(words))})\b", re.I)
    for run_id in failing:
        shown = monitored[run_id].user
        part = shown.split("## Monitor: ", 1)[1]
        assert not leak.search(part), run_id
        assert run_id not in part
        assert all(int(each.step) <= failed_at[run_id] for each in records[run_id].breaks)
        # what is added leaves room in the context that all models share
        assert len(shown) - len(plain[run_id].user) < settings.context_tokens / 4
