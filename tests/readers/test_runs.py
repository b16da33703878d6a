import json

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.readers.opening import read_log


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def losses(log):
    return log.series("loss")["loss"].tolist()


def notes(log):
    return [note for source in log.sources for note in source.notes]


def test_of_weights_and_biases_the_newest_run_is_read(tmp_path):
    names = ("run-20260102_090000-b2b2b2b2", "offline-run-20260103_080000-a1a1a1a1")
    for name, loss in zip(names, (2.0, 1.0), strict=True):
        put(tmp_path / "wandb" / name / "files/output.log", f"step 1 loss {loss}\n")
        put(tmp_path / "wandb" / name / "logs/debug.log", "INFO started\n")
    newest = tmp_path / "wandb" / names[1]
    (tmp_path / "wandb/latest-run").symlink_to(newest)
    log = read_log(tmp_path)
    assert losses(log) == [1.0]
    (note,) = notes(log)
    assert note.startswith("wandb/offline-run-20260103_080000-a1a1a1a1 is the newest of 2 runs")
    assert "run-20260102_090000-b2b2b2b2" in note
    assert losses(read_log(tmp_path / "wandb/latest-run")) == [1.0]
    assert notes(read_log(newest)) == []


def test_a_folder_that_is_a_run_is_read_without_those_below_it(tmp_path):
    for name, loss in (("trainer_state.json", 1.0), ("older/trainer_state.json", 2.0)):
        put(tmp_path / name, json.dumps({"log_history": [{"loss": loss, "step": 1}]}))
    log = read_log(tmp_path)
    assert losses(log) == [1.0]
    assert notes(log) == ["The runs below this one (Trainer) are not read: older."]


def test_logs_of_one_name_that_measured_the_same_steps_are_pointed_at(tmp_path):
    put(tmp_path / "a/train.log", "step 1 loss 3\nstep 9 loss 2\n")
    put(tmp_path / "b/train.log", "step 5 loss 3\n")
    put(tmp_path / "b/other.log", "step 5 loss 3\n")
    (note,) = notes(read_log(tmp_path))
    assert note.startswith("a/train.log and b/train.log have losses of the same steps")
    put(tmp_path / "b/train.log", "step 10 loss 3\n")
    assert notes(read_log(tmp_path)) == []


@pytest.fixture
def tensorboard_run():
    """Writes a run as torch's writer does; the time in the name of its file can be set."""
    pytest.importorskip("tensorboard")
    writers = pytest.importorskip("torch.utils.tensorboard")

    def write(folder, loss, seconds):
        with writers.SummaryWriter(str(folder)) as writer:
            writer.add_scalar("train/loss", loss, 1)
            writer.add_scalars("curves", {"loss": 7.0}, 1)
            writer.add_hparams({"lr": 1e-3}, {"hparam/accuracy": 0.5})
        for path in folder.rglob("*.tfevents.*"):
            head, mark, rest = path.name.partition(".tfevents.")
            path.rename(path.with_name(f"{head}{mark}{seconds}.{rest.partition('.')[2]}"))

    return write


def test_of_tensorboard_the_newest_run_is_read_with_what_its_writer_put_below_it(
    tmp_path, tensorboard_run
):
    tensorboard_run(tmp_path / "runs/b", 2.0, 1_700_000_100)
    tensorboard_run(tmp_path / "runs/c", 3.0, 1_700_000_200)
    tensorboard_run(tmp_path / "runs/a", 1.0, 1_600_000_000)
    log = read_log(tmp_path)
    assert 3.0 in losses(log)
    assert not {1.0, 2.0} & set(losses(log))
    assert all(source.name.startswith("runs/c/") for source in log.sources)
    (note,) = notes(log)
    assert note.endswith("name the folder of another to read it: runs/b, runs/a.")


def test_train_and_validation_beside_one_another_are_one_run(tmp_path, tensorboard_run):
    tensorboard_run(tmp_path / "fit/train", 3.0, 1_700_000_000)
    tensorboard_run(tmp_path / "fit/validation", 2.0, 1_700_000_001)
    log = read_log(tmp_path)
    assert {2.0, 3.0} <= set(losses(log))
    assert notes(log) == []


def test_versions_of_a_logger_of_lightning_are_counted_as_numbers(tmp_path):
    pytest.importorskip("tensorboard")
    loggers = pytest.importorskip("lightning.pytorch.loggers")
    for loss in (5.0, 4.0):
        for kind in (loggers.CSVLogger, loggers.TensorBoardLogger):
            logger = kind(tmp_path, name=kind.__name__)
            logger.log_metrics({"train_loss": loss}, step=1)
            logger.save()
            logger.finalize("success")
    log = read_log(tmp_path)
    assert [source.format for source in log.sources] == ["table", "TensorBoard events"]
    assert losses(log) == [4.0, 4.0]
    assert len(notes(log)) == 2
    put(tmp_path / "CSVLogger/version_10/metrics.csv", "step,loss\n1,10\n")
    assert losses(read_log(tmp_path)) == [10.0, 4.0]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ([f"run-20260102_090000-{name}/files/output.log" for name in ("aaaa", "bbbb")], "aaaa, "),
        ([f"{name}/version_0/metrics.csv" for name in ("one", "two")], "one/version_0, two/"),
        ([f"{name}/checkpoint-9/trainer_state.json" for name in ("\x1b[31mone", "two")], "one, t"),
        ([f"0/{name}/metrics/loss" for name in ("one", "two")], "0/one, 0/two"),
    ],
)
def test_of_runs_whose_age_is_not_known_one_has_to_be_named(tmp_path, files, names):
    for path in files:
        put(tmp_path / path, '[{"loss": 2, "step": 1}]')
    with pytest.raises(BadInputError, match="does not show which is the newest") as error:
        read_log(tmp_path)
    assert names in error.value.problem
    assert error.value.problem.isprintable()
    assert error.value.remedy == "Name the folder of one of them."
