import json
import math

import pytest

from failbench.cli.main import main
from failbench.diagnose.declared import read_declared, score
from failbench.diagnose.readers.opening import read_log
from failbench.diagnose.readers.text import Hints, read_text

NAN = math.nan
BAR = "\r  4%|▍   | 9/200 [00:00<00:04, 38.90it/s]\r             \r"
REDRAWN = "\n\r  5%|▌   | 10/200 [00:00<00:04, 38.90it/s]"

LINES = {
    "any names": ("step 3 | reward/chosen 0.25 | Acc@1 41.5 | val_acc=0.5",
        (3, "reward/chosen", 0.25), (3, "Acc@1", 41.5), (3, "val_acc", 0.5)),
    "in any order": ("acc=0.5 bce: 0.25; step=7", (7, "acc", 0.5), (7, "bce", 0.25)),
    "other languages": ("época 2 paso 30: pérdida = 3.5", (30, "pérdida", 3.5)),
    "no space between words and numbers": ("第100步 损失0.5", (100, "损失", 0.5)),
    "brackets around counts": (
        "Epoch [3/10], Step [100/600], Acc: 9/12 (75.5%)", (100, "Acc", 9), (100, "Acc", 75.5)),
    "an object, its strings and nested keys": (
        '{"step": 3, "note": "acc 9", "val": {"f1": "0.5"}, "betas": [0.9, 0.99]}',
        (3, "val/f1", 0.5)),
    "an object behind words": ("[3/9] {'auc': tensor(0.25, device='cuda:0'), 'x': 'nan'}",
        (3, "auc", 0.25), (3, "x", NAN)),
    "a bar": ("train:  5%|▌  | 10/200 [00:01<00:04, 38.90it/s, mse=0.5, lr=1e-3]",
        (10, "mse", 0.5), (10, "lr", 1e-3)),
    "what is written over a bar": (BAR + "{'reward': '0.5', 'epoch': '0.1'}" + REDRAWN,
        (10, "reward", 0.5)),
    "a count in front, with its total or alone": (
        "[ 10/100]\thuber\t0.5\n  20 mae=0.25\n[30] mae=0.125",
        (10, "huber", 0.5), (20, "mae", 0.25), (30, "mae", 0.125)),
    "units, percent and rates": ("it 5: rss 512.5 MB, q3 41.5%, t 13.5ms, 120.5 img/s",
        (5, "rss", 512.5), (5, "q3", 41.5), (5, "t", 13.5), (5, "img/s", 120.5)),
    "prefixes of loggers and ranks": (
        "[rank1]: 2026-11-27 02:09:48,123 INFO train.py:45] step 3 mae 0.5", (3, "mae", 0.5)),
    "a word that counts": ("round 3 reward 0.5\nround 4 reward 0.25",
        (3, "reward", 0.5), (4, "reward", 0.25)),
    "the step that was said last": ("step 9 acc 0.5\n   val 0.25\nstep 18 acc 0.5\n   val 0.125",
        (9, "acc", 0.5), (9, "val", 0.25), (18, "acc", 0.5), (18, "val", 0.125)),
    "a heading that holds though lines lie between": (
        "epoch;q3\n3;0.5\nloading\n4;0.25", (3, "q3", 0.5), (4, "q3", 0.25)),
    "columns with space between": ("update  reward   -log p\n    1     0.5   1.25%\n    2  .25  1",
        (1, "reward", 0.5), (1, "-log p", 1.25), (2, "reward", 0.25), (2, "-log p", 1.0)),
    "a rule below a heading": ("ep  | mae\n----+----\nGPU: no\n  3 | 0.5", (3, "mae", 0.5)),
    "decimal commas": ("epoch 1 häviö 1,234\nepoch 2 häviö 0,5\nepoch 3 häviö 12,5 %",
        (1, "häviö", 1.234), (2, "häviö", 0.5), (3, "häviö", 12.5)),
    "thousands beside points": (
        "step 1 acc 0.5 tokens=1,234", (1, "acc", 0.5), (1, "tokens", 1234)),
    "a mean behind its value": ("step 1 acc 0.5 (0.25)", (1, "acc", 0.5), (1, "acc", 0.25)),
    "of an epoch": ("test acc of epoch 7: 0.5", (7, "test acc", 0.5)),
    "what is no measurement": (
        ("Loading shard 3 of 5\nvocabulary: 65, parameters: 82,112\nPython 3.11.4 on 10.0.0.1:80\n"
        "/data/run-3/model.bin:45 saved 3.5 seconds ago\nfoo.py:12: UserWarning: lr 0.5\n"
        "Map: 100%|███| 640/640 [00:00<00:00, 6007.90 examples/s]\nhash 3a4f5b 0x1f\n"
        "│ 0 │ net │ Linear │ 1.2 K │\nDataset({\n    num_rows: 640\n})\n"
        + '10.0.0.1 - - [27/Nov/2026:02:09:48] "GET / HTTP/1.1" 200 612 "curl/7.1" 0.003\n' * 3),),
}  # fmt: skip


