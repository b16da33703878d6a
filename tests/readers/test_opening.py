"""Files, folders and standard input; what is there is read, and what is not is said."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.diagnose.readers.folders import MOST_FILES
from failbench.diagnose.readers.opening import read_log

HISTORY = [
    {"loss": 3.5, "grad_norm": 1.0, "learning_rate": 1e-3, "epoch": 0.5, "step": 10},
    {"loss": 0.0, "grad_norm": float("nan"), "learning_rate": 1e-3, "epoch": 1.0, "step": 20},
    {"eval_loss": 3.25, "epoch": 1.0, "step": 20},
]


def state(path, history=HISTORY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"global_step": 20, "log_history": history}, indent=2))


def test_the_state_of_a_trainer_is_read_with_its_nan(tmp_path):
    state(tmp_path / "trainer_state.json")
    log = read_log(tmp_path / "trainer_state.json")
    assert log.sources[0].format == "trainer_state"
    assert log.rows.step.tolist() == [10, 20, 20]
    assert log.rows.is_train.tolist() == [True, True, False]
    assert log.frame()["grad_norm"].is_nan().to_list() == [False, True, None]
    assert log.absent == ("perplexity", "memory", "throughput")


def test_of_the_states_of_checkpoints_the_last_one_holds_all(tmp_path):
    for step in (9, 10, 100):
        state(tmp_path / f"checkpoint-{step}/trainer_state.json", HISTORY[:1])
    assert [source.name for source in read_log(tmp_path).sources] == [
        "checkpoint-100/trainer_state.json"
    ]
    state(tmp_path / "trainer_state.json")
    assert [source.name for source in read_log(tmp_path).sources] == ["trainer_state.json"]


@pytest.mark.parametrize(
    ("document", "losses"),
    [
        ([{"_step": 1, "train/loss": 2.0}, {"_step": 2, "train/loss": None}], [2.0]),
        ({"metrics": {"steps": [1, 2, 3], "train_loss": [3, 2, 1]}}, [3.0, 2.0, 1.0]),
        ({"loss": [1.5, 1.0], "val_loss": [2.0]}, [1.5, 2.0, 1.0]),
        ({"history": [{"step": 1, "loss": "1e-1"}, {"step": 2, "loss": True}]}, [0.1]),
    ],
)
def test_records_and_curves_of_a_document_are_read(tmp_path, document, losses):
    path = tmp_path / "history.json"
    path.write_text(json.dumps(document))
    assert read_log(path).rows["loss"].tolist() == losses


def test_a_folder_is_read_with_all_its_logs_and_links_are_not_followed(tmp_path):
    run = tmp_path / "run"
    (run / "logs").mkdir(parents=True)
    (run / "logs/train.log").write_text("step 1 loss 2.5\n")
    (run / "stderr.txt").write_text("Killed\n")
    (run / "notes.md").write_text("nothing to read\n")
    (tmp_path / "secret.log").write_text("step 1 loss 9\n")
    (run / "loop").symlink_to(run)
    (run / "out.log").symlink_to(tmp_path / "secret.log")
    log = read_log(run)
    assert [source.name for source in log.sources] == ["logs/train.log", "stderr.txt"]
    assert log.rows["loss"].tolist() == [2.5]
    assert [(event.source, event.name) for event in log.events] == [(1, "SIGKILL")]


def test_standard_input_is_read(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"step 1 loss 2.5"))
    monkeypatch.setattr(sys, "stdin", stdin)
    (source,) = read_log("-").sources
    assert (source.name, source.format) == ("-", "printed lines")


def test_bad_input_is_one_sentence_with_a_remedy(tmp_path):
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("train.log", "step 1 loss 2.5")
    (tmp_path / "model.bin").write_bytes(b"\x80\x04\x95\x00\x00")
    (tmp_path / "mlflow.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "empty").mkdir()
    crowd = tmp_path / "crowd"
    crowd.mkdir()
    for number in range(MOST_FILES + 1):
        (crowd / f"{number}.log").touch()
    for name, words in {
        "logs.zip": "archive",
        "model.bin": "not text",
        "mlflow.db": "database",
        "empty": "holds no log",
        "crowd": "more than 2,000 files",
        "missing.log": "cannot be read",
    }.items():
        with pytest.raises(BadInputError, match=words) as error:
            read_log(tmp_path / name)
        assert error.value.place == str(tmp_path / name)


def test_a_folder_that_may_not_be_read_is_bad_input(tmp_path, monkeypatch):
    (tmp_path / "train.log").write_text("step 1 loss 2.5")

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(BadInputError, match="Permission denied"):
        read_log(tmp_path)


def test_the_command_says_what_is_there_and_what_is_not(tmp_path, capsys):
    path = tmp_path / "train.log"
    path.write_text("step 1 loss 2.5\nstep 2 loss nan\nValueError: \x1b[31m<b>broken</b>\n")
    assert main(["read", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "train.log: printed lines, tracebacks, 3 lines",
        (
            "loss (train): 2 values, steps 1 to 2, last nan (line 2), from 2.5 to 2.5; "
            "1 not finite, the first at step 2 (line 2)"
        ),
        "not logged: grad_norm, learning_rate, perplexity, memory, throughput",
        "train.log:3: ValueError: <b>broken</b>",
    ]
    (tmp_path / "death.log").write_text("Segmentation fault (core dumped)\n")
    assert main(["read", str(tmp_path / "death.log")]) == 0
    means, look = capsys.readouterr().out.splitlines()[-2:]
    assert means == "  means: Compiled code read memory that is not the process's."
    assert "PYTHONFAULTHANDLER" in look
    assert main(["read", "--json", str(path)]) == 0
    record = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert record["signals"][0]["last"] is None
    assert record["absent"][0] == "grad_norm"
    assert record["events"][0]["name"] == "ValueError"
    assert record["events"][0]["known_as"] is None


def test_nothing_of_a_log_reaches_the_terminal_as_a_command(tmp_path, capsys):
    path = tmp_path / "train\x1b[31m.log"
    path.write_text("loss: 3\nValueError: \x1b]0;title\x07bad\u202e\n")
    for options in ([], ["--json"]):
        assert main(["read", *options, str(path)]) == 0
        out = capsys.readouterr().out
        assert "bad" in out
        assert all(letter.isprintable() or letter == "\n" for letter in out)


LIGHT = """
import sys
heavy = "torch polars pyarrow pandas scipy sklearn statsmodels matplotlib"
sys.modules |= dict.fromkeys(heavy.split())
from failbench.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""The command where none of these libraries can be imported."""


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (["read", "train.log"], 0, "loss (train): 1 values"),
        (["diagnose", "train.log"], 3, "Unknown"),
        (["diagnose", "--json", "train.log"], 3, '"status": "unknown"'),
        (["read", "recorded"], 2, "polars: is not installed, and recorded telemetry needs it."),
    ],
)
def test_reading_and_diagnosing_take_numpy_alone(tmp_path, command, status, words):
    (tmp_path / "train.log").write_text("step 1 loss 2.5\n")
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded/runs.parquet").touch()
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert words in done.stdout + done.stderr
