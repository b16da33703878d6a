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


def three():
    return build()[:3]


def raises():
    raise FileNotFoundError("no such checkpoint\\nnor any other")
"""


@pytest.fixture
def preflight(tmp_path, capsys):
    """The command on the file: its status, and what it said."""
    path = tmp_path / "training.py"
    path.write_text(SOUND, encoding="utf-8")

    def run(target, *options):
        status = main(["preflight", target.format(file=path), *options])
        return status, capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("target", "status", "beginning", "words"),
    [
        ("{file}", 0, "Nothing stands out in the first step.", "Memory of a step"),
        (
            "{file}:wrong",
            1,
            "The first step will crash.",
            "shapes cannot be multiplied (4x5 and 3x2)",
        ),
    ],
)
def test_a_sound_step_ends_with_0_and_one_that_will_crash_with_1(
    preflight, target, status, beginning, words
):
    ended, said = preflight(target)
    assert ended == status
    assert said.out.startswith(beginning)
    assert words in " ".join(said.out.split())
    ended, said = preflight(target, "--json")
    document = json.loads(said.out)
    assert (ended, document["will_crash"]) == (status, bool(status))
    found = [(each["severity"], each["category"], each["cause"]) for each in document["findings"]]
    assert found == [("crash", "model_software", "shapes_mismatch")] * status


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("missing.py", "is no Python file"),
        ("{file}:nothing", "there is no function nothing"),
        ("{file}:three", "returns a tuple of 3"),
        ("{file}:raises", "no such checkpoint nor any other"),
    ],
)
def test_bad_input_is_one_line_and_2(preflight, target, words):
    status, said = preflight(target)
    assert (status, said.err.count("\n")) == (2, 1)
    assert words in said.err


def test_importing_the_command_needs_no_torch():
    modules = "failbench.cli.main, failbench.preflight.records.answers"
    program = f"import sys, {modules}; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


def test_the_example_of_the_page_prints_what_the_page_says(repository, capsys):
    text = (repository / "docs/preflight.md").read_text(encoding="utf-8")
    code, printed = re.search(r"(?ms)^```python\n(.*?)^```\n\n```\n(.*?)^```", text).groups()
    exec(compile(code, "docs/preflight.md", "exec"), {})
    assert capsys.readouterr().out == printed
