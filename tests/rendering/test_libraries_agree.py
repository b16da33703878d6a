import contextlib
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from failbench.neighbours.rendering.files import log_history, masked_checksums, records, scalar
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import Writer
from made_up_logs import SHAPE, made_up_run

EVERY, STEPS = 3, 10
LOST = {1: math.nan, 4: math.inf, 6: math.nan, 7: math.nan, 8: math.nan}
"""Losses that are not finite, by the number of their step, counted from 0."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A Trainer whose losses are not finite at some steps, its losses, and what it printed."""
    pytest.importorskip("accelerate")
    transformers = pytest.importorskip("transformers")
    from made_up_models import ROWS, Texts, causal_model

    losses = []

    class Losing(transformers.Trainer):
        def training_step(self, *arguments, **options):
            loss = super().training_step(*arguments, **options)
            loss = loss.new_tensor(LOST.get(len(losses), loss.item()))
            losses.append(loss.item())
            return loss

    arguments = transformers.TrainingArguments(
        str(tmp_path_factory.mktemp("trainer")), max_steps=STEPS, per_device_train_batch_size=ROWS,
        logging_steps=EVERY, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    trainer = Losing(causal_model(), arguments, train_dataset=Texts(64))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        trainer.train()
    return trainer.state.log_history, losses, out.getvalue().splitlines()


def test_the_history_is_that_of_the_trainer_and_the_lines_those_that_it_prints(trained):
    logged, losses, printed = trained
    run = made_up_run(losses=losses)
    for signal in ("grad_norm", "learning_rate"):
        run.signals[signal] = values = [0.0] * STEPS
        for row in logged[:-1]:
            values[row["step"] - 1] = row[signal]
    shape = replace(SHAPE, every=EVERY, validation=False, signals=SHAPE.signals[:3])
    log = Writer(replace(run, steps_per_epoch=16), shape, np.random.default_rng(0))
    ours = list(log_history(log, rounded=False))
    assert [list(row) for row in ours] == [list(row) for row in logged]
    for row, wanted in zip(ours, logged, strict=True):
        timed = {name for name in wanted if name.startswith(("train_", "total"))} - {"train_loss"}
        same = {name: value for name, value in wanted.items() if name not in timed}
        assert {name: row[name] for name in same} == pytest.approx(same, rel=1e-6)
    files = rendered(log.run, "trainer_v5", log.shape, log.rng)
    lines = [line for line in printed if line.startswith("{'loss'")]
    assert len(lines) == STEPS // EVERY
    assert files["train.log"].decode().splitlines()[: len(lines)] == lines


def test_tensorboard_reads_what_is_written_with_its_checksums(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    run = made_up_run(losses=[3.0, math.nan, 1.5] * 50)
    shape = replace(SHAPE, signals=("loss",), validation=False)
    ((_, data),) = rendered(run, "tensorboard", shape, np.random.default_rng(0)).items()
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(data)
    events = loader.LegacyEventFileLoader(str(path)).Load()
    events = [event for event in events if event.summary.value]
    assert [event.step for event in events] == list(range(150))
    values = [event.summary.value[0].simple_value for event in events]
    assert values == pytest.approx(run.signals["loss"], nan_ok=True)


def test_checksums_are_those_of_tensorboard():
    stub = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
    texts = [b"", b"a", b"123456789", bytes(range(256)), b"abc", scalar(b"loss", 2.0, 300, 1e9)]
    found = [int.from_bytes(one, "little") for one in masked_checksums(texts)]
    assert found == [stub.masked_crc32c(text) for text in texts]
    assert len(records(texts)) == sum(len(text) + 16 for text in texts)
