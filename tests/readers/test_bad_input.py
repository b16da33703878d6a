"""Whatever file is named, one sentence says what it is and what to do, or its log is read."""

import io
import json
import sys
import tarfile

import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.diagnose.readers.lines import decoded, is_text
from failbench.diagnose.readers.opening import read_log

LOG = "".join(f"step {step} loss {3 - step / 50:.3f}\n" for step in range(30))
NOISE = bytes(place * place % 251 for place in range(1, 4000))
HISTORY = [{"loss": 3 - step / 10, "step": step} for step in range(9)]


def tar():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        member = tarfile.TarInfo("train.log")
        member.size = len(LOG)
        file.addfile(member, io.BytesIO(LOG.encode()))
    return packed.getvalue()


REFUSED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \r\n\t\n" * 50, "is empty"),
    "mark alone": (b"\xef\xbb\xbf", "is empty"),
    "binary without zeros": (NOISE.replace(b"\0", b"\1"), "is not text"),
    "control letters": (bytes(range(1, 32)) * 20, "is not text"),
    "zeros": (bytes(5000), "is not text"),
    "array": (b"\x93NUMPY\1\0v\0{'descr': '<f8', 'shape': (3,), }" + bytes(24), "is not text"),
    "weights": (b'<\0\0\0\0\0\0\0{"w": {"dtype": "F32"}}' + bytes(400), "is not text"),
    "tar": (tar(), "is an archive"),
    "seven zip": (b"7z\xbc\xaf\x27\x1c" + NOISE, "is an archive"),
    "empty zip": (b"PK\5\6" + bytes(18), "is an archive"),
    "picture": (b"\x89PNG\r\n\x1a\n" + NOISE, "is a picture"),
    "page": (b"%PDF-1.4\n1 0 obj\n<< /Length 44 >>\n", "is a picture or a page"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", ["read", "diagnose"])
def test_what_is_no_log_is_refused_in_one_sentence(tmp_path, capsys, command, name):
    data, words = REFUSED[name]
    (tmp_path / "train.log").write_bytes(data)
    assert main([command, str(tmp_path / "train.log")]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.startswith(f"{tmp_path}/train.log: (file): {words}")
    assert said.count("\n") == 1


READ = {
    "UTF-16": LOG.encode("utf-16"),
    "UTF-16 without a mark": LOG.encode("utf-16-le"),
    "UTF-16 of another order": LOG.encode("utf-16-be"),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + LOG.encode(),
    "Cyrillic of Windows": "шаг обучения начат\n".encode("cp1251") * 9 + LOG.encode(),
    "lines that end with zeros": LOG.replace("\n", "\0\n").encode(),
    "a hole of zeros": bytes(9000) + b"\n" + LOG.encode(),
    "bells and colours": LOG.replace("loss", "\x1b[32mloss\x1b[0m\x07").encode(),
    "a document with a mark": b"\xef\xbb\xbf" + json.dumps(HISTORY).encode(),
    "a document of UTF-16": json.dumps(HISTORY).encode("utf-16"),
    "a list that is cut off": json.dumps(HISTORY).encode()[:-12],
    "a state that is cut off": json.dumps({"log_history": HISTORY}, indent=1).encode()[:-14],
}


@pytest.mark.parametrize("name", READ)
def test_what_is_one_is_read_whatever_its_encoding(tmp_path, name):
    (tmp_path / "train.log").write_bytes(READ[name])
    log = read_log(tmp_path / "train.log")
    losses = [round(value, 3) for value in log.rows["loss"]]
    assert losses[:3] == (
        [3.0, 2.9, 2.8] if "document" in name or "cut" in name else [3, 2.98, 2.96]
    )
    assert log.rows.step.tolist() == list(range(len(losses)))
    assert bool(log.sources[0].notes) is ("cut" in name)


def test_decimal_commas_of_utf_16_are_read(tmp_path):
    (tmp_path / "train.log").write_bytes("Verlust 0,125\nVerlust 1,125\n".encode("utf-16"))
    assert read_log(tmp_path / "train.log").rows["loss"].tolist() == [0.125, 1.125]


def test_a_text_is_known_by_any_beginning():
    assert decoded(b"") == ""
    assert all(is_text(LOG.encode()[:size]) for size in range(200))
    assert all(is_text(LOG.encode("utf-16-le")[:size]) for size in range(2, 200, 2))


def test_empty_files_of_a_folder_are_left_out_without_a_word(tmp_path):
    (tmp_path / "train.log").write_text(LOG)
    (tmp_path / "stderr.txt").touch()
    assert [source.name for source in read_log(tmp_path).sources] == ["train.log"]


def test_empty_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(BadInputError, match="-: \\(file\\): is empty"):
        read_log("-")


def test_a_line_of_ten_megabytes_is_one_line(tmp_path):
    (tmp_path / "train.log").write_bytes(b"loss 2.5 " * 1_100_000)
    log = read_log(tmp_path / "train.log")
    assert (log.sources[0].lines, log.rows["loss"].tolist()) == (1, [2.5])
