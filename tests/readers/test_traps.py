import pytest

from failbench.diagnose.readers.text import read_text
from failbench.diagnose.readers.traps import FINDERS, known_traps, traps

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
transformers = pytest.importorskip("transformers")

from failbench.diagnose.readers.opening import read_log  # noqa: E402
from made_up_models import ROWS, Texts, causal_model  # noqa: E402

NAN = "step 1 loss 2.5 grad_norm 1\nstep 2 loss 0.0 grad_norm nan\nstep 3 loss 0.0 grad_norm nan"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step 1 loss 2.5\nstep 2 loss 0.0\nstep 3 loss 2.4", [("missing_loss", 2, 2, 1)]),
        ("step 1 loss 0.0005\nstep 2 loss 0.0", []), ("step 1 loss 2.5\nstep 2 loss 2.4", []),
        (NAN, [("hidden_nan", 2, 2, 2)]), ("step 1 loss 2.5 grad_norm nan", []),
        ("step 1 val_loss 2.5\nstep 2 val_loss 0.0", []), ("", []),
    ],
)  # fmt: skip
def test_a_loss_of_exactly_zero_is_asked_where_it_comes_from(text, expected):
    found = traps(read_text("-", [text.encode()]))
    assert [(trap.kind, trap.line, trap.step, trap.rows) for trap in found] == expected


def kinds(lines):
    return [trap.kind for trap in traps(read_text("-", ["\n".join(lines).encode()]))]


def falling(steps=20, more="", of=lambda step: 4 * 0.9**step):
    return [f"step {step} loss {of(step):.4f} {more}" for step in range(steps)]


def each(text, steps=20):
    """A line for each step, from a text or from what makes it."""
    return [(text if callable(text) else text.format)(step) for step in range(steps)]


def evaluated(loss):
    return [f"step {step} val_loss {loss}" for step in range(0, 20, 5)]


def alternating(values, steps=20):
    return each(lambda step: f"step {step} loss {values[step % len(values)]}", steps)


MEAN = sum(4 * 0.9**step for step in range(20)) / 20
CASES = {  # where the trap is seen, and where it is not
    "norm_not_measured": (
        falling(more="grad_norm 0.0"), alternating([2.5, 2.6]) + falling(2, more="grad_norm 0.0")),
    "norm_of_overflow": (
        [*falling(more="grad_norm 2.5"), "step 20 loss 0.4 grad_norm -1.0"],
        falling(more="grad_norm 0.0")),
    "clipped_norm": (
        each(lambda step: f"step {step} loss 2.5{step} grad_norm {min(1.0, 0.6 + step / 20)}"),
        falling(3, more="grad_norm 1.5")),
    "lone_overflow": (
        each(lambda step: f"step {step} loss 2 grad_norm {'inf' if step == 3 else 1.5 + step}"),
        falling(more="grad_norm nan")),
    "rounded_rate": (falling(more="lr 0.0000"), falling(more="lr 1e-4")),
    "warmup_from_zero": (each("step {0} loss 2.5{0} lr {0}e-4", 5), falling(more="lr 0.0")),
    "loss_left_out": (
        each(lambda step: f"iteration {step} | learning rate: 1e-4 |"
             + f" lm loss: 2.{step} |" * (step != 3), 9),
        each("step {0} lr 1e-4\nstep {0} loss 2.{0} lr 1e-4", 9)),
    "mean_of_run": (
        [*falling(), f"{{'train_runtime': 3.0, 'train_loss': {MEAN}}}"],
        [*falling(), "step 20 loss 3.9"]),
    "loss_in_bits": (
        each(lambda step: f"step {step} loss {9 - step} ppl {2 ** (9 - step)}", 5),
        each(lambda step: f"step {step} loss {9 - step} ppl {2.71828 ** (9 - step)}", 5)),
    "capped_perplexity": (
        each(lambda step: f"step {step} loss {25 - step} ppl 485165195.41", 4),
        each("step {} loss 7.0011 ppl 1097.84", 2)),
    "perplexity_overflows": (["step 1 loss 800.5 ppl inf"], ["step 1 loss inf ppl inf"]),
    "rounded_loss": (
        each(lambda step: f"step {step} loss {2.5 - step // 5 / 100:.2f}", 40), falling(40)),
    "steps_go_back": (
        falling(100) + [f"step {step} loss 2.5" for step in range(50, 60)],
        [f"step {step // 2 * 2 - step % 2} loss 2.5" for step in range(2, 40)]),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_a_trap_is_seen_and_not_where_there_is_none(kind):
    seen, unseen = CASES[kind]
    assert kind in kinds(seen)
    assert kind not in kinds(unseen)


def test_a_healthy_run_has_no_traps():
    assert kinds(falling(40, more="lr 1e-4") + evaluated("0.5")) == []
    assert kinds([f"step {step} grad_norm {1 + step / 50}" for step in range(40)]) == []


def test_each_kind_has_its_meaning_and_is_tried():
    assert set(known_traps()) == set(FINDERS) == {*CASES, "hidden_nan", "missing_loss"}
    assert all(known.meaning.endswith(".") for known in known_traps().values())


class Breaks(transformers.TrainerCallback):
    """Makes a weight NaN after some steps, as an update that overflows does."""

    def on_step_end(self, args, state, control, model=None, **more):
        if state.global_step == 4:
            with torch.no_grad():
                next(iter(model.parameters())).fill_(torch.nan)


def test_a_trainer_hides_its_nan_and_is_seen_through(tmp_path):
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=8, per_device_train_batch_size=ROWS, logging_steps=2,
        save_steps=8, report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    transformers.Trainer(
        causal_model(), arguments, train_dataset=Texts(64), callbacks=[Breaks()]
    ).train()
    (trap,) = traps(read_log(tmp_path))
    assert (trap.kind, trap.step, trap.rows) == ("hidden_nan", 6, 2)
