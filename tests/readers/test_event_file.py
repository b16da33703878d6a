"""Event files that TensorBoard's own writers write, whole and damaged."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.diagnose.readers.event_file import MARK, read_events
from failbench.diagnose.readers.opening import read_log

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from torch.utils.tensorboard import SummaryWriter

LOSSES = [3.5, 2.25, math.nan, 1.5]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
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
def data(folder):
    (path,) = folder.glob("events.out.tfevents.*")
    return path.read_bytes()


def losses(log, split="train"):
    return log.series("loss", split)["loss"].tolist()


def test_what_a_writer_wrote_is_read(folder):
    log = read_log(folder)
    assert [source.format for source in log.sources] == ["TensorBoard events"]
    assert losses(log) == pytest.approx(LOSSES, nan_ok=True)
    assert log.series("loss").step.tolist() == [0, 1, 2, 3]
    assert losses(log, "validation") == [2.0]
    assert log.series("learning_rate")["learning_rate"].tolist() == [1e-3]
    assert log.present == ("loss", "learning_rate")


def test_a_file_by_any_name_is_known_by_what_it_holds(folder, data, tmp_path):
    (tmp_path / "download").write_bytes(data)
    assert read_log(tmp_path / "download").frame().equals(read_log(folder).frame())


def test_a_file_that_ends_within_a_record_is_read_up_to_it(data):
    lengths = []
    for size in range(len(data)):
        log = read_events("-", [data[:size]])
        lengths.append(len(log.rows))
        assert not log.sources[0].notes or "cut off" in log.sources[0].notes[0]
    assert lengths == sorted(lengths)
    assert lengths[-1] >= len(LOSSES)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_it_does_not_matter_where_chunks_end(data, size):
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert read_events("-", chunks).frame().equals(read_events("-", [data]).frame())


def test_a_length_of_the_size_of_the_universe_ends_the_reading(data):
    log = read_events("-", [data + b"\xff" * 12 + data])
    assert losses(log) == pytest.approx(LOSSES, nan_ok=True)
    assert "cut off" in log.sources[0].notes[0]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_any_payload_is_read_or_counted_as_damaged(payload):
    framed = len(payload).to_bytes(8, "little") + b"\0\0\0\0" + payload + b"\0\0\0\0"
    first = len(MARK).to_bytes(8, "little") + b"\0\0\0\0" + MARK + b"\0\0\0\0"
    log = read_events("-", [first, framed])
    assert log.sources[0].lines == 2
