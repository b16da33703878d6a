import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.readers import records
from failbench.diagnose.readers.opening import read_log

LIMITED = """
import resource, sys
from pathlib import Path
from failbench.diagnose.readers.opening import read_log

used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, resource.RLIM_INFINITY))
print(len(read_log(Path(sys.argv[1])).rows))
"""
"""Reads a log with one GiB more than what the libraries take."""


def log_in(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text("step 1 loss 2.5\n")
    return folder


def losses(path):
    return read_log(path).rows["loss"].tolist()


def test_a_folder_is_read_with_all_its_logs_and_without_pipes_sockets_and_links(
    tmp_path, monkeypatch
):
    folder = tmp_path / "run"
    log_in(folder / "logs")
    (folder / "stderr.txt").write_text("Killed\n")
    (folder / "notes.md").write_text("nothing to read\n")
    for name in ("fifo.log", "trainer_state.json", "events.out.tfevents.1.host"):
        os.mkfifo(folder / name)
    (folder / "metrics").mkdir()
    os.mkfifo(folder / "metrics/loss")
    monkeypatch.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.log")
        (folder / "zero.log").symlink_to("/dev/zero")
        (folder / "out.log").symlink_to(log_in(tmp_path / "other") / "train.log")
        (folder / "loop").symlink_to(folder)
        (folder / "self.log").symlink_to("self.log")
        log = read_log(folder)
    assert [source.name for source in log.sources] == ["logs/train.log", "stderr.txt"]
    assert log.rows["loss"].tolist() == [2.5]
    assert [(event.source, event.name) for event in log.events] == [(1, "SIGKILL")]


@pytest.mark.parametrize("name", ["runs.parquet", "signals.jsonl"])
def test_a_folder_is_not_known_by_a_pipe_or_a_link_out_of_it(tmp_path, name):
    for make in (os.mkfifo, lambda path: path.symlink_to("/etc/hostname")):
        folder = log_in(tmp_path / "run")
        make(folder / name)
        assert losses(folder) == [2.5]
        (folder / name).unlink()


def test_a_pipe_is_read_and_refused_where_nobody_writes_to_it(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BadInputError, match="is empty"):
        losses(tmp_path / "fifo")
    read, write = os.pipe()
    with os.fdopen(write, "wb") as stream:
        stream.write(b"step 1 loss 2.5\n")
    try:
        assert losses(Path(f"/dev/fd/{read}")) == [2.5]
    finally:
        os.close(read)


def test_a_device_or_a_path_that_leads_nowhere_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, words in (
        ("/dev/zero", "is a device"),
        ("/dev/null", "is a device"),
        (tmp_path / "loop", "cannot be read"),
        (tmp_path / ("x" * 5_000), "cannot be read"),
        (tmp_path / "train.log/below", "cannot be read"),
    ):
        with pytest.raises(BadInputError, match=words) as error:
            read_log(Path(path))
        assert "\n" not in str(error.value)


def test_a_folder_with_the_name_of_a_file_is_looked_into(tmp_path):
    log_in(tmp_path / "trainer_state.json")
    log_in(tmp_path / "events.out.tfevents.1.host")
    assert losses(tmp_path) == [2.5, 2.5]
    (tmp_path / "empty/trainer_state.json").mkdir(parents=True)
    with pytest.raises(BadInputError, match="contains no log"):
        read_log(tmp_path / "empty/trainer_state.json")


def test_a_file_that_vanishes_while_its_folder_is_read_is_left_out(tmp_path, monkeypatch):
    log_in(tmp_path)
    (tmp_path / "old.log").write_text("step 1 loss 9\n")
    opened = os.open

    def vanish(path, *rest, **options):
        if Path(path).name == "old.log":
            Path(path).unlink()
        return opened(path, *rest, **options)

    monkeypatch.setattr(os, "open", vanish)
    assert losses(tmp_path) == [2.5]


def test_what_is_no_text_is_left_out_beside_a_log_and_said(tmp_path):
    log_in(tmp_path)
    (tmp_path / "bomb.log").write_bytes(b"PK\x03\x04" + bytes(1_000))
    (tmp_path / "model.txt").write_bytes(bytes(1_000))
    log = read_log(tmp_path)
    assert log.rows["loss"].tolist() == [2.5]
    assert [source.format for source in log.sources] == ["not read", "not read", "printed lines"]
    assert "archive" in log.sources[0].notes[0]
    (tmp_path / "train.log").unlink()
    with pytest.raises(BadInputError, match=r"archive.*not text"):
        read_log(tmp_path)


def test_bytes_that_are_no_text_of_their_encoding_are_replaced(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(b"\xff\xfeloss\n\xc3\x28 step 1 loss 2.5 \xf0\x9f\n")
    read_log(path)
    path.write_bytes(b"\xc3\x28 \xed\xa0\x80\nstep 1 loss 2.5 \xf0\x9f\n")
    assert losses(path) == [2.5]
    (tmp_path / "history.json").write_bytes(b'[{"step": 1, "loss": 2.5, "\xff": "\xfe"}]')
    assert losses(tmp_path / "history.json") == [2.5]


def test_a_document_of_too_many_values_is_not_built(monkeypatch):
    text = '[{"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.5}]'
    assert records.read_document("-", text) is not None
    monkeypatch.setattr(records, "MOST_VALUES", 5)
    assert records.read_document("-", text) is None


@pytest.mark.system
@pytest.mark.parametrize(
    ("name", "begin", "repeated", "end"),
    [
        ("digits.json", '{"loss": ', "9", ', "step": 1}'), ("digits.log", "step 1 loss ", "9", ""),
        ("lists.json", "[", "[],", "[]]"), ("objects.json", "[", '{"a":1},', "1]"),
        ("open.json", "[", "[", ""), ("columns.csv", "step,loss", ",a", "\n1,2\n"),
        ("bars.log", "", "step 1 loss 2|", "\n"), ("returns.log", "", "a\r", "\n"),
    ],
)  # fmt: skip
def test_a_hundred_megabytes_in_one_line_take_bounded_memory(tmp_path, name, begin, repeated, end):
    path = tmp_path / name
    path.write_text(begin + repeated * (10**8 // len(repeated)) + end)
    command = [sys.executable, "-c", LIMITED, path]
    read = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert read.returncode == 0, read.stderr[-500:]
