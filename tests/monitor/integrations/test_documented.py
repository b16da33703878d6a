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
    sections = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
    found = {}
    for title, body in sections:
        for code in re.findall(r"^```python\n(.*?)^```", body, flags=re.DOTALL | re.MULTILINE):
            found[title] = code
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


def plain():
    model = Tiny()
    texts = [Texts(2, seed).ids for seed in range(3)]
    return {
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), 0.1),
        "loader": [(ids[:, :-1], ids[:, 1:]) for ids in texts],
        "evaluate": lambda model: model(texts[0]),
    }


def with_transformers():
    arguments = transformers.TrainingArguments("out", max_steps=3, report_to=[], use_cpu=True)
    model = causal_model()
    return {
        "Trainer": transformers.Trainer,
        "model": model,
        "arguments": arguments,
        "data": Texts(64),
    }


def with_lightning():
    loader = torch.utils.data.DataLoader(Texts(12), ROWS)
    return {"lightning": lightning, "module": Module(), "loader": loader}


def with_accelerate():
    model = causal_model()
    return {
        "accelerator": accelerate.Accelerator(cpu=True),
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), 0.1),
        "loader": torch.utils.data.DataLoader(Texts(12), ROWS),
    }


GIVEN = {
    "A loop of your own": plain,
    "Trainer of Transformers": with_transformers,
    "Lightning": with_lightning,
    "Accelerate": with_accelerate,
    "Stop before the weights are touched": lambda: {**plain(), "cross_entropy": cross_entropy},
}


def test_each_block_is_run(repository):
    assert blocks(repository).keys() == GIVEN.keys() | {"What a log is"}


@pytest.mark.parametrize("title", GIVEN)
def test_a_block_runs_and_its_log_is_read_as_documented(
    repository, tmp_path, monkeypatch, title, capsys
):
    monkeypatch.chdir(tmp_path)
    exec(blocks(repository)[title], GIVEN[title]())
    names = {}
    exec(blocks(repository)["What a log is"], names)
    assert list(names["steps"]) == [0, 1, 2]
    assert "completed" in capsys.readouterr().out
    assert read_history(tmp_path / "runs/mine").end.kind == "completed"


def test_the_first_example_prints_what_it_says(repository, tmp_path, monkeypatch, capsys):
    text = (repository / "docs/first_run.md").read_text(encoding="utf-8")
    code, printed = re.search(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    ).groups()
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/first_run.md", "exec"), {})
    assert capsys.readouterr().out == printed
