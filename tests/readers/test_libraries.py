"""Files that the real libraries write, in a training of their own."""

import contextlib
import io
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
lightning = pytest.importorskip("lightning")

from lightning.pytorch.loggers import CSVLogger  # noqa: E402
from transformers import Trainer, TrainingArguments  # noqa: E402

from failbench.diagnose.readers.log import NOWHERE  # noqa: E402
from failbench.diagnose.readers.opening import read_log  # noqa: E402
from failbench.diagnose.readers.text import read_text  # noqa: E402
from failbench.monitor import Monitor  # noqa: E402
from made_up_models import ROWS, BrokenError, Texts, causal_model  # noqa: E402

STEPS = 8


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A Trainer that has trained, its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("trainer")
    arguments = TrainingArguments(
        str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=ROWS,
        logging_steps=2,
        eval_strategy="steps",
        eval_steps=4,
        save_steps=4,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        causal_model(), arguments, train_dataset=Texts(64), eval_dataset=Texts(6, seed=1)
    )
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        trainer.train()
    return trainer, folder, out.getvalue()


def losses(log, split="train"):
    return log.series("loss", split)["loss"].tolist()


def test_the_folder_of_a_trainer(trained):
    trainer, folder, _ = trained
    log = read_log(folder)
    assert [source.name for source in log.sources] == [f"checkpoint-{STEPS}/trainer_state.json"]
    history = [row for row in trainer.state.log_history if "loss" in row]
    assert log.series("loss").step.tolist() == [row["step"] for row in history]
    assert losses(log) == [row["loss"] for row in history]
    evaluated = [row["eval_loss"] for row in trainer.state.log_history if "eval_loss" in row]
    assert losses(log, "validation") == evaluated
    norms = log.series("grad_norm")["grad_norm"].tolist()
    assert norms == [row["grad_norm"] for row in history]


def test_what_a_trainer_prints(trained):
    trainer, _, printed = trained
    log = read_text("-", [printed.encode()])
    for name, split in (("loss", "train"), ("eval_loss", "validation")):
        logged = [row[name] for row in trainer.state.log_history if name in row]
        assert losses(log, split)[: len(logged)] == pytest.approx(logged, rel=1e-3)


class Regression(lightning.LightningModule):
    """Logs a loss at steps and over epochs, and another of held-out data."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).square().mean()
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.layer(batch).square().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def test_the_csv_logger_of_lightning(tmp_path):
    batches = torch.utils.data.DataLoader(torch.ones(6, 4), batch_size=2)
    trainer = lightning.Trainer(
        max_epochs=2,
        logger=CSVLogger(tmp_path),
        log_every_n_steps=1,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Regression(), batches, batches)
    log = read_log(tmp_path)
    assert log.sources[0].name.endswith("metrics.csv")
    assert log.sources[0].format == "table"
    assert set(log.series("loss").step.tolist()) - {NOWHERE} == set(range(6))
    assert len(losses(log, "validation")) == 2
    assert all(math.isfinite(loss) for loss in losses(log))


def broken_training(folder):
    """What the monitor was told of the losses of a training that ends in an error."""
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    losses_seen = []
    with contextlib.suppress(BrokenError), Monitor(folder) as monitor:
        monitor.watch(model, optimizer)
        for step, batch in enumerate(monitor.data([torch.ones(2, 4)] * 5)):
            logits, labels = model(batch), torch.tensor([0, 1])
            loss = torch.nn.functional.cross_entropy(logits, labels)
            losses_seen.append(monitor.loss(logits, labels, loss).item())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step == 3:
                raise BrokenError("the fourth step")
    return losses_seen


def test_the_log_of_the_monitor(tmp_path):
    seen = broken_training(tmp_path / "run")
    for path in (tmp_path / "run", tmp_path / "run/signals.jsonl", tmp_path):
        log = read_log(path)
        assert log.sources[0].format == "monitor"
        assert losses(log) == pytest.approx(seen, rel=1e-5)
        (event,) = log.events
        assert event.kind == "exception"
        assert event.name.endswith("BrokenError")
        assert event.message == "the fourth step"
