"""The command ``failbench preflight``, end to end, and the example of its page."""

import json
import re
import subprocess
import sys

import pytest

from failbench.cli.main import main

SOUND = """
import torch
from torch import nn


def build(width=3):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer, nn.CrossEntropyLoss(), (torch.ones(4, width), torch.zeros(4).long())


def wrong():
    return build(width=5)


def still():
    model, optimizer, loss, batch = build()
    optimizer.param_groups[0]["lr"] = 0.0
    return {"model": model, "optimizer": optimizer, "loss": loss, "batch": batch}


def three():
    return build()[:3]


def other_key():
    return {"model": build()[0], "batches": 1}


def raises():
    raise FileNotFoundError("no such checkpoint\\nnor any other")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "training.py"
    path.write_text(SOUND, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("function", "status", "beginning", "words"),
    [
        ("", 0, "Nothing stands out in the first step.", "Memory of a step"),
        (":wrong", 1, "The first step will crash.", "shapes cannot be multiplied (4x5 and 3x2)"),
    ],
)
def test_a_sound_step_ends_with_0_and_one_that_will_crash_with_1(
    file, capsys, function, status, beginning, words
):
    assert main(["preflight", f"{file}{function}"]) == status
    out = capsys.readouterr().out
    assert out.startswith(beginning)
    assert words in " ".join(out.split())


def test_the_document_has_what_the_page_has(file, capsys):
    assert main(["preflight", f"{file}:wrong", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["will_crash"]
    (found,) = document["findings"]
    assert (found["severity"], found["category"]) == ("crash", "model_software")
    assert found["cause"] == "shapes_mismatch"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing.py", "is no Python file"),
        ("{file}:nothing", "there is no function nothing"),
        ("{file}:three", "returns a tuple of 3"),
        ("{file}:other_key", "unknown key 'batches'"),
        ("{file}:raises", "no such checkpoint nor any other"),
    ],
)
def test_bad_input_is_one_line_and_2(file, capsys, target, words):
    assert main(["preflight", target.format(file=file)]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_importing_the_command_needs_no_torch():
    modules = "failbench.cli.main, failbench.preflight.records.answers"
    program = f"import sys, {modules}; print('torch' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert answer.stdout == "False\n", answer.stderr


def test_the_example_of_the_page_prints_what_the_page_says(repository, capsys):
    text = (repository / "docs/preflight.md").read_text(encoding="utf-8")
    code, printed = re.search(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    ).groups()
    exec(compile(code, "docs/preflight.md", "exec"), {})
    assert capsys.readouterr().out == printed
