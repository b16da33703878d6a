import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import causes
from failbench.diagnose.diagnosis import diagnose_log, diagnosis_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.outputs.outline import headline, summary
from failbench.diagnose.readers.text import read_text

OUT_OF_MEMORY = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 31, in <module>
    loss.backward()
  File "/opt/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total \
capacity of 79.10 GiB of which 10.00 MiB is free. Including non-PyTorch memory, this process has \
79.00 GiB memory in use.
"""
UNEVEN = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    for batch in loader:
  File "/opt/torch/utils/data/dataloader.py", line 701, in __next__
    data = self._next_data()
  File "/opt/torch/utils/data/_utils/collate.py", line 155, in collate
    return torch.stack(batch, 0)
RuntimeError: stack expects each tensor to be equal size, but got [4] at entry 0 and [5] at entry 1
"""


def lines(losses, **others):
    """A log of a loop of one's own."""
    table = zip(*({"loss": losses} | others).values(), strict=True)
    return "\n".join(
        " ".join([f"step={step}", *map("{}={:.6g}".format, ["loss", *others], values)])
        for step, values in enumerate(table)
    )


def falling(count=120, start=9.0):
    return [start * math.exp(-step / 80) + 0.05 * math.sin(step) for step in range(count)]


JUMPS = lines([*falling(60), 30.0, *falling(20)], grad_norm=[*[1.0] * 60, 90.0, *[1.0] * 20])


def diagnosed(text, **options):
    return diagnosis_of(read_text("train.log", [text.encode()]), **options)


@pytest.mark.parametrize(
    "text",
    [
        lines([math.nan] * 40), lines([*falling(), math.inf]), lines([2.5] * 40), lines([2.5]),
        lines([2.0 + step / 1000 for step in range(40)]), lines(falling(), lr=[0.0] * 120),
        lines(falling(), lr=[math.nan] * 120),
        lines(falling()) + "\nWARNING: NaN or Inf found in input tensor.",
        "\n".join(f"step={step} loss=3" for step in range(40)),
        "\n".join(f"step={step} lr=0.001" for step in range(40)),
        "\n".join(f"step={step} perplexity=nan" for step in range(40)),
        "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`.",
    ],
)  # fmt: skip
def test_what_shows_no_health_is_never_called_healthy(text):
    assert diagnosed(text).status != "healthy"


def test_a_log_in_which_nothing_was_found_and_nothing_improves_says_too_little():
    few = lines([2.5, 2.4, 2.5])
    diagnosis = diagnosed(few)
    assert (diagnosis.status, diagnosis.category, diagnosis.hypotheses) == ("too_little", None, ())
    assert headline(diagnosis).endswith("does not show health")
    failed = diagnosed(lines(falling()), failed=True)
    assert failed.status in ("unknown", "failed")
    assert failed.measure
    assert "no error and no end" in " ".join(failed.uncertainty)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (lines(falling()), "healthy"),
        (lines([2.5, 2.4, 2.5]), "too_little"),
        (lines([*falling(60), *[30.0] * 4, *falling(20)]), "unknown"),
        ("GET /index.html 200 5120\nGET /logo.png 404 162\n", "no_training_log"),
        (lines([*falling(), math.nan, math.nan]), "unknown"),
        (UNEVEN, "failed"),
    ],
)
def test_each_status_has_its_log(text, status):
    assert diagnosed(text).status == status


def test_health_is_surer_the_more_shows_it():
    alone = diagnosed(lines(falling()))
    norms = [1.0 + 2 * math.exp(-step / 40) + 0.1 * math.sin(step) for step in range(120)]
    both = diagnosed(lines(falling(), grad_norm=norms))
    assert alone.status == both.status == "healthy"
    assert 0.5 < alone.confidence < both.confidence < 1


def test_a_cause_below_30_percent_is_shown_and_not_named():
    diagnosis = diagnosed(UNEVEN)
    first, *others = diagnosis.hypotheses
    assert diagnosis.names_cause
    low = replace(diagnosis, hypotheses=(replace(first, confidence=0.29), *others))
    assert not low.names_cause
    assert "First of the possible causes" in summary(low)


@pytest.mark.parametrize(
    ("text", "category", "cause"),
    [
        (OUT_OF_MEMORY, "memory_hardware", None),
        (UNEVEN, "data_pipeline", "examples_not_padded"),
        (lines(falling()) + "\n" + UNEVEN, "data_pipeline", "examples_not_padded"),
    ],
)
def test_an_error_is_named_with_its_line(text, category, cause):
    diagnosis = diagnosed(text)
    assert (diagnosis.status, diagnosis.category) == ("failed", category)
    first = diagnosis.hypotheses[0]
    assert cause in (None, first.cause.id)
    said = next(each for each in first.findings if each.kind == "message")
    assert text.splitlines()[said.line - 1].startswith(said.quote[:30])
    assert first.severity == "critical"