def numbers(log):
    found = log.numbers
    rows = zip(found.step.tolist(), found.texts(), found.value.tolist(), strict=True)
    means = [found.names[place].meaning for place in found.name]
    return [
        row for row, of in zip(rows, means, strict=True)
        if not (of and of.of in ("step", "epoch")) and row[1] not in ("round", "update", "第")
    ]  # fmt: skip


def read(text, **hints):
    return read_text("-", [text.encode()], Hints(**hints))


@pytest.mark.parametrize("name", LINES)
def test_every_number_is_read_with_its_name_and_step(name):
    text, *expected = LINES[name]
    found = numbers(read(text))
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected], nan_ok=True)


def test_runs_of_one_text_are_told_apart_and_epochs_and_ranks_are_none():
    run = "".join(f"step {step} loss 0.5\n" for step in range(9))
    log = read(run + "second session\n" + run)
    assert log.numbers.run.tolist() == [0] * 18 + [1] * 18
    assert log.sources[0].notes == ("It contains 2 runs: the step begins again at line 11.",)
    epochs = "".join(
        f"epoch {epoch} step {step} loss 0.5\n" for epoch in (1, 2) for step in range(9)
    )
    ranks = "".join(
        f"[rank{step % 2}] step {step // 2 - step % 2} loss 1.5\n" for step in range(18)
    )
    for text in (epochs, ranks):
        assert not read(text).numbers.run.any()


def test_columns_without_a_heading_are_named_by_what_they_look_like_and_that_is_said():
    rows = [
        f"{10 * at}  {3 - 0.2 * at:.2f}  {0.01 - at / 1000:.4f}  {at % 3 - 1}" for at in range(9)
    ]
    log = read("\n".join(rows))
    assert log.numbers.texts()[:4] == ["step", "loss", "learning_rate", "column 4"]
    assert log.rows.step.tolist() == [10 * at for at in range(9)]
    assert "named by what they look like" in log.sources[0].notes[0]
    assert not len(read("\n".join(rows[:4] * 4)).numbers)


def test_options_say_what_a_text_leaves_open(tmp_path, capsys):
    text = "t 3 -> 1,250 (9 of 9)\nt 4 -> 1,500 (9 of 9)\nloss 9\n"
    pattern = r"t (?P<step>\d+) -> (?P<loss>\S+)"
    path = tmp_path / "train.log"
    path.write_text(text)
    for decimal, last in ((",", "1.5"), (".", "1500")):
        assert main(["read", str(path), "--pattern", pattern, "--decimal", decimal]) == 0
        assert f"loss (train): 2 values, steps 3 to 4, last {last}" in capsys.readouterr().out
    for wrong, words in (("(", "is no regular expression"), ("t", "has no named group")):
        assert main(["read", str(path), "--pattern", wrong]) == 2
        assert words in capsys.readouterr().err


def test_a_saved_notebook_is_read_by_what_its_cells_showed(tmp_path):
    head, row = "<tr><th>Step</th><th>Training Loss</th></tr>", "<tr><td>10</td><td>0.5</td></tr>"
    table = f"<table>{head}{row}</table>"
    outputs = [
        {"output_type": "stream", "text": ["step 1 acc 0.25\n", "step 2 acc 0.5\n"]},
        {"output_type": "display_data", "data": {"text/html": [table], "text/plain": "<object>"}},
        {
            "output_type": "error",
            "traceback": ["Traceback (most recent call last)", "ValueError: x"],
        },
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(
        json.dumps({"cells": [{"source": "lr = 0.5"}, {"outputs": outputs}], "nbformat": 4})
    )
    log = read_log(path)
    assert numbers(log) == [(1, "acc", 0.25), (2, "acc", 0.5), (10, "Training Loss", 0.5)]
    assert [event.name for event in log.events] == ["ValueError"]
    assert log.sources[0].format.startswith("notebook")
    for broken in (
        "{}",
        '{"cells": [3, {"outputs": [null, {"data": 3, "text": 4}]}]}',
        '{"cells": []}',
    ):
        path.write_text(broken)
        assert not len(read_log(path).rows)


def test_a_judge_counts_what_is_read_missed_and_invented(tmp_path):
    declared = [
        {"name": "val/acc", "step": 3, "value": 0.2504}, {"name": "loss", "step": 4, "value": 0.5},
        {"name": "hidden", "step": 4, "value": 9.5}, {"name": "mean_x", "step": None, "value": 7.5},
    ]  # fmt: skip
    path = tmp_path / "numbers.jsonl"
    path.write_text("\n".join(map(json.dumps, declared)))
    text = "step 3 val/acc 0.25\nstep 4 loss 0.5\nhidden: no\nsizes: [3.5, 9]\nmean of x 7.5\n"
    told = score(text.encode(), read(text + "step 5 odd 3.25").numbers, read_declared(path))
    assert (told.declared, told.in_text, told.read) == (4, 3, 2)
    assert told.with_step == (2, 2)
    assert told.missing == {"mean_x": 1}
    assert told.invented == {"odd": 1}
