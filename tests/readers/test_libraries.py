import contextlib
import math
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry
from failbench.diagnose.readers.opening import read_log
from failbench.diagnose.readers.records import MARK, read_events
from failbench.monitor import Monitor
from pipeline import REPOSITORY

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from torch.utils.tensorboard import SummaryWriter  # noqa: E402

from made_up_models import ROWS, BrokenError, Texts, causal_model  # noqa: E402

LOSSES = [3.5, 2.25, math.nan, 0.125]


def values(log, signal="loss", split="train"):
    return log.series(signal, split)[signal].tolist()


def test_the_folder_of_a_trainer(tmp_path):
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=8, per_device_train_batch_size=ROWS, logging_steps=2,
        eval_strategy="steps", eval_steps=4, save_steps=4, report_to=[], use_cpu=True,
        disable_tqdm=True,
    )  # fmt: skip
    data = {"train_dataset": Texts(64), "eval_dataset": Texts(6, seed=1)}
    trainer = transformers.Trainer(causal_model(), arguments, **data)
    trainer.train()
    history, log = trainer.state.log_history, read_log(tmp_path)

    def logged(name):
        return [row[name] for row in history if name in row]

    assert [source.name for source in log.sources] == ["checkpoint-8/trainer_state.json"]
    assert log.series("loss").step.tolist() == [row["step"] for row in history if "loss" in row]
    assert values(log) == logged("loss")
    assert values(log, split="validation") == logged("eval_loss")
    assert values(log, "grad_norm") == logged("grad_norm")


def test_the_log_of_the_monitor_of_a_training_that_ends_in_an_error(tmp_path):
    model, seen = torch.nn.Linear(4, 3), []
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with contextlib.suppress(BrokenError), Monitor(tmp_path / "run") as monitor:
        monitor.watch(model, optimizer)
        for batch in monitor.data([torch.ones(2, 4)] * 5):
            logits, labels = model(batch), torch.tensor([0, 1])
            loss = torch.nn.functional.cross_entropy(logits, labels)
            seen.append(monitor.loss(logits, labels, loss).item())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if len(seen) == 4:
                raise BrokenError("the fourth step")
    for path in (tmp_path / "run", tmp_path / "run/signals.jsonl", tmp_path):
        log = read_log(path)
        assert log.sources[0].format == "monitor"
        assert values(log) == pytest.approx(seen, rel=1e-5)
        (event,) = log.events
        assert (event.kind, event.message) == ("exception", "the fourth step")
        assert event.name.endswith("BrokenError")


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


def test_a_run_of_mlflow_and_of_its_store_the_newest_that_was_not_deleted(tmp_path):
    """MLflow changes how a process logs and reports to its makers: it writes in one of its own."""
    folder = tmp_path / "mlruns"
    environment = {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
    printed = subprocess.run(
        [sys.executable, "-c", WRITER, folder],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second, deleted, experiment = printed.stdout.split()
    log = read_log(folder / experiment / first)
    assert values(log) == pytest.approx(LOSSES, nan_ok=True)
    assert log.series("loss").step.tolist() == [0, 10, 20, 30]
    assert log.series("loss").line.tolist() == [1, 2, 3, 4]
    assert values(log, split="validation") == [2.0]
    assert values(log, "grad_norm") == [math.inf]
    assert {(source.format, source.name.removeprefix("metrics/")) for source in log.sources} == {
        ("MLflow metric", name) for name in ("train/loss", "val.loss", "grad_norm")
    }
    for named in (folder, folder / experiment):
        log = read_log(named)
        assert values(log) == pytest.approx([2 * loss for loss in LOSSES], nan_ok=True)
        (note,) = log.sources[0].notes
        assert "newest of 3 runs (MLflow)" in note
        assert note.index(second) < note.index(first)
        assert deleted in note


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """A run of four steps, with tags of transformers and of one's own, and things to leave out."""
    folder = tmp_path_factory.mktemp("run")
    with SummaryWriter(str(folder)) as writer:
        for step, loss in enumerate(LOSSES):
            writer.add_scalar("train/loss", loss, step)
            writer.add_scalar("train/epoch", step / 4, step)
            writer.add_scalar("accuracy", 0.5, step)
        writer.add_scalar("eval/loss", 2.0, 3, new_style=True)
        writer.add_scalar("Learning Rate", 1e-3, 3, new_style=True, double_precision=True)
        writer.add_text("note", "loss 9", 3)
    return folder


@pytest.fixture(scope="module")
def data(events):
    (path,) = events.glob("events.out.tfevents.*")
    return path.read_bytes()


def test_what_tensorboard_wrote_is_read_by_any_name_and_in_any_chunks(events, data, tmp_path):
    log = read_log(events)
    assert [source.format for source in log.sources] == ["TensorBoard events"]
    assert values(log) == pytest.approx(LOSSES, nan_ok=True)
    assert log.series("loss").step.tolist() == [0, 1, 2, 3]
    assert values(log, split="validation") == [2.0]
    assert values(log, "learning_rate") == [1e-3]
    assert log.present == ("loss", "learning_rate")
    (tmp_path / "download").write_bytes(data)
    assert read_log(tmp_path / "download").frame().equals(log.frame())
    for size in (1, 7, 1000):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert read_events("-", chunks).frame().equals(read_events("-", [data]).frame())


def test_events_that_end_within_a_record_or_are_of_no_size_are_read_up_to_it(data):
    lengths = []
    for size in range(len(data)):
        log = read_events("-", [data[:size]])
        lengths.append(len(log.rows))
        assert not log.sources[0].notes or "cut off" in log.sources[0].notes[0]
    assert lengths == sorted(lengths)
    assert lengths[-1] >= len(LOSSES)
    log = read_events("-", [data + b"\xff" * 12 + data])
    assert values(log) == pytest.approx(LOSSES, nan_ok=True)
    assert "cut off" in log.sources[0].notes[0]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_any_payload_is_read_or_counted_as_damaged(payload):
    log = read_events(
        "-",
        [len(each).to_bytes(8, "little") + bytes(4) + each + bytes(4) for each in (MARK, payload)],
    )
    assert log.sources[0].lines == 2


@pytest.fixture(scope="module")
def telemetry():
    return read_telemetry(REPOSITORY / "data/telemetry")


@pytest.mark.parametrize(
    ("ending", "named_by"),
    [("exception", "error_type"), ("signal", "exit_signal"), ("timeout", None), ("completed", "")],
)
def test_a_recorded_run_is_read_as_it_was_recorded(telemetry, ending, named_by):
    run = telemetry.runs.filter(ending=ending).sort("run_id").row(0, named=True)
    log = read_log(REPOSITORY / "data/telemetry", run["run_id"])
    steps = telemetry.select(pl.col("run_id") == run["run_id"]).steps
    assert log.series("loss").step.tolist() == steps.drop_nulls("loss")["step"].to_list()
    assert values(log) == steps["loss"].drop_nulls().cast(pl.Float64).to_list()
    assert len(log.series("loss", "validation")) == steps["validation_loss"].count()
    assert log.absent == ("perplexity",)
    names = [] if ending == "completed" else [run[named_by] if named_by else ""]
    assert [event.name for event in log.events] == names


@pytest.mark.parametrize(("run", "words"), [(None, "no run is named"), ("nobody", "no run of it")])
def test_a_folder_of_many_runs_wants_a_name(run, words):
    with pytest.raises(BadInputError, match=words) as error:
        read_log(REPOSITORY / "data/telemetry", run)
    assert "--run" in error.value.remedy
