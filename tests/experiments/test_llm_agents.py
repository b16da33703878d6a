"""From a server's answers to results: the command asks, one stage replays, another reports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

import llm_agents
import measure_llm_agents
from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, categories_of, write_parquet
from failbench.cli.main import main
from failbench.features.feature_table import feature_table
from failbench.monitor.records.tables import write_monitored
from failbench.monitor.records.verdicts import break_table, ends_of
from failbench.monitor.records.versions import read_rules
from failbench.prediction.splits import make_splits
from made_up_llm import VALUES
from made_up_monitored import history, monitored
from made_up_ollama import OllamaServer, Reply, serving
from made_up_telemetry import made_up_scenarios, made_up_telemetry

STATISTICS = {
    "confidence": 0.95,
    "resamples": 1000,
    "seed": 0,
    "wilson_from": 0.9,
    "wilson_below": 10,
    "practical_equivalence": 0.05,
    "equivalence_margin": 0.1,
    "power": 0.8,
}
RUNS = 20
RUN = "optimization_1-adamw-s0"
ARM = "llm_mistral_7b_monitored"
VERSION = "3"


@pytest.fixture(scope="module")
def telemetry() -> Telemetry:
    return made_up_telemetry(successes=1)


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch, repository, telemetry):
    """A folder with all that command and stage read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    write_parquet(telemetry.runs, Path("data/telemetry/runs.parquet"))
    write_parquet(telemetry.steps, Path("data/telemetry/steps/transformer-adamw.parquet"))
    scenarios = made_up_scenarios()
    write_parquet(feature_table(telemetry, scenarios), Path("data/features/features.parquet"))
    splits = make_splits(categories_of(scenarios), folds=2, repeats=2, seed=0)
    write_parquet(splits, Path("data/features/splits.parquet"))
    for read in ("data/reported/paper.yaml", "figures/matplotlibrc"):
        Path(read).parent.mkdir(parents=True)
        shutil.copy(repository / read, read)
    shutil.copytree(repository / "data/monitor/versions", "data/monitor/versions")
    shutil.copy(repository / "data/monitor/frozen.json", "data/monitor/frozen.json")
    monitor([RUN], telemetry)
    params = {
        "llm_agents": VALUES | {"pause_seconds": 0, "attempts": 1},
        "nested_cv": {
            "architecture": "transformer",
            "optimizer": "adamw",
            "scale": "small",
            "run_seeds": [0],
            "seed": 0,
        },
        "monitor": {
            "versions": ["1", VERSION],
            "halves": ["test"],
            "lenders": [],
            "contrasts": [],
            "steps_ahead": [0],
        },
        "statistics": STATISTICS,
    }
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def monitor(run_ids: list[str], telemetry: Telemetry) -> None:
    """Write what a monitor would have recorded of runs, and what broke by two versions."""
    table = monitored(
        [({"run_id": run_id}, history(labels_outside={10: 7.0})) for run_id in run_ids]
    )
    write_monitored(Path("data/monitor"), "gru-sgd", table)
    breaks = break_table(table, read_rules(Path("data/monitor"), VERSION))
    versions = [
        breaks.select(pl.lit("1").alias("version"), pl.all()).with_columns(step=pl.lit(1)),
        breaks.select(pl.lit(VERSION).alias("version"), pl.all()),
    ]
    measured = Path("data/measurements/invariants")
    both = pl.concat(part.with_columns(pl.col("step").cast(pl.Int32)) for part in versions)
    write_parquet(both, measured / "breaks.parquet")
    write_parquet(ends_of(table.runs, telemetry.runs), measured / "ends.parquet")


def declare_the_arm() -> None:
    params = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    arm = {"name": "mistral", "digest": "6577803aa9a0", "reads": "telemetry_and_monitor"}
    params["llm_agents"]["models"] = {**params["llm_agents"]["models"], ARM: arm}
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def results() -> tuple[dict[str, dict[str, object]], pl.DataFrame]:
    """Metrics and predictions of the stages, run now."""
    measure_llm_agents.main()
    llm_agents.main()
    return (
        json.loads(Path("data/metrics/llm_agents.json").read_text(encoding="utf-8")),
        pl.read_parquet(measure_llm_agents.PREDICTIONS),
    )


