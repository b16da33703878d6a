"""Lines as libraries print them: each in the form that its own source or documentation gives."""

import math

import pytest

from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.readers.text import read_text


def row(step, epoch, split, **signals):
    return step, epoch, split, signals


LINES = {
    "nanoGPT, evaluation": (
        "step 250: train loss 2.3412, val loss 2.4412",
        [row(250, None, "train", loss=2.3412),
         row(250, None, "validation", loss=2.4412)],
    ),
    "nanoGPT, iteration": (
        "iter 251: loss 2.2000, time 13.21ms, mfu 3.20%",
        [row(251, None, "train", loss=2.2)],
    ),
    "Megatron": (
        (" iteration      100/  500000 | consumed samples:        51200 | elapsed time per "
         "iteration (ms): 612.3 | learning rate: 1.000000E-04 | global batch size:   512 | lm "
         "loss: 6.900000E+00 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations: "
         "  0 | number of nan iterations:   0 |"),
        [row(100, None, "train", loss=6.9, learning_rate=0.0001, grad_norm=1.234)],
    ),
    "Megatron, validation": (
        " validation loss at iteration 1000 | lm loss value: 3.4E+00 | lm loss PPL: 2.9E+01 |",
        [row(1000, None, "validation", loss=3.4, perplexity=29.0)],
    ),
    "fairseq": (
        ("2021-01-01 12:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=8.9, "
         "nll_loss=8.1, ppl=478.1, wps=8000, ups=2.1, num_updates=90, lr=1.25e-05, gnorm=2.5, "
         "loss_scale=128, gb_free=10, wall=50"),
        [row(90, 1.0, "train", loss=8.9, perplexity=478.1, throughput=8000.0,
             learning_rate=1.25e-05, grad_norm=2.5)],
    ),
    "fairseq, validation": (
        ("2021-01-01 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 7.5 | nll_loss "
         "6.9 | ppl 119.4 | num_updates 1000"),
        [row(1000, 1.0, "validation", loss=7.5, perplexity=119.4)],
    ),
    "llm.c, log": (
        "s:20 trl:10.9000 lr:0.000001 norm:15.30",
        [row(20, None, "train", loss=10.9, learning_rate=1e-06, grad_norm=15.3)],
    ),
    "llm.c, log of validation": (
        "s:250 tel:6.5",
        [row(250, None, "validation", loss=6.5)],
    ),
    "llm.c, terminal": (
        ("step    1/19560 | loss 10.955029 (+nanz)| norm 15.3 (+nanz)| lr 8.57e-07 | 1201.3 ms | "
         "50.6% bf16 MFU | 436k tok/s"),
        [row(1, None, "train", loss=10.955029, grad_norm=15.3, learning_rate=8.57e-07,
             throughput=436000.0)],
    ),
    "Composer": (
        ("[batch=10/100]:\n\t Train time/batch: 9\n\t Train loss/train/total: 7.2130\n\t Train "
         "l2_norm/grad/global: 1.5"),
        [row(9, None, "train", loss=7.213),
         row(9, None, "train", grad_norm=1.5)],
    ),
    "torchtune, bar": (
        "1|10|Loss: 1.2345:   1%|          | 10/1000 [00:01<02:00, 8.2it/s]",
        [row(10, 1.0, "train", loss=1.2345)],
    ),
    "torchtune, log": (
        "Step 10 | loss:1.23 lr:2e-05 tokens_per_second_per_gpu:300.5 peak_memory_active:5.1",
        [row(10, None, "train", loss=1.23, learning_rate=2e-05, throughput=300.5, memory=5.1)],
    ),
    "torchtitan": (
        "step:  1  loss:  8.1381  grad_norm:  1.2  memory:  1.50GiB(44.70%)  tps: 1,234  mfu: 7%",
        [row(1, None, "train", loss=8.1381, grad_norm=1.2, memory=1610612736.0, throughput=1234.0)],
    ),
    "Keras": (
        ("Epoch 2/10\n100/100 ━━━━━━━━━ 2s 10ms/step - accuracy: 0.9 - loss: 0.3 - val_accuracy: "
         "0.8 - val_loss: 0.5"),
        [row(None, 2.0, "train", loss=0.3),
         row(None, 2.0, "validation", loss=0.5)],
    ),
    "Lightning, bar": (
        "Epoch 3: 100%|████| 10/10 [00:01<00:00,  7.10it/s, v_num=0, train_loss=2.310]",
        [row(None, 3.0, "train", loss=2.31)],
    ),
    "transformers 5": (
        "{'loss': '3.883', 'grad_norm': '0.9586', 'learning_rate': '5e-05', 'epoch': '0.01'}",
        [row(None, 0.01, "train", loss=3.883, grad_norm=0.9586, learning_rate=5e-05)],
    ),
    "transformers 4": (
        "  1%| | 10/1000 [00:01<02:00]{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.02}",
        [row(None, 0.02, "train", loss=0.0, grad_norm=math.nan)],
    ),
    "transformers, evaluation": (
        "{'eval_loss': 3.2, 'eval_runtime': 2.1, 'eval_samples_per_second': 8.5, 'epoch': 1.0}",
        [row(None, 1.0, "validation", loss=3.2, throughput=8.5)],
    ),
    "JSON": (
        '{"step": 3, "train": {"loss": NaN}, "lr": 1e-3, "note": "loss 4"}',
        [row(3, None, "train", loss=math.nan, learning_rate=0.001)],
    ),
    "CSV": (
        "step,loss,val_loss\n1,3.5,\n2,,3.25\n\nno loss",
        [row(1, None, "train", loss=3.5),
         row(2, None, "validation", loss=3.25)],
    ),
    "Weights & Biases, exported": (
        ('"Step","sun-7 - train/loss","sun-7 - train/loss__MIN","sun-7 - '
         'train/loss__MAX"\n"5","3.5","3.0","4.0"'),
        [row(5, None, "train", loss=3.5)],
    ),
    "Markdown": (
        "| step | loss | lr |\n| ---: | ---: | ---: |\n| 4 | inf | 0.1 |",
        [row(4, None, "train", loss=math.inf, learning_rate=0.1)],
    ),
    "a print of the loss": (
        "loss 2.5",
        [row(None, None, "train", loss=2.5)],
    ),
    "a print of the rate": (
        "lr: 0.5",
        [row(None, None, "train", learning_rate=0.5)],
    ),
    "logging": (
        "INFO:train:step=7 training_loss=-1.5e-2 gradient_norm=inf",
        [row(7, None, "train", loss=-0.015, grad_norm=math.inf)],
    ),
}  # fmt: skip


