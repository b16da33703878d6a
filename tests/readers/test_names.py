import csv
from importlib.resources import files

import pytest

from failbench.diagnose.readers.names import POSITIONS, SIGNALS, SPLITS, meaning, meaning_at_end


def table():
    text = files("failbench.diagnose.readers").joinpath("data/names.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_each_name_of_the_table_is_read_and_stands_once():
    names = [row["name"] for row in table()]
    assert len(set(names)) == len(names)
    for row in table():
        assert row["meaning"] in (*SIGNALS, *POSITIONS)
        assert row["split"] in ("", *SPLITS)
        assert row["source"]
        assert meaning(row["name"]).of == row["meaning"], row["name"]


@pytest.mark.parametrize(
    ("name", "of", "split"),
    [
        ("train/loss", "loss", "train"),
        ("eval_loss", "loss", "validation"),
        ("val/loss_epoch", "loss", "validation"),
        ("train_loss_step", "loss", "train"),
        ("metrics/eval/LanguagePerplexity", "perplexity", "validation"),
        ("lr-AdamW/pg1", "learning_rate", None),
        ("train/global_step", "step", "train"),
        ("_step", "step", None),
        ("Samples/Sec", "throughput", None),
        ("loss/dataloader_idx_0", None, None),
        ("loss_scale", None, None),
        ("lossless", None, None),
        ("", None, None),
        ("x" * 1000, None, None),
    ],
)
def test_a_name_is_read_whatever_it_is_written_with(name, of, split):
    found = meaning(name)
    assert (found and found.of, found and found.split) == (of, split)


def test_of_a_phrase_the_last_words_count():
    assert meaning_at_end("rank 0 of 4 finished with train loss").of == "loss"
    assert meaning_at_end("loss of sleep") is None
