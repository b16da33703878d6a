"""Runs that the real MLflow writes into its file store.

MLflow changes how a process logs and reports to its makers, so that it writes in one of its own.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.opening import read_log

LOSSES = [3.5, 2.25, math.nan, 0.125]

WRITER = """
import sys
from mlflow import MlflowClient

client = MlflowClient(tracking_uri="file://" + sys.argv[1])
experiment = client.create_experiment("tiny")
for name, factor in (("first", 1), ("second", 2), ("deleted", 3)):
    run = client.create_run(experiment, run_name=name).info.run_id
    client.log_param(run, "lr", 1e-3)
    client.log_param(run, "loss", "cross_entropy")
    client.set_tag(run, "loss", "9 9 9")
    for step, loss in enumerate([3.5, 2.25, float("nan"), 0.125]):
        client.log_metric(run, "train/loss", factor * loss, step=10 * step)
        client.log_metric(run, "accuracy", 0.5, step=step)
    client.log_metric(run, "val.loss", factor * 2.0, step=30)
    client.log_metric(run, "grad_norm", float("inf"), step=30)
    client.set_terminated(run, "FAILED")
    if name == "deleted":
        client.delete_run(run)
    print(run)
print(experiment)
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with three runs, and its experiment."""
    folder = tmp_path_factory.mktemp("mlflow") / "mlruns"
    environment = {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
    printed = subprocess.run(
        [sys.executable, "-c", WRITER, str(folder)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    *runs, experiment = printed.stdout.split()
    return folder, folder / experiment, runs


def losses(log, split="train"):
    return log.series("loss", split)["loss"].tolist()


def test_a_run_of_the_library_is_read_with_its_steps_and_nan(store):
    _, experiment, (first, *_) = store
    log = read_log(experiment / first)
    assert losses(log) == pytest.approx(LOSSES, nan_ok=True)
    assert log.series("loss").step.tolist() == [0, 10, 20, 30]
    assert log.series("loss").line.tolist() == [1, 2, 3, 4]
    assert losses(log, "validation") == [2.0]
    assert log.series("grad_norm")["grad_norm"].tolist() == [math.inf]
    assert {source.format for source in log.sources} == {"MLflow metric"}
    assert {source.name for source in log.sources} == {
        "metrics/train/loss", "metrics/val.loss", "metrics/grad_norm"
    }  # fmt: skip


def test_the_metrics_of_a_run_can_be_named_themselves(store):
    _, experiment, (first, *_) = store
    log = read_log(experiment / first / "metrics")
    assert losses(log) == pytest.approx(LOSSES, nan_ok=True)


def test_of_a_store_the_newest_run_is_read_that_was_not_deleted(store):
    folder, experiment, (first, second, deleted) = store
    for named in (folder, experiment):
        log = read_log(named)
        assert losses(log) == pytest.approx([2 * loss for loss in LOSSES], nan_ok=True)
        (note,) = log.sources[0].notes
        assert "newest of 3 runs (MLflow)" in note
        assert note.index(second) < note.index(first)
        assert deleted in note


def test_runs_of_which_the_start_is_not_known_have_to_be_named(tmp_path):
    for name in ("one", "two"):
        metrics = tmp_path / "0" / name / "metrics"
        metrics.mkdir(parents=True)
        (metrics / "loss").write_text("1700000000000 3.5 0\n")
    with pytest.raises(BadInputError, match="2 runs") as error:
        read_log(tmp_path)
    assert "0/one, 0/two" in error.value.problem
    assert losses(read_log(tmp_path / "0/two")) == [3.5]


def test_the_database_of_newer_versions_is_named_and_not_read(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(BadInputError, match="database") as error:
        read_log(tmp_path / "mlflow.db")
    assert "get_metric_history" in error.value.remedy
