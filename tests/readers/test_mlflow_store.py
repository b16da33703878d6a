"""Runs that the real MLflow writes into its file store.

MLflow changes how a process logs and reports to its makers, so that it writes in one of its own.
"""

import math
import os
import subprocess
import sys

import pytest

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


def test_of_a_store_the_newest_run_is_read_that_was_not_deleted(store):
    folder, experiment, (first, second, deleted) = store
    for named in (folder, experiment):
        log = read_log(named)
        assert losses(log) == pytest.approx([2 * loss for loss in LOSSES], nan_ok=True)
        (note,) = log.sources[0].notes
        assert "newest of 3 runs (MLflow)" in note
        assert note.index(second) < note.index(first)
        assert deleted in note
