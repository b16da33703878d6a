import math

import pytest

from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.readers.text import read_text


def train(step, epoch=None, **signals):
    return step, epoch, "train", signals


def held_out(step, epoch=None, **signals):
    return step, epoch, "validation", signals


LINES = {
    "nanoGPT, evaluation": ("step 250: train loss 2.3412, val loss 2.4412",
        train(250, loss=2.3412), held_out(250, loss=2.4412)),
    "nanoGPT, iteration": ("iter 251: loss 2.2000, time 13.21ms, mfu 3.20%", train(251, loss=2.2)),
    "Megatron": (
        (" iteration      100/  500000 | consumed samples:        51200 | elapsed time per "
        "iteration (ms): 612.3 | learning rate: 1.000000E-04 | global batch size:   512 | lm "
        "loss: 6.900000E+00 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations: "
        "  0 | number of nan iterations:   0 |"),
        train(100, loss=6.9, learning_rate=0.0001, grad_norm=1.234)),
    "Megatron, validation": (
        " validation loss at iteration 1000 | lm loss value: 3.4E+00 | lm loss PPL: 2.9E+01 |",
        held_out(1000, loss=3.4, perplexity=29.0)),
    "fairseq": (
        ("2021-01-01 12:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=8.9, "
        "nll_loss=8.1, ppl=478.1, wps=8000, ups=2.1, num_updates=90, lr=1.25e-05, gnorm=2.5, "
        "loss_scale=128, gb_free=10, wall=50"),
        train(90, 1.0, loss=8.9, perplexity=478.1, throughput=8000.0, learning_rate=1.25e-05,
              grad_norm=2.5)),
    "fairseq, validation": (
        ("2021-01-01 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 7.5 | nll_loss "
        "6.9 | ppl 119.4 | num_updates 1000"), held_out(1000, 1.0, loss=7.5, perplexity=119.4)),
    "llm.c, log": ("s:20 trl:10.9000 lr:0.000001 norm:15.30",
        train(20, loss=10.9, learning_rate=1e-06, grad_norm=15.3)),
    "llm.c, log of validation": ("s:250 tel:6.5", held_out(250, loss=6.5)),
    "llm.c, terminal": (
        ("step    1/19560 | loss 10.955029 (+nanz)| norm 15.3 (+nanz)| lr 8.57e-07 | 1201.3 ms | "
        "50.6% bf16 MFU | 436k tok/s"),
        train(1, loss=10.955029, grad_norm=15.3, learning_rate=8.57e-07, throughput=436000.0)),
    "Composer": (
        ("[batch=10/100]:\n\t Train time/batch: 9\n\t Train loss/train/total: 7.2130\n\t Train "
        "l2_norm/grad/global: 1.5"), train(9, loss=7.213), train(9, grad_norm=1.5)),
    "torchtune, bar": ("1|10|Loss: 1.2345:   1%|          | 10/1000 [00:01<02:00, 8.2it/s]",
        train(10, 1.0, loss=1.2345)),
    "torchtune, log": (
        "Step 10 | loss:1.23 lr:2e-05 tokens_per_second_per_gpu:300.5 peak_memory_active:5.1",
        train(10, loss=1.23, learning_rate=2e-05, throughput=300.5, memory=5.1)),
    "torchtitan": (
        "step:  1  loss:  8.1381  grad_norm:  1.2  memory:  1.50GiB(44.70%)  tps: 1,234  mfu: 7%",
        train(1, loss=8.1381, grad_norm=1.2, memory=1610612736.0, throughput=1234.0)),
    "Keras": (
        ("Epoch 2/10\n100/100 ━━━━━━━━━ 2s 10ms/step - accuracy: 0.9 - loss: 0.3 - val_accuracy: "
        "0.8 - val_loss: 0.5"), train(None, 2.0, loss=0.3), held_out(None, 2.0, loss=0.5)),
    "Lightning, bar": (
        "Epoch 3: 100%|████| 10/10 [00:01<00:00,  7.10it/s, v_num=0, train_loss=2.310]",
        train(None, 3.0, loss=2.31)),
    "transformers 5": (
        "{'loss': '3.883', 'grad_norm': '0.9586', 'learning_rate': '5e-05', 'epoch': '0.01'}",
        train(None, 0.01, loss=3.883, grad_norm=0.9586, learning_rate=5e-05)),
    "transformers 4": (
        "  1%| | 10/1000 [00:01<02:00]{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.02}",
        train(None, 0.02, loss=0.0, grad_norm=math.nan)),
    "transformers, evaluation": (
        "{'eval_loss': 3.2, 'eval_runtime': 2.1, 'eval_samples_per_second': 8.5, 'epoch': 1.0}",
        held_out(None, 1.0, loss=3.2, throughput=8.5)),
    "JSON": ('{"step": 3, "train": {"loss": NaN}, "lr": 1e-3, "note": "loss 4"}',
        train(3, loss=math.nan, learning_rate=0.001)),
    "CSV": ("step,loss,val_loss\n1,3.5,\n2,,3.25\n\nno loss",
        train(1, loss=3.5), held_out(2, loss=3.25)),
    "Weights & Biases, exported": (
        ('"Step","sun-7 - train/loss","sun-7 - train/loss__MIN","sun-7 - train/loss__MAX"\n'
        '"5","3.5","3.0","4.0"'), train(5, loss=3.5)),
    "Markdown": ("| step | loss | lr |\n| ---: | ---: | ---: |\n| 4 | inf | 0.1 |",
        train(4, loss=math.inf, learning_rate=0.1)),
    "a print of the loss": ("loss 2.5", train(None, loss=2.5)),
    "a print of the rate": ("lr: 0.5", train(None, learning_rate=0.5)),
    "logging": ("INFO:train:step=7 training_loss=-1.5e-2 gradient_norm=inf",
        train(7, loss=-0.015, grad_norm=math.inf)),
    "a heading, which speaks until a line has a place of its own": (
        "Epoch 2/3\nloss: 1.0\nstep 9 loss 2.0\nloss: 3.0",
        train(None, 2.0, loss=1.0), train(9, loss=2.0), train(None, 2.0, loss=3.0)),
    "a metric that is called an error": (
        "Epoch 1 Step 5/99 Loss nan (4.9) AngleError 27.60 (27.60)", train(5, 1.0, loss=math.nan)),
    "what measures no signal": (
        ("loss_scale: 128\naccuracy: 0.9\nLoading checkpoint shards: 100%|███| 2/2\n"
        "RuntimeError: loss 3.5 is not finite at step 4\n\nthe loss is not known\nlossy 3.5\n"
        "perplexity   0.518\ntime 13.21ms\nepoch 3 begins"),),
}  # fmt: skip


def read(text):
    """Step, epoch, split and signals of each row."""
    return [
        (*(row[name] for name in ("step", "epoch", "split")),
         {name: row[name] for name in SIGNALS if row[name] is not None})
        for row in read_text("-", [text.encode()]).frame().rows(named=True)
    ]  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_read_as_its_library_means_it(name):
    text, *expected = LINES[name]
    rows = read(text)
    assert [row[:3] for row in rows] == [row[:3] for row in expected]
    for (*_, signals), (*_, wanted) in zip(rows, expected, strict=True):
        assert signals == pytest.approx(wanted, nan_ok=True)


def test_lines_of_one_form_are_read_alike_whatever_their_numbers():
    values = ["0", "1", "-2.5", "1e-3", "nan", "inf", "1,024", ".5", "3."]
    text = "\n".join(f"step {step} loss {value} lr 1e-4" for step, value in enumerate(values))
    rows = read(text)
    assert [step for step, *_ in rows] == list(range(9))
    expected = [0, 1, -2.5, 1e-3, math.nan, math.inf, 1024, 0.5, 3]
    assert [signals["loss"] for *_, signals in rows] == pytest.approx(expected, nan_ok=True)
