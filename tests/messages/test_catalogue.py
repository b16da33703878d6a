"""The catalogue against messages that the libraries raise here and now."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from failbench.messages.catalogue import Message, message_of, messages

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from made_up_models import causal_model  # noqa: E402


def overrun():
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    for _ in range(4):
        optimizer.step()
        schedule.step()


def backward_twice():
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    loss.backward()


def in_place():
    weight = torch.ones(2, requires_grad=True)
    hidden = weight.exp()
    loss = hidden.sum()
    hidden += 1
    loss.backward()


def anomaly():
    with torch.autograd.set_detect_anomaly(True):
        weight = torch.zeros(1, requires_grad=True)
        (weight.sqrt() * 0).sum().backward()


def norm_not_finite():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.full((2,), torch.inf)
    nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


def other_groups():
    parameters = [nn.Parameter(torch.ones(1)) for _ in range(2)]
    torch.optim.SGD(parameters, 0.1).load_state_dict(
        torch.optim.SGD(parameters[:1], 0.1).state_dict()
    )


class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise KeyError("text")


def ragged():
    list(torch.utils.data.DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))


RAISED = {
    "label_outside": lambda: functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5])),
    "id_outside": lambda: nn.Embedding(3, 2)(torch.tensor([7])),
    "uneven_batch": ragged,
    "batch_and_target": lambda: functional.cross_entropy(torch.ones(2, 3), torch.zeros(3).long()),
    "matrix_shapes": lambda: nn.Linear(3, 2)(torch.ones(2, 4)),
    "tensor_sizes": lambda: torch.ones(3) + torch.ones(4),
    "index_type": lambda: nn.Embedding(3, 2)(torch.ones(1)),
    "number_types": lambda: nn.Linear(3, 2)(torch.ones(2, 3).double()),
    "no_graph": lambda: torch.ones(1).sum().backward(),
    "graph_freed": backward_twice,
    "changed_in_place": in_place,
    "nan_in_backward": anomaly,
    "norm_not_finite": norm_not_finite,
    "schedule_overrun": overrun,
    "optimizer_groups": lambda: torch.optim.SGD([], 0.1),
    "optimizer_state": other_groups,
    "weights_do_not_fit": lambda: nn.Linear(3, 2).load_state_dict(nn.Linear(4, 2).state_dict()),
    "file_broken": lambda: torch.load(io.BytesIO(b"PK\x03\x04 cut off"), weights_only=True),
    "cpu_out_of_memory": lambda: torch.empty(2**60),
    "no_examples": lambda: (
        torch.utils.data.RandomSampler([], num_samples=None).num_samples
        or torch.utils.data.DataLoader([], shuffle=True)
    ),
    "error_in_worker": lambda: list(torch.utils.data.DataLoader(Broken(), num_workers=1)),
    "no_loss": lambda: transformers.Trainer(
        causal_model(),
        transformers.TrainingArguments("unused", report_to=[], use_cpu=True),
    ).compute_loss(causal_model(), {"input_ids": torch.zeros(1, 4).long()}),
    "model_not_there": lambda: transformers.AutoConfig.from_pretrained("."),
    "record_not_parsed": lambda: json.loads('{"text": '),
    "text_not_decoded": lambda: b"\xff".decode("utf-8"),
    "archive_broken": lambda: gzip.decompress(b"no gzip"),
    "file_missing": lambda: Path("no such file").read_text(),
    "python_memory_error": lambda: np.empty(2**50),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_a_library_raises_is_known(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as error:  # noqa: PT011
        RAISED[name]()
    kind = type(error.value)
    known = message_of(f"{kind.__module__}.{kind.__qualname__}", str(error.value))
    assert known is not None, error.value
    assert known.id == name, error.value


def test_a_zip_that_is_none_is_known(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(zipfile.BadZipFile) as error:
        zipfile.ZipFile(tmp_path / "x.zip")
    assert message_of("zipfile.BadZipFile", str(error.value)).id == "archive_broken"


EXAMPLES = [
    (row["id"], row["name"], row["text"])
    for row in csv.DictReader(
        Path(__file__).with_name("examples.csv").read_text(encoding="utf-8").splitlines()
    )
]
"""A message for each entry, in the words that its library documents or has in its source."""


def test_each_entry_has_an_example():
    assert [name for name, *_ in EXAMPLES] == [known.id for known in messages()]


@pytest.mark.parametrize(("known", "name", "text"), EXAMPLES)
def test_an_example_is_known_as_its_entry_and_no_earlier_one(known, name, text):
    assert message_of(name, text).id == known


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ValueError", "the learning rate must be positive"),
        ("Exception", "'labels'"),
        ("RuntimeError", "loss 3.5 at step 4"),
        ("OSError", ""),
    ],
)
def test_what_a_program_says_by_itself_is_not_guessed_at(name, text):
    assert message_of(name, text) is None


def test_each_entry_is_whole():
    ids = [known.id for known in messages()]
    assert len(set(ids)) == len(ids)
    for known in messages():
        assert known.meaning.endswith(".")
        assert known.check.endswith(".")
        assert known.source
        assert known.category not in known.also
        assert known.causes
        assert known.category or known.also


def test_no_pattern_takes_longer_than_its_text():
    """Repeats that have no end are of digits, letters of a word, or one letter."""
    for known in messages():
        without = re.sub(r"\\[dw][*+]|\[\^?[^]]{1,12}\]\+", "", known.pattern.pattern)
        assert not re.search(r"(?<!\\)[+*]", without), known.id


WHOLE = {
    "id": "x", "library": "x", "pattern": "x", "meaning": "x.", "category": "optimization",
    "also": "data_pipeline", "causes": "learning_rate_too_high;labels_wrong",
    "strength": "direct", "said": "warning", "check": "x.", "source": "x",
}  # fmt: skip


def test_the_categories_of_causes_agree_with_those_of_their_message():
    assert Message(**WHOLE).causes == ("learning_rate_too_high", "labels_wrong")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("causes", "labels_wrong", "first cause of x does not lie in optimization"),
        ("causes", "learning_rate_too_high;disk_full", "in none of its categories"),
        ("causes", "the_moon", "'the_moon' is no cause"),
        ("causes", "", "at least 1 item"),
        ("causes", ";".join(["learning_rate_too_high"] * 5), "at most 4 items"),
        ("category", "weather", "category"),
        ("also", "weather", "also"),
        ("strength", "weak", "strength"),
        ("said", "whispered", "said"),
    ],
)
def test_an_entry_that_contradicts_itself_is_refused(field, value, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        Message(**{**WHOLE, field: value})


def test_modules_that_are_named_as_sources_are_there():
    packages = Path(torch.__file__).parents[1]
    named = {
        f"{library}{path}"
        for known in messages()
        for library, path in re.findall(
            r"(?<![\w/])(torch/|(?:transformers|accelerate|lightning|safetensors): )([\w/]+\.py)",
            known.source,
        )
    }
    assert len(named) > 40
    paths = {name: packages / name.replace(": ", "/") for name in named}
    assert {name for name, path in paths.items() if not path.is_file()} == set()


def test_the_catalogue_needs_no_torch(tmp_path):
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from failbench.messages.catalogue import message_of\n"
        "assert message_of('SIGSEGV', '').id == 'segmentation_fault'"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