def test_a_block_larger_than_all_that_was_held_is_evidence_of_its_own():
    usual = [each for each in diagnosed(OUT_OF_MEMORY).findings if each.kind == "allocation"]
    huge = OUT_OF_MEMORY.replace("20.00 MiB", "200.00 GiB")
    (found,) = [each for each in diagnosed(huge).findings if each.kind == "allocation"]
    assert usual == []
    assert (found.value, found.threshold) == (200 * 2**30, 79 * 2**30)
    assert found.causes[0] == "tensor_blows_up"


def test_a_number_is_found_at_its_line_and_step_with_a_threshold_in_its_unit():
    diagnosis = diagnosed(lines([*falling(60), *[math.nan] * 5], grad_norm=[1.0] * 65))
    assert diagnosis.status != "healthy"
    (found,) = [each for each in diagnosis.findings if each.id == "loss_not_finite"]
    assert (found.line, found.step) == (61, 60)
    (jump,) = [each for each in diagnosed(JUMPS).findings if each.id == "loss_jumps"]
    assert (jump.line, jump.step, jump.value, jump.relation) == (61, 60, 30.0, "above")
    assert falling(60)[-1] < jump.threshold < 30.0


SCHEDULES = {
    "linear": lambda step: min(1, (step + 1) / 20) * (400 - step) / 400,
    "cosine": lambda step: (1 + math.cos(math.pi * step / 400)) / 2,
    "restarts": lambda step: (1 + math.cos(math.pi * (step % 100) / 100)) / 2,
    "steps": lambda step: 0.1 ** (step // 150),
    "constant": lambda step: 1.0,
    "ends early": lambda step: max(0, 1 - step / 100),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_in_use_are_healthy_and_one_that_is_zero_for_most_of_the_training_is_found(name):
    losses = [2 + 2 * math.exp(-step / 80) + 0.2 * math.sin(step) for step in range(400)]
    diagnosis = diagnosed(lines(losses, lr=[3e-4 * SCHEDULES[name](step) for step in range(400)]))
    if name != "ends early":
        assert diagnosis.status == "healthy"
    else:
        assert diagnosis.is_odd
        assert diagnosis.hypotheses[0].cause.id == "schedule_ends_early"


def test_settings_and_code_are_weighed_but_are_no_alarm():
    hint = Finding(
        "no_zero_grad", "code", "direct", "Gradients are never cleared.", "train.py", 7, None,
        causes=("gradients_not_cleared",),
    )  # fmt: skip
    log = read_text("train.log", [lines(falling()).encode()])
    assert diagnosis_of(log, extra=(hint,)).status == "healthy"
    told = diagnosis_of(log, extra=(hint,), failed=True)
    assert "gradients_not_cleared" in {each.cause.id for each in told.hypotheses}
    alone = diagnosis_of(log, failed=True)
    assert told.categories["model_software"] > alone.categories["model_software"]


def test_a_configuration_and_code_are_read_beside_the_log(tmp_path):
    (tmp_path / "train.log").write_text(lines([*falling(60), *[math.nan] * 5]))
    (tmp_path / "config.json").write_text('{"learning_rate": 30.0, "optim": "adamw_torch"}')
    (tmp_path / "train.py").write_text(
        "for batch in loader:\n    loss = model(batch)\n    loss.backward()\n    optimizer.step()\n"
    )
    diagnosis = diagnose_log(
        tmp_path / "train.log", configuration=tmp_path / "config.json", code=[tmp_path / "train.py"]
    )
    assert {"setting", "code"} <= {each.kind for each in diagnosis.findings}


@pytest.mark.parametrize("text", [OUT_OF_MEMORY, UNEVEN, lines([*falling(60), math.nan])])
@given(words=st.lists(st.text("abc äß{}[]|", max_size=40), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_lines_that_say_nothing_change_no_category_that_is_sure_and_its_probability_little(
    text, words
):
    plain = diagnosed(text)
    mixed = diagnosed("\n".join(words) + "\n" + text)
    assert mixed.category == plain.category or plain.confidence < 0.5
    change = [abs(mixed.categories[name] - plain.categories[name]) for name in CATEGORIES]
    assert max(change) < 0.25
    of_mixed, of_plain = (
        [repr(replace(each, line=None)) for each in diagnosis.findings]
        for diagnosis in (mixed, plain)
    )
    assert of_mixed == of_plain


@given(
    content=st.binary(max_size=400),
    losses=st.lists(st.floats(width=32), max_size=60),
    norm=st.floats(width=32),
    failed=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_any_bytes_and_any_numbers_are_diagnosed(content, losses, norm, failed):
    numbers = lines(losses, grad_norm=[norm] * len(losses), lr=losses)
    for data in (content, numbers.encode()):
        diagnosis = diagnosis_of(read_text("-", [data]), failed=failed)
        assert list(diagnosis.categories) == list(CATEGORIES)
        assert sum(diagnosis.categories.values()) == pytest.approx(1)
        assert all(each.cause.id in causes() for each in diagnosis.hypotheses)
        assert all(0 <= each.confidence <= 1 for each in diagnosis.hypotheses)
