"""From a server's answers to results: the command asks, one stage replays, another reports."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

import llm_agents
import measure_llm_agents
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
from study_settings import DRAWS, REFERENCE, TESTS, WILSON

RUNS = 20
RUN = "optimization_1-adamw-s0"
ARM = "llm_mistral_7b_monitored"
VERSION = "3"
MISTRAL = ("--model", "mistral_7b")
PARAMS = {
    "llm_agents": VALUES | {"pause_seconds": 0, "attempts": 1},
    "nested_cv": REFERENCE.model_dump(mode="json"),
    "monitor": {"versions": ["1", VERSION], "halves": ["test"], "steps_ahead": [0]}
    | {"lenders": [], "contrasts": []},
    "statistics": DRAWS | WILSON | TESTS,
}


@pytest.fixture(scope="module")
def telemetry() -> Telemetry:
    return made_up_telemetry(successes=1)


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch, repository, telemetry):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    scenarios = made_up_scenarios()
    tables = {
        "telemetry/runs": telemetry.runs,
        "telemetry/steps/transformer-adamw": telemetry.steps,
        "features/features": feature_table(telemetry, scenarios),
        "features/splits": make_splits(categories_of(scenarios), folds=2, repeats=2, seed=0),
    }
    for name, table in tables.items():
        write_parquet(table, Path(f"data/{name}.parquet"))
    shutil.copytree(repository / "data/monitor/versions", "data/monitor/versions")
    recorded = "data/llm/recorded_answers.csv"  # of none of these runs
    frozen = "data/monitor/frozen.json"
    for read in ("data/reported/paper.yaml", "figures/matplotlibrc", frozen, recorded):
        Path(read).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / read, read)
    monitor([RUN], telemetry)
    Path("params.yaml").write_text(yaml.safe_dump(PARAMS), encoding="utf-8")


def monitor(run_ids: list[str], telemetry: Telemetry) -> None:
    """Write what a monitor would have recorded of runs, and what broke by two versions."""
    seen = history(labels_outside={10: 7.0})
    table = monitored([({"run_id": run_id}, seen) for run_id in run_ids])
    write_monitored(Path("data/monitor"), "gru-sgd", table)
    breaks = break_table(table, read_rules(Path("data/monitor"), VERSION))
    step = pl.col("step").cast(pl.Int32)
    both = pl.concat(
        breaks.select(pl.lit(version).alias("version"), pl.all()).with_columns(at)
        for version, at in (("1", pl.lit(1, pl.Int32).alias("step")), (VERSION, step))
    )
    measured = Path("data/measurements/invariants")
    write_parquet(both, measured / "breaks.parquet")
    write_parquet(ends_of(table.runs, telemetry.runs), measured / "ends.parquet")


def results() -> tuple[dict[str, dict[str, object]], pl.DataFrame]:
    measure_llm_agents.main()
    llm_agents.main()
    metrics = json.loads(Path("data/metrics/llm_agents.json").read_text(encoding="utf-8"))
    return metrics, pl.read_parquet(measure_llm_agents.PREDICTIONS)


def asked(server: OllamaServer, *arguments: str) -> int:
    return main(["llm", "--host", server.host, *arguments])


def test_the_command_asks_every_run_and_the_stage_replays_without_the_server(capsys):
    with serving(OllamaServer()) as server:
        for _ in range(2):
            assert (asked(server), len(server.questions)) == (0, 2 * RUNS)
    metrics, predictions = results()
    available = {label: model["available"] for label, model in metrics.items()}
    assert available == {"mistral_7b": True, "llama_3_8b": True}
    assert metrics["mistral_7b"]["accuracy"]["value"] == 0.2
    assert set(predictions["method"]) == {"mistral_7b", "llama_3_8b"}
    again = results()
    assert again[0] == metrics
    assert again[1].equals(predictions)


def test_a_server_that_fails_half_way_leaves_one_line_per_answer_and_the_command_resumes(capsys):
    with serving(OllamaServer(replies=[Reply()] * 7 + [Reply(die=True)])) as server:
        assert asked(server, *MISTRAL) == 1
        assert "are kept" in capsys.readouterr().err
        metrics, predictions = results()
        assert metrics["mistral_7b"] == {"available": False, "answered": 7, "runs": RUNS}
        assert predictions.is_empty()
        assert (asked(server, *MISTRAL), len(server.questions)) == (0, 8 + RUNS - 7)
    metrics, predictions = results()
    assert (metrics["mistral_7b"]["available"], metrics["llama_3_8b"]["available"]) == (True, False)
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
    assert (words in error, "\n" in error) == (True, False)


def test_a_prompt_is_printed_as_it_is_sent(capsys):
    assert main(["prompt", RUN]) == 0
    printed = capsys.readouterr().out
    with serving(OllamaServer()) as server:
        assert asked(server, *MISTRAL) == 0
    sent = [tuple(part["content"] for part in body["messages"]) for body in server.questions]
    ((system, _),) = [messages for messages in sent if messages[1] in printed]
    assert system in printed
    key = printed.split("--- hash ")[1].strip()
    assert key in Path("data/llm/mistral_7b.jsonl").read_text(encoding="utf-8")
    assert "optimization_1" not in printed


def test_the_arm_that_reads_the_monitor_is_asked_and_scored(telemetry, capsys):
    arm = {"name": "mistral", "digest": "6577803aa9a0", "reads": "telemetry_and_monitor"}
    of_agents = PARAMS["llm_agents"] | {"models": VALUES["models"] | {ARM: arm}}
    Path("params.yaml").write_text(yaml.safe_dump(PARAMS | {"llm_agents": of_agents}), "utf-8")
    monitor(telemetry.runs.filter(kind="failure")["run_id"].to_list(), telemetry)
    with serving(OllamaServer()) as server:
        assert (asked(server), len(server.questions)) == (0, 3 * RUNS)
    shown = ["## Monitor" in body["messages"][1]["content"] for body in server.questions]
    assert sum(shown) == RUNS
    metrics, predictions = results()
    assert metrics[ARM]["available"] is True
    assert set(predictions["method"]) == {"mistral_7b", "llama_3_8b", ARM}
