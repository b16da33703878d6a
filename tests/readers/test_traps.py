import pytest

from failbench.diagnose.readers.text import read_text
from failbench.diagnose.readers.traps import FINDERS, known_traps, traps

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
transformers = pytest.importorskip("transformers")

from failbench.diagnose.readers.opening import read_log  # noqa: E402
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


def kinds(lines):
    return [trap.kind for trap in traps(read_text("-", ["\n".join(lines).encode()]))]


def falling(steps=20, more="", of=lambda step: 4 * 0.9**step):
    return [f"step {step} loss {of(step):.4f} {more}" for step in range(steps)]


def evaluated(loss, at=range(0, 20, 5)):
    return [f"step {step} val_loss {loss}" for step in at]


def alternating(values, steps=20):
    return [f"step {step} loss {values[step % len(values)]}" for step in range(steps)]


SEEN = {
    "evaluation_not_finite": falling() + evaluated("nan"),
    "norm_not_measured": falling(more="grad_norm 0.0"),
    "norm_of_overflow": [*falling(more="grad_norm 2.5"), "step 20 loss 0.4 grad_norm -1.0"],
    "clipped_norm": [
        f"step {step} loss 2.5{step} grad_norm {min(1.0, 0.6 + step / 20)}" for step in range(20)
    ],
    "lone_overflow": [
        f"step {step} loss 2.5{step} grad_norm {'inf' if step == 3 else 1.5 + step}"
        for step in range(20)
    ],
    "rounded_rate": falling(more="lr 0.0000"),
    "warmup_from_zero": [f"step {step} loss 2.5{step} lr {step * 1e-4}" for step in range(5)],
    "loss_left_out": [
        f"iteration {step} | learning rate: 1e-4 |" + (f" lm loss: 2.{step} |" * (step != 3))
        for step in range(9)
    ],
    "mean_of_run": [
        *falling(),
        f"{{'train_runtime': 3.0, 'train_loss': {sum(4 * 0.9**step for step in range(20)) / 20}}}",
    ],
    "loss_in_bits": [f"step {s} loss {9 - s} ppl {2 ** (9 - s)}" for s in range(5)],
    "capped_perplexity": [f"step {s} loss {25 - s} ppl 485165195.41" for s in range(4)],
    "perplexity_overflows": ["step 1 loss 800.5 ppl inf"],
    "rounded_loss": [f"step {step} loss {2.5 - step // 5 / 100:.2f}" for step in range(40)],
    "steps_go_back": falling(100) + [f"step {step} loss 2.5" for step in range(50, 60)],
    "negative_loss": ["step 1 loss 0.5", "step 2 loss -0.5"],
    "accumulated_loss": falling(of=lambda step: 16 * 0.99**step) + evaluated("3.2"),
    "chance_level": alternating([2.3026, 2.3031, 2.2999], 40),
}  # fmt: skip


@pytest.mark.parametrize("kind", SEEN)
def test_a_trap_is_seen(kind):
    assert kind in kinds(SEEN[kind])


UNSEEN = {
    "evaluation_not_finite": falling(of=lambda step: float("nan")) + evaluated("nan"),
    "norm_not_measured": alternating([2.5, 2.6]) + falling(2, more="grad_norm 0.0"),
    "norm_of_overflow": falling(more="grad_norm 0.0"),
    "clipped_norm": falling(more="grad_norm 1.5", steps=3),
    "lone_overflow": falling(more="grad_norm nan"),
    "rounded_rate": falling(more="lr 1e-4"),
    "warmup_from_zero": falling(more="lr 0.0"),
    "loss_left_out": [f"step {s} lr 1e-4\nstep {s} loss 2.{s} lr 1e-4" for s in range(9)],
    "mean_of_run": [*falling(), "step 20 loss 3.9"],
    "loss_in_bits": [f"step {s} loss {9 - s} ppl {2.71828 ** (9 - s)}" for s in range(5)],
    "capped_perplexity": ["step 1 loss 7.0011 ppl 1097.84", "step 2 loss 7.0011 ppl 1097.84"],
    "perplexity_overflows": ["step 1 loss inf ppl inf"],
    "rounded_loss": falling(40),
    "steps_go_back": [f"step {step // 2 * 2 - step % 2} loss 2.5" for step in range(2, 40)],
    "negative_loss": ["step 1 loss 0.5", "step 2 loss 0.0"],
    "accumulated_loss": falling(of=lambda step: 6 * 0.99**step) + evaluated("3.2"),
    "chance_level": falling(40),
}


@pytest.mark.parametrize("kind", UNSEEN)
def test_a_trap_is_not_seen_where_there_is_none(kind):
    assert kind not in kinds(UNSEEN[kind])


def test_a_healthy_run_has_no_traps():
    norms = [f"step {step} grad_norm {1 + step / 50}" for step in range(40)]
    assert kinds(falling(40, more="lr 1e-4") + evaluated("0.5")) == []
    assert kinds(norms) == []


def test_each_kind_has_its_meaning_and_is_tried():
    assert set(known_traps()) == set(FINDERS) == {*SEEN, "hidden_nan", "missing_loss"}
    assert all(known.meaning.endswith(".") for known in known_traps().values())


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
