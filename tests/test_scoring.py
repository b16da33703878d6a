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
from failbench.statistics.intervals import wilson
from failbench.study.scoring import method_scores
from made_up_monitored import history, monitored
from study_settings import INTERVALS_OF_FEW

TRAINED_ON = "added_tokens"


def test_a_single_scenario_of_a_category_gets_wilsons_interval():
    category = ["optimization"] * 2 + ["data_pipeline"] * 2
    keys = {"run_id": list("wxyz"), "scenario": list("aabb"), "seed": [0, 1, 0, 1]}
    runs = pl.DataFrame(keys | {"category": category})
    diagnosis = pl.Series([*category[:3], "abstain"])
    answers = runs.select("run_id", method=pl.lit("guess"), diagnosis=diagnosis)
    score = method_scores(runs, answers, INTERVALS_OF_FEW)["guess"]
    assert score.right == 3
    assert dict(score.answers) == {"abstain": 1, "data_pipeline": 1, "optimization": 2}
    accuracy = score.accuracy
    assert (accuracy.value, accuracy.n, accuracy.method) == (0.75, 2, "Wilson")
    assert (accuracy.ci_low, accuracy.ci_high) == wilson(0.75, 2, 0.95)


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


def change_runs(**columns):
    """Give the runs other columns."""
    path = Path("out/runs.parquet")
    write_parquet(pl.read_parquet(path).with_columns(**columns), path)


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
        assert sum(method["answers"].values()) == method["accuracy"]["n"] == 3
        assert method["accuracy"]["value"] == pytest.approx(method["right"] / 3)


def test_runs_of_scenarios_that_were_learnt_from_are_left_out_and_named(recorded, capsys):
    change_runs(scenario=pl.col("scenario").replace("runaway", TRAINED_ON))
    assert main(SCORE) == 0
    lines = capsys.readouterr().out.splitlines()
    left_out = f"left out: 1 run of scenarios that the methods have learnt from ({TRAINED_ON})"
    assert lines[:2] == ["2 failing runs of 2 scenarios", left_out]
    assert lines[2].startswith("simple_rules: accuracy ")


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        (None, "--method crystal_ball", "command line: --method: 'crystal_ball' is"),
        (lambda: Path("scenarios/optimization/runaway.json").unlink(), "",
         "out/runs.parquet: scenario: 'runaway-transformer-adamw-s0' has no label: no file in"),
        (lambda: change_runs(scenario=pl.lit(TRAINED_ON)), "",
         "out/runs.parquet: scenario: every failing run is of a scenario that the methods"),
        (lambda: change_runs(kind=pl.lit("twin")), "",
         "out/runs.parquet: kind: no run is a failure."),
        (lambda: Path("out/runs.parquet").unlink(), "", "out/runs.parquet: (file): is not a read"),
        (None, "--reference out", "out: --reference: has no out/params.yaml."),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_ends_with_2_and_one_line(
    recorded, capsys, change, options, complaint
):
    if change is not None:
        change()
    assert main([*SCORE, *options.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(complaint)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


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
    of_data = pl.when(pl.col("run_id").str.starts_with("a")).then(pl.lit("data"))
    ends = failing.select("run_id").with_columns(
        setting=pl.lit("transformer-adamw"), end_kind=pl.lit("exception"), end_phase=of_data,
        end_step=pl.lit(5), error=pl.lit("OSError"), message=pl.lit(None), failure_step=pl.lit(5),
    ).cast(END_SCHEMA).sort("run_id")  # fmt: skip
    breaks = pl.DataFrame(schema=BREAK_SCHEMA)
    verdicts = verdict_table(breaks, ends, read_rules(reference / "data/monitor", "1"))
    folder = reference / "data/measurements/invariants"
    for name, table in (("breaks", breaks), ("verdicts", verdicts)):
        versioned = table.select(pl.lit("1").alias("version"), pl.all())
        write_parquet(versioned, folder / f"{name}.parquet")
    write_parquet(ends, folder / "ends.parquet")

    def watched(run):
        failed = run["kind"] == "failure"
        return history(ERROR, 6, **SIGNS[run["scenario"]]) if failed else history(steps=6)

    runs = pl.read_parquet("out/runs.parquet").select("run_id", "kind", "scenario").to_dicts()
    table = monitored([(run, watched(run)) for run in runs])
    write_monitored(Path("out/monitor"), "gru-sgd", table)
    return reference


def test_methods_read_what_a_monitor_recorded_beside_the_telemetry(watched, capsys):
    def scored(*methods):
        options = ["--json", "--reference", str(watched), "--method", *methods]
        assert main(["score", "out", "--scenarios", "scenarios", *options]) == 0
        found = json.loads(capsys.readouterr().out)["methods"]
        assert set(found) == set(methods)
        return found

    found = scored("invariants", "ending", "forest_on_invariants", "simple_rules")
    # what broke and what ended say the same; and the rules read telemetry as before
    assert found["invariants"]["answers"] == {"data_pipeline": 3}
    assert scored("simple_rules")["simple_rules"] == found["simple_rules"]