def read(text):
    """Step, epoch, split and signals of each row."""
    rows = read_text("-", [text.encode()]).frame()
    return [
        (
            row["step"],
            row["epoch"],
            row["split"],
            {name: row[name] for name in SIGNALS if row[name] is not None},
        )
        for row in rows.rows(named=True)
    ]


@pytest.mark.parametrize(("text", "expected"), LINES.values(), ids=LINES.keys())
def test_a_line_is_read_as_its_library_means_it(text, expected):
    rows = read(text)
    assert [row[:3] for row in rows] == [row[:3] for row in expected]
    for (*_, signals), (*_, wanted) in zip(rows, expected, strict=True):
        assert signals == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "loss_scale: 128",
        "accuracy: 0.9",
        "Loading checkpoint shards: 100%|███| 2/2",
        "RuntimeError: loss 3.5 is not finite at step 4",
        "epoch 3 begins",
        "",
        "the loss is not known",
        "lossy 3.5",
        "perplexity   0.518",
        "time 13.21ms",
    ],
)
def test_what_measures_no_signal_is_no_row(text):
    assert read(text) == []


def test_lines_of_one_form_are_read_alike_whatever_their_numbers():
    values = ["0", "1", "-2.5", "1e-3", "nan", "inf", "1,024", ".5", "3."]
    text = "\n".join(f"step {step} loss {value} lr 1e-4" for step, value in enumerate(values))
    rows = read(text)
    assert [step for step, *_ in rows] == list(range(9))
    read_losses = [signals["loss"] for *_, signals in rows]
    expected = [0, 1, -2.5, 1e-3, math.nan, math.inf, 1024, 0.5, 3]
    assert read_losses == pytest.approx(expected, nan_ok=True)


def test_a_heading_speaks_until_a_line_has_a_place_of_its_own():
    rows = read("Epoch 2/3\nloss: 1.0\nstep 9 loss 2.0\nloss: 3.0")
    assert [row[:2] for row in rows] == [(None, 2.0), (9, None), (None, 2.0)]
