from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.telemetry import Telemetry
from failbench.neighbours.peers.recorder import SEED, Peer, record, renderer
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, Reading
from failbench.neighbours.rendering.shape import draw_names
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


def test_every_run_is_asked_about_in_every_format(tmp_path):
    asked = Asked()
    table = recorded(tmp_path / "verdicts.parquet", asked)
    assert asked.times == 4
    assert table.select("run_id", "format").rows() == [
        ("run-a", "csv"),
        ("run-a", "text"),
        ("run-b", "csv"),
        ("run-b", "text"),
    ]
    assert VERDICT_TABLE.read(tmp_path / "verdicts.parquet").equals(table)


def test_a_peer_is_given_its_own_formats_alone(tmp_path):
    few, many = Asked(formats=("csv",)), Asked()
    doctor = Peer("training_doctor", "0.1.0", few.peer.formats, lambda folder: Reading())
    table = record(
        tmp_path / "verdicts.parquet", RUNS, [doctor, many.peer], rendered, lambda *_: None
    )
    formats = table.filter(pl.col("peer") == "training_doctor")["format"]
    assert formats.to_list() == ["csv", "csv"]


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
    assert {name: names[name] for name in ("step", "loss", "grad_norm", "learning_rate")} == {
        "step": "step",
        "loss": "loss",
        "grad_norm": "grad_norm",
        "learning_rate": "lr",
    }
    assert names["validation"] == "eval_loss"
    assert names["memory"] == "gpu_mem"
    assert names["throughput"] == "tokens_per_sec"


def telemetry() -> Telemetry:
    made_up = made_up_telemetry()
    runs = made_up.runs.with_columns(
        nominal_batch_size=pl.lit(4, pl.Int32),
        nominal_sequence_length=pl.lit(16, pl.Int32),
        planned_steps=pl.lit(STEPS, pl.Int32),
        corpus_tokens=pl.lit(640, pl.Int64),
    )
    return Telemetry(runs, made_up.steps)


def test_a_run_without_steps_can_be_rendered():
    made_up = telemetry()
    empty = Telemetry(made_up.runs, made_up.steps.clear())
    assert (
        renderer(empty)(made_up.runs["run_id"][0], "csv")["metrics.csv"].decode().count("\n") == 1
    )
