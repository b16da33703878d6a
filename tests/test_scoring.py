"""Scores: accuracies of methods on runs of scenarios that they have not learnt from."""

import json
from pathlib import Path

import polars as pl
import pytest

from failbench.base.telemetry import write_parquet
from failbench.cli.main import main
from failbench.monitor.end import End
from failbench.monitor.records.tables import write_monitored
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, verdict_table
from failbench.monitor.records.versions import read_rules
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scenario_values import scenario_answers
from failbench.study.scoring import accuracy_interval, method_scores
from made_up_monitored import history, monitored

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
)
TRAINED_ON = "added_tokens"


def runs_of(**scenarios):
    """Two seeds of each scenario, by its category."""
    return pl.DataFrame(
        [
            {"run_id": f"{name}-s{seed}", "scenario": name, "seed": seed, "category": category}
            for name, category in scenarios.items()
            for seed in (0, 1)
        ]
    )


def answers_to(runs, answer):
    return runs.select("run_id", "category").with_columns(
        method=pl.lit("guess"),
        diagnosis=pl.Series([answer(*row) for row in runs.select("run_id", "category").rows()]),
    )


def test_a_single_scenario_of_a_category_gets_wilsons_interval():
    runs = runs_of(one="optimization", two="data_pipeline")
    diagnoses = answers_to(runs, lambda run, category: category if run != "two-s1" else "abstain")
    score = method_scores(runs, diagnoses, SETTINGS)["guess"]
    assert (score.right, dict(score.answers)) == (
        3,
        {"abstain": 1, "data_pipeline": 1, "optimization": 2},
    )
    accuracy = score.accuracy
    assert (accuracy.value, accuracy.n, accuracy.method) == (0.75, 2, "Wilson")
    assert (accuracy.ci_low, accuracy.ci_high) == wilson(0.75, 2, 0.95)


def test_several_scenarios_of_each_category_get_the_interval_of_the_studies():
    names = {f"cause_{index}": ("optimization", "data_pipeline")[index % 2] for index in range(12)}
    runs = runs_of(**names)
    wrong = {"cause_0-s0", "cause_3-s0", "cause_3-s1", "cause_4-s1", "cause_7-s0"}
    diagnoses = answers_to(runs, lambda run, category: "unknown" if run in wrong else category)
    predictions = (
        diagnoses.select("run_id", prediction="diagnosis")
        .join(runs, on="run_id")
        .with_columns(repeat=pl.lit(0))
    )
    accuracy = accuracy_interval(predictions, SETTINGS)
    expected = scenario_intervals(scenario_answers(predictions), OVERALL[:1], SETTINGS)
    assert accuracy == expected["accuracy"]
    assert accuracy.method == "BCa bootstrap"
    assert accuracy.value == pytest.approx(1 - len(wrong) / runs.height)


@pytest.fixture
def recorded(tmp_path, small_telemetry, small_scenarios, monkeypatch):
    """Telemetry and the files of its scenarios, in a working directory that is no checkout."""
    monkeypatch.chdir(tmp_path)
    for scenario in small_scenarios:
        path = Path("scenarios") / scenario.category / f"{scenario.id}.json"
        path.parent.mkdir(parents=True)
        path.write_text(scenario.model_dump_json(), encoding="utf-8")
    write_parquet(small_telemetry.runs, Path("out/runs.parquet"))
    write_parquet(small_telemetry.steps, Path("out/steps/transformer-adamw.parquet"))
    return tmp_path


def rename(before, after):
    """Give the runs of a scenario, or of all, another scenario."""
    runs = pl.read_parquet("out/runs.parquet")
    mine = pl.lit(value=True) if before is None else pl.col("scenario") == before
    renamed = pl.when(mine).then(pl.lit(after)).otherwise("scenario").alias("scenario")
    write_parquet(runs.with_columns(renamed), Path("out/runs.parquet"))


SCORE = ["score", "out", "--method", "simple_rules", "--scenarios", "scenarios"]


def test_the_record_counts_every_run_once(recorded, capsys):
    assert main([*SCORE, "--method", "symptom_baseline", "--json"]) == 0
    captured = capsys.readouterr()
    score = json.loads(captured.out)
    assert captured.err == "diagnosing, 6 of 6 done\n"
    assert (score["runs"], score["excluded"], score["confidence"]) == (3, {}, 0.95)
    assert set(score["scenarios"]) == {"late_crash", "no_start", "runaway"}
    assert set(score["methods"]) == {"simple_rules", "symptom_baseline"}
    for method in score["methods"].values():
        assert sum(method["answers"].values()) == 3
        assert method["accuracy"]["value"] == pytest.approx(method["right"] / 3)
        assert method["accuracy"]["n"] == 3


