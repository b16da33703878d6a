"""A script that says nothing of the monitor is monitored, and trains as it did."""

import subprocess
import sys

import pytest

from failbench.monitor import read_history
from failbench.monitor.integrations.logs import log_of

LOOP = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
inputs = torch.randn(64, 8)
data = TensorDataset(inputs, (inputs.sum(1) > 0).long())
loader, held_out = DataLoader(data, 16, shuffle=True), DataLoader(data, 32)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    model.train()
    for given, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(given), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        total = sum(criterion(model(given), labels) for given, labels in held_out)
    print(repr(loss.item()), repr(total.item()), sys.argv[1:])
if "--fail" in sys.argv:
    model.train()
    model(torch.randn(4, 9))
"""

TRAINER = """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
torch.manual_seed(0)
sizes = dict(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
model = BertForSequenceClassification(BertConfig(**sizes, intermediate_size=8))
rows = [{"input_ids": torch.arange(5) + n % 9, "labels": torch.tensor(n % 2)} for n in range(16)]
settings = dict(max_steps=4, per_device_train_batch_size=4, report_to=[], use_cpu=True)
Trainer(model, TrainingArguments("out", save_strategy="no", **settings), train_dataset=rows).train()
"""


@pytest.fixture
def script(tmp_path):
    def written(text):
        path = tmp_path / "train.py"
        path.write_text(text)
        return path

    return written


def run(*arguments, folder):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def watched(script, *arguments, folder):
    command = "-m", "failbench.cli.main", "watch", folder / "log", script, *arguments
    return run(*command, folder=folder)


def test_a_loop_trains_to_the_same_digits_and_all_of_it_is_measured(script, tmp_path):
    program = script(LOOP)
    alone = run(program, "--x", "1", folder=tmp_path)
    beside = watched(program, "--x", "1", folder=tmp_path)
    assert beside.returncode == 0, beside.stderr
    assert beside.stdout == alone.stdout != ""
    history = read_history(log_of(tmp_path / "log"))
    assert history.end.kind == "completed"
    steps, ratios = history.series("loss_ratio")
    assert max(steps) == 7
    assert ratios == pytest.approx([1.0] * len(ratios), rel=1e-5)  # logits and labels were seen
    assert list(history.series("forwards")[1]) == [1.0] * len(steps)  # not those of the evaluation
    assert list(history.series("evaluation_training")[1]) == [0.0, 0.0]
    assert list(history.series("evaluation_loss_ratio")[1]) == pytest.approx([1.0, 1.0], rel=1e-5)


def test_a_compiled_model_is_counted_by_its_steps(script, tmp_path):
    text = LOOP.replace("loss = criterion(model", "loss = criterion(compiled")
    text = text.replace(
        "for epoch", "compiled = torch.compile(model, backend='aot_eager')\nfor epoch"
    )
    assert watched(script(text), folder=tmp_path).returncode == 0
    history = read_history(log_of(tmp_path / "log"))
    assert history.rows[-1].step == 7
    assert "hooks would break its graph" in history.off["forwards"]


def test_an_error_ends_both_script_and_log(script, tmp_path):
    ended = watched(script(LOOP), "--fail", folder=tmp_path)
    assert ended.returncode == 1
    assert "RuntimeError: mat1 and mat2" in ended.stderr
    end = read_history(log_of(tmp_path / "log")).end
    assert (end.kind, end.phase, end.error) == ("exception", "forward", "RuntimeError")


def test_a_trainer_gets_its_callback(script, tmp_path):
    pytest.importorskip("transformers")
    ended = watched(script(TRAINER), folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    log = log_of(tmp_path / "log")
    assert log.name == "trainer"
    assert max(read_history(log).series("loss")[0]) == 3


def test_a_log_is_not_overwritten_and_a_script_must_be_there(script, tmp_path):
    program = script("print('nothing is trained')")
    assert watched(program, folder=tmp_path).stdout == "nothing is trained\n"
    again = watched(program, folder=tmp_path)
    assert again.returncode == 2
    assert "never overwritten" in again.stderr
    missing = run("-m", "failbench.cli.main", "watch", "other", "no.py", folder=tmp_path)
    assert missing.returncode == 2
    assert "no.py" in missing.stderr