def test_the_command_asks_every_run_and_the_stage_replays_without_the_server(capsys):
    with serving(OllamaServer()) as server:
        assert main(["llm", "--host", server.host]) == 0
        assert len(server.questions) == 2 * RUNS
        assert main(["llm", "--host", server.host]) == 0
        assert len(server.questions) == 2 * RUNS
    metrics, predictions = results()
    assert {label: model["available"] for label, model in metrics.items()} == {
        "mistral_7b": True,
        "llama_3_8b": True,
    }
    assert metrics["mistral_7b"]["accuracy"]["value"] == 0.2
    assert set(predictions["method"]) == {"mistral_7b", "llama_3_8b"}
    again = results()
    assert again[0] == metrics
    assert again[1].equals(predictions)


def test_a_server_that_fails_half_way_leaves_one_line_per_answer_and_the_command_resumes(capsys):
    with serving(OllamaServer(replies=[Reply()] * 7 + [Reply(die=True)])) as server:
        assert main(["llm", "--host", server.host, "--model", "mistral_7b"]) == 1
        assert "are kept" in capsys.readouterr().err
        metrics, predictions = results()
        assert metrics["mistral_7b"] == {"available": False, "answered": 7, "runs": RUNS}
        assert predictions.is_empty()
        assert main(["llm", "--host", server.host, "--model", "mistral_7b"]) == 0
        assert len(server.questions) == 8 + RUNS - 7
    metrics, predictions = results()
    assert metrics["mistral_7b"]["available"] is True
    assert metrics["llama_3_8b"]["available"] is False
    assert set(predictions["method"]) == {"mistral_7b"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["llm", "--model", "mistral"], "Similar names are mistral_7b."),
        (["llm", "--host", "127.0.0.1:1"], "`ollama serve`"),
        (["llm", "--host", "http://[::bad"], "--host: is no address"),
        (["prompt", RUN[:-1] + "7"], RUN),
        (["prompt", "§"], "There is no similar name."),
    ],
)
def test_bad_input_ends_with_2_and_one_line(arguments, words, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip()
    assert words in error
    assert "\n" not in error


def test_a_prompt_is_printed_as_it_is_sent(capsys):
    assert main(["prompt", RUN]) == 0
    printed = capsys.readouterr().out
    with serving(OllamaServer()) as server:
        assert main(["llm", "--host", server.host, "--model", "mistral_7b"]) == 0
    sent = [tuple(part["content"] for part in body["messages"]) for body in server.questions]
    ((system, _),) = [messages for messages in sent if messages[1] in printed]
    assert system in printed
    key = printed.split("--- hash ")[1].strip()
    assert key in Path("data/llm/mistral_7b.jsonl").read_text(encoding="utf-8")
    assert "optimization_1" not in printed


def test_the_arm_that_reads_the_monitor_is_asked_replayed_and_scored_beside_the_others(
    telemetry, capsys
):
    declare_the_arm()
    monitor(telemetry.runs.filter(kind="failure")["run_id"].to_list(), telemetry)
    with serving(OllamaServer()) as server:
        assert main(["llm", "--host", server.host]) == 0
    assert len(server.questions) == 3 * RUNS
    shown = ["## Monitor" in body["messages"][1]["content"] for body in server.questions]
    assert sum(shown) == RUNS
    metrics, predictions = results()
    assert metrics[ARM]["available"] is True
    assert set(predictions["method"]) == {"mistral_7b", "llama_3_8b", ARM}


def test_the_arm_of_a_run_that_was_not_monitored_is_one_line_that_says_what_to_do(capsys):
    other = "unknown_0-adamw-s0"
    remedy = "`failbench record --signals full --architecture transformer --optimizer adamw`"
    assert main(["prompt", other, "--reads", "telemetry_and_monitor"]) == 2
    printed = capsys.readouterr().err
    assert other in printed
    assert remedy in printed
    assert printed.count("\n") == 1
    declare_the_arm()
    with serving(OllamaServer()) as server:
        assert main(["llm", "--host", server.host, "--limit", "1"]) == 2
        assert remedy in capsys.readouterr().err
        assert not server.questions
        assert main(["llm", "--host", server.host, "--limit", "1", "--model", "mistral_7b"]) == 0
    with pytest.raises(BadInputError, match="was not monitored"):
        measure_llm_agents.main()
