"""What docs/monitor.md and docs/first_run.md tell to write runs as it is written."""

import re

import accelerate
import lightning
import pytest
import torch
import transformers
from torch.nn.functional import cross_entropy

from failbench.monitor import read_history
from made_up_models import ROWS, Texts, causal_model
from made_up_training import Tiny


def blocks(repository):
    text = (repository / "docs/monitor.md").read_text(encoding="utf-8")
    sections = re.findall(r"(?ms)^## (.+?)\n(.*?)(?=^## |\Z)", text)
    found = {
        title: code
        for title, body in sections
        for code in re.findall(r"(?ms)^```python\n(.*?)^```", body)
    }
    assert text.count("```python") == len(found), "one block in a section"
    return found


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = causal_model()

    def training_step(self, batch, batch_idx):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def with_optimizer(model, **given):
    return {"model": model, "optimizer": torch.optim.SGD(model.parameters(), 0.1), **given}


def loader():
    return torch.utils.data.DataLoader(Texts(12), ROWS)


def plain():
    texts = [Texts(2, seed).ids for seed in range(3)]
    pairs = [(ids[:, :-1], ids[:, 1:]) for ids in texts]
    return with_optimizer(Tiny(), loader=pairs, evaluate=lambda model: model(texts[0]))


def with_transformers():
    arguments = transformers.TrainingArguments("out", max_steps=3, report_to=[], use_cpu=True)
    given = {"model": causal_model(), "arguments": arguments, "data": Texts(64)}
    return {"Trainer": transformers.Trainer, **given}


def with_accelerate():
    accelerator = accelerate.Accelerator(cpu=True)
    return with_optimizer(causal_model(), accelerator=accelerator, loader=loader())


GIVEN = {
    "A loop of your own": plain,
    "Trainer of Transformers": with_transformers,
    "Lightning": lambda: {"lightning": lightning, "module": Module(), "loader": loader()},
    "Accelerate": with_accelerate,
    "Stop before the weights are touched": lambda: {**plain(), "cross_entropy": cross_entropy},
}


@pytest.mark.parametrize("title", GIVEN)
def test_each_block_runs_as_documented(repository, tmp_path, monkeypatch, title, capsys):
    assert blocks(repository).keys() == GIVEN.keys() | {"What a log is", "Several ranks"}
    monkeypatch.chdir(tmp_path)
    exec(blocks(repository)[title], GIVEN[title]())
    names = {}
    exec(blocks(repository)["What a log is"], names)
    assert list(names["steps"]) == [0, 1, 2]
    assert "completed" in capsys.readouterr().out
    assert read_history(tmp_path / "runs/mine").end.kind == "completed"


def test_the_first_example_prints_what_it_says(repository, tmp_path, monkeypatch, capsys):
    text = (repository / "docs/first_run.md").read_text(encoding="utf-8")
    code, printed = re.search(r"(?ms)^```python\n(.*?)^```\n\n```\n(.*?)^```", text).groups()
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/first_run.md", "exec"), {})
    assert capsys.readouterr().out == printed
