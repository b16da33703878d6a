from __future__ import annotations

import pytest

from failbench.readers.text import read_text
from failbench.readers.traps import traps

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
transformers = pytest.importorskip("transformers")

from failbench.readers.opening import read_log  # noqa: E402
from made_up_models import ROWS, Texts, causal_model  # noqa: E402


def found(text):
    return [
        (trap.kind, trap.line, trap.step, trap.rows)
        for trap in traps(read_text("-", [text.encode()]))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step 1 loss 2.5\nstep 2 loss 0.0\nstep 3 loss 2.4", [("missing_loss", 2, 2, 1)]),
        ("step 1 loss 0.0005\nstep 2 loss 0.0", []),
        ("step 1 loss 2.5\nstep 2 loss 2.4", []),
        (
            (
                "step 1 loss 2.5 grad_norm 1.0\nstep 2 loss 0.0 grad_norm nan\n"
                "step 3 loss 0.0 grad_norm nan"
            ),
            [("hidden_nan", 2, 2, 2)],
        ),
        ("step 1 loss 2.5 grad_norm nan", []),
        ("step 1 val_loss 2.5\nstep 2 val_loss 0.0", []),
        ("", []),
    ],
)
def test_a_loss_of_exactly_zero_is_asked_where_it_comes_from(text, expected):
    assert found(text) == expected


class Breaks(transformers.TrainerCallback):
    """Makes a weight NaN after some steps, as an update that overflows does."""

    def on_step_end(self, args, state, control, model=None, **more):
        if state.global_step == 4:
            with torch.no_grad():
                next(iter(model.parameters())).fill_(torch.nan)


def test_a_trainer_hides_its_nan_and_is_seen_through(tmp_path):
    arguments = transformers.TrainingArguments(
        str(tmp_path),
        max_steps=8,
        per_device_train_batch_size=ROWS,
        logging_steps=2,
        save_steps=8,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        causal_model(), arguments, train_dataset=Texts(64), callbacks=[Breaks()]
    )
    trainer.train()
    (trap,) = traps(read_log(tmp_path))
    assert (trap.kind, trap.step, trap.rows) == ("hidden_nan", 6, 2)
