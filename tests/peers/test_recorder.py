from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.telemetry import Telemetry
from failbench.neighbours.peers.recorder import SEED, Peer, record, renderer
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, Reading
from failbench.neighbours.rendering.run import draw_names
from made_up_telemetry import STEPS, made_up_telemetry

RUNS = ("run-a", "run-b")


class Asked:
    """A peer that reports what is written in the log, and knows how often it was asked."""

    def __init__(self, issue="divergence", version="0.1.1", formats=("csv", "text")):
        self.issue = issue
        self.times = 0
        self.peer = Peer("runmedic", version, formats, self.read)

    def read(self, folder):
        self.times += 1
        content = (folder / "logs" / "log.txt").read_text(encoding="utf-8")
        if "odd" in content:
            return Reading(unreadable="\x1b[31mno metrics\x1b[0m")
        return Reading((self.issue,), ("critical",))


def rendered(run, form):
    return {"logs/log.txt": f"{run} as {form}".encode()}


def recorded(path, *asked, runs=RUNS, render=rendered, progress=lambda done, planned: None):
    return record(path, runs, [one.peer for one in asked], render, progress)


def test_every_run_is_asked_about_in_every_format_of_the_peer(tmp_path):
    path, asked = tmp_path / "verdicts.parquet", Asked()
    table = recorded(path, asked)
    assert asked.times == 4
    asked_about = [(run, form) for run in RUNS for form in ("csv", "text")]
    assert table.select("run_id", "format").rows() == asked_about
    assert VERDICT_TABLE.read(path).equals(table)
    doctor = Peer("training_doctor", "0.1.0", ("csv",), lambda folder: Reading())
    both = record(path, RUNS, [doctor, asked.peer], rendered, lambda *_: None)
    assert both.filter(peer="training_doctor")["format"].to_list() == ["csv", "csv"]


def test_a_log_or_a_version_that_changed_is_asked_about_again_and_nothing_else(tmp_path):
    path = tmp_path / "verdicts.parquet"
    recorded(path, Asked())

    def changed(run, form):
        return rendered(run, "odd " + form) if run == "run-b" else rendered(run, form)

    asked = Asked()
    assert (
        recorded(path, asked, render=changed)["unreadable"].drop_nulls().to_list()
        == ["no metrics"] * 2
    )
    assert asked.times == 2
    newer = Asked(version="0.1.2")
    assert recorded(path, newer, render=changed, runs=RUNS[:1]).height == 2
    assert newer.times == 2


def test_an_issue_that_is_not_mapped_stops_the_recording(tmp_path):
    with pytest.raises(ValueError, match="reports 'bad_weather'"):
        recorded(tmp_path / "verdicts.parquet", Asked(issue="bad_weather"))


def test_the_names_of_users_are_those_that_the_peers_document():
    names = draw_names(np.random.default_rng(SEED))
    documented = {"step": "step", "loss": "loss", "grad_norm": "grad_norm", "learning_rate": "lr"}
    documented |= {"validation": "eval_loss", "memory": "gpu_mem", "throughput": "tokens_per_sec"}
    assert documented.items() <= names.items()


def test_a_run_without_steps_can_be_rendered():
    made_up = made_up_telemetry()
    planned = {"nominal_batch_size": 4, "nominal_sequence_length": 16, "planned_steps": STEPS}
    runs = made_up.runs.with_columns(
        *(pl.lit(value, pl.Int32).alias(name) for name, value in planned.items()),
        corpus_tokens=pl.lit(640, pl.Int64),
    )
    files = renderer(Telemetry(runs, made_up.steps.clear()))(runs["run_id"][0], "csv")
    assert files["metrics.csv"].decode().count("\n") == 1
