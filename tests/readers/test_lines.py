import csv
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.diagnose.readers.lines import LONGEST_LINE, lines_of
from failbench.diagnose.readers.names import POSITIONS, SIGNALS, SPLITS, meaning, meaning_at_end
from failbench.diagnose.readers.text import read_text


def texts(*chunks):
    return [tuple(line) for line in lines_of(chunks)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_are_the_same_wherever_chunks_end(size):
    data = "first\nsecond\n\nlöss 3\n".encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert texts(*chunks) == [(1, "first"), (2, "second"), (3, ""), (4, "löss 3")]


def test_lines_that_a_bar_overwrites_keep_their_number_and_no_line_is_long_or_draws():
    overwritten = [(1, "a"), (2, "b 1"), (2, "b 2"), (2, "b 3"), (3, "c")]
    assert texts(b"a\r\nb 1\rb 2\rb 3\nc") == overwritten
    coloured = b"\x1b]0;title\x07\x1b[1;31mloss\x1b[0m\x1b[2K 3\x00 \xe2\x80\xaex"
    assert texts(coloured) == [(1, "loss 3 x")]
    long = texts(b"x" * 3_000_000, b"x\nnext")
    assert [(number, len(text)) for number, text in long] == [(1, LONGEST_LINE), (2, 4)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_mark_at_its_beginning_tells_the_encoding(encoding):
    log = read_text("-", ["step 1 loss 2.5".encode(encoding)])
    assert log.rows["loss"].tolist() == [2.5]


def test_each_name_of_the_table_is_read_and_stands_once():
    text = files("failbench.diagnose.readers").joinpath("data/names.csv").read_text("utf-8")
    table = list(csv.DictReader(text.splitlines()))
    assert len({row["name"] for row in table}) == len(table)
    for row in table:
        assert row["meaning"] in (*SIGNALS, *POSITIONS)
        assert row["split"] in ("", *SPLITS)
        assert row["source"]
        assert meaning(row["name"]).of == row["meaning"], row["name"]


@pytest.mark.parametrize(
    ("name", "of", "split"),
    [
        ("train/loss", "loss", "train"), ("eval_loss", "loss", "validation"),
        ("val/loss_epoch", "loss", "validation"), ("train_loss_step", "loss", "train"),
        ("metrics/eval/LanguagePerplexity", "perplexity", "validation"),
        ("lr-AdamW/pg1", "learning_rate", None), ("train/global_step", "step", "train"),
        ("_step", "step", None), ("Samples/Sec", "throughput", None),
        ("loss/dataloader_idx_0", None, None), ("loss_scale", None, None),
        ("lossless", None, None), ("", None, None), ("x" * 1000, None, None),
    ],
)  # fmt: skip
def test_a_name_is_read_whatever_it_is_written_with(name, of, split):
    found = meaning(name)
    assert (found and found.of, found and found.split) == (of, split)


def test_of_a_phrase_the_last_words_count():
    assert meaning_at_end("rank 0 of 4 finished with train loss").of == "loss"
    assert meaning_at_end("loss of sleep") is None


PIECES = st.sampled_from(
    [
        b"step ", b"loss", b"=", b": ", b"1e-3", b"nan", b"|", b",", b"{", b"}", b"'", b'"', b"\n",
        b"\r", b"\x1b[", b"Traceback (most recent call last):\n", b'  File "a.py", line 3, in f\n',
        b"ValueError: x\n", b"\xe2\x94\x82 ", b"[rank0]: ", b"epoch", b"step,loss\n", b"9" * 50,
        b"Killed\n", b"--> 3 ", b"\xff\xfe", b"\0",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=60))
def test_any_bytes_are_read(pieces):
    data = b"".join(pieces)
    log = read_text("-", [data])
    lines = data.count(b"\n") + 1
    assert all(1 <= line <= lines for line in log.rows.line)
    assert all(0 <= event.line <= lines for event in log.events)


SILENT = ["Downloading shards", "wandb: Syncing run sun-7", "[INFO] saved it", "accuracy 0.5"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(SILENT)), max_size=8))
def test_lines_that_measure_nothing_change_nothing(added):
    measured = [f"step {step} | loss {3 / (step + 1):.4f} | lr 1e-3" for step in range(5)]
    longer = list(measured)
    for place, text in sorted(added, reverse=True):
        longer.insert(place, text)
    plain, mixed = (
        read_text("-", ["\n".join(text).encode()]).frame().drop("line")
        for text in (measured, longer)
    )
    assert plain.equals(mixed)
