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
    return path


def test_the_state_of_a_trainer_is_read_with_its_nan_from_its_last_checkpoint(tmp_path):
    log = read_log(state(tmp_path / "alone/trainer_state.json"))
    assert log.sources[0].format == "trainer_state"
    assert log.rows.step.tolist() == [10, 20, 20]
    assert log.rows.is_train.tolist() == [True, True, False]
    assert log.frame()["grad_norm"].is_nan().to_list() == [False, True, None]
    assert log.absent == ("perplexity", "memory", "throughput")
    names = [f"checkpoint-{step}/trainer_state.json" for step in (9, 10, 100)]
    for name in [*names, "trainer_state.json"]:  # of the states until then it holds all
        state(tmp_path / "run" / name, HISTORY[:1])
        assert [source.name for source in read_log(tmp_path / "run").sources] == [name]


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


def test_bad_input_is_one_sentence_with_a_remedy(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as file:
        file.writestr("train.log", "step 1 loss 2.5")
    (tmp_path / "model.bin").write_bytes(b"\x80\x04\x95\x00\x00")
    (tmp_path / "mlflow.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    for folder in ("empty", "crowd"):
        (tmp_path / folder).mkdir()
    for number in range(MOST_FILES + 1):
        (tmp_path / f"crowd/{number}.log").touch()

    def refused(name, words):
        with pytest.raises(BadInputError, match=words) as error:
            read_log(tmp_path / name)
        assert error.value.place == str(tmp_path / name)

    refused("logs.zip", "archive")
    refused("model.bin", "not text")
    refused("mlflow.db", "database")
    refused("empty", "contains no log")
    refused("crowd", "more than 2,000 files")
    refused("missing.log", "cannot be read")

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)
    refused("crowd", "Permission denied")


LOG = "step 1 loss 2.5\nstep 2 loss nan\nValueError: \x1b[31m<b>broken</b>\n"
SAID = """\
-: printed lines, tracebacks, 4 lines
loss (train): 2 values, steps 1 to 2, last nan (line 2), from 2.5 to 2.5; \
1 not finite, the first at step 2 (line 2)
not logged: grad_norm, learning_rate, perplexity, memory, throughput
-:3: ValueError: <b>broken</b>
-:4: SIGSEGV: Segmentation fault (core dumped)
  means: Compiled code read memory that is not the process's.
"""


def test_the_command_says_what_is_there_and_what_is_not(monkeypatch, capsys):
    def said(*options):
        stdin = io.BytesIO(LOG.encode() + b"Segmentation fault (core dumped)")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
        assert main(["read", *options, "-"]) == 0
        return capsys.readouterr().out

    page = said()
    assert page.startswith(SAID), page
    assert "PYTHONFAULTHANDLER" in page.splitlines()[-1]
    record = json.loads(said("--json"), parse_constant=pytest.fail)
    assert record["signals"][0]["last"] is None
    assert record["absent"][0] == "grad_norm"
    assert (record["events"][0]["name"], record["events"][0]["known_as"]) == ("ValueError", None)


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
        ("read train.log", 0, "loss (train): 1 values"),
        ("diagnose --json train.log", 5, '"status": "too_little"'),
        ("read recorded", 2, "polars: is not installed, and recorded telemetry needs it."),
    ],
)
def test_reading_and_diagnosing_take_numpy_alone(tmp_path, command, status, words):
    (tmp_path / "train.log").write_text("step 1 loss 2.5\n")
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded/runs.parquet").touch()
    command = [sys.executable, "-c", LIGHT, *command.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert words in done.stdout + done.stderr