def test_runs_of_scenarios_that_were_learnt_from_are_left_out_and_named(recorded, capsys):
    rename("runaway", TRAINED_ON)
    assert main(SCORE) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "2 failing runs of 2 scenarios",
        f"left out: 1 run of scenarios that the methods have learnt from ({TRAINED_ON})",
    ]
    assert lines[2].startswith("simple_rules: accuracy ")


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        (lambda: None, ["--method", "crystal_ball"], "command line: --method: 'crystal_ball' is"),
        (lambda: None, ["--method", "simulated_human"], "command line: --method: 'simulated_h"),
        (
            lambda: Path("scenarios/optimization/runaway.json").unlink(),
            [],
            "out/runs.parquet: scenario: 'runaway-transformer-adamw-s0' has no label: no file in",
        ),
        (
            lambda: rename(None, TRAINED_ON),
            [],
            "out/runs.parquet: scenario: every failing run is of a scenario that the methods",
        ),
        (
            lambda: write_parquet(
                pl.read_parquet("out/runs.parquet").filter(pl.col("kind") != "failure"),
                Path("out/runs.parquet"),
            ),
            [],
            "out/runs.parquet: kind: no run is a failure.",
        ),
        (lambda: Path("out/runs.parquet").unlink(), [], "out/runs.parquet: (file): is not a read"),
        (lambda: None, ["--reference", "out"], "out: --reference: has no out/params.yaml."),
        (lambda: None, ["--scenarios", "nowhere"], "nowhere: (folder): holds no scenario files."),
    ],
)
def test_what_cannot_be_scored_ends_with_2_and_one_line(
    recorded, capsys, change, options, complaint
):
    change()
    assert main([*SCORE, *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(complaint)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_checkout_elsewhere_is_the_reference_of_a_diagnosis_too(
    recorded, repository, capsys, monkeypatch
):
    monkeypatch.setattr("failbench.__file__", str(recorded / "site-packages/failbench/x.py"))
    diagnose = ["diagnose", "out", "--output", "diagnoses.parquet"]
    assert main(diagnose) == 2
    assert main([*diagnose, "--reference", str(repository)]) == 0
    assert pl.read_parquet("diagnoses.parquet").height == 3


SIGNS = {"late_crash": {"labels_outside": {2: 1.0}}, "no_start": {}, "runaway": {}}
"""What the monitor saw in each of the made-up causes, the last two of which ended alike."""
ERROR = End("exception", "data", 5, "OSError", "")


@pytest.fixture
def watched(recorded, repository):
    """A checkout whose runs a monitor watched, as it did those of the folder that is scored."""
    reference = recorded / "checkout"
    (reference / "data").mkdir(parents=True)
    for name in ("params.yaml", "data/features", "data/scenarios", "data/monitor"):
        (reference / name).symlink_to(repository / name)
    failing = pl.read_parquet(repository / "data/features/features.parquet").filter(kind="failure")
    ends = failing.select("run_id").with_columns(
        setting=pl.lit("transformer-adamw"),
        end_kind=pl.lit("exception"),
        end_phase=pl.when(pl.col("run_id").str.starts_with("a")).then(pl.lit("data")),
        end_step=pl.lit(5),
        error=pl.lit("OSError"),
        message=pl.lit(None),
        failure_step=pl.lit(5),
    )
    ends = ends.cast(END_SCHEMA).sort("run_id")
    rules = read_rules(reference / "data/monitor", "1")
    breaks = pl.DataFrame(schema=BREAK_SCHEMA)
    version = pl.lit("1").alias("version")
    folder = reference / "data/measurements/invariants"
    write_parquet(breaks.select(version, pl.all()), folder / "breaks.parquet")
    verdicts = verdict_table(breaks, ends, rules)
    write_parquet(verdicts.select(version, pl.all()), folder / "verdicts.parquet")
    write_parquet(ends, folder / "ends.parquet")
    runs = pl.read_parquet("out/runs.parquet")
    table = monitored(
        [
            (
                {"run_id": run["run_id"], "kind": run["kind"], "scenario": run["scenario"]},
                history(ERROR, 6, **SIGNS[run["scenario"]])
                if run["kind"] == "failure"
                else history(steps=6),
            )
            for run in runs.to_dicts()
        ]
    )
    write_monitored(Path("out/monitor"), "gru-sgd", table)
    return reference


MONITORED = [*SCORE[:2], "--scenarios", "scenarios", "--json", "--method"]


def test_methods_read_what_a_monitor_recorded_beside_the_telemetry(watched, capsys):
    options = ["--reference", str(watched)]
    methods = ["invariants", "ending", "forest_on_invariants", "simple_rules"]
    assert main([*MONITORED, *methods, *options]) == 0
    scored = json.loads(capsys.readouterr().out)["methods"]
    # what broke and what ended say the same; and the rules read telemetry as before
    assert scored["invariants"]["answers"] == {"data_pipeline": 3}
    assert set(scored) == set(methods)
    assert main([*MONITORED, "simple_rules", *options]) == 0
    alone = json.loads(capsys.readouterr().out)["methods"]
    assert alone["simple_rules"] == scored["simple_rules"]
