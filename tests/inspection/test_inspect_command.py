"""The command shows a log's course, and a monitor's memory and gradients beside it."""

import json

import pytest

from failbench.cli.main import main


def shown(capsys, log, as_json=False):
    assert main(["inspect", str(log), *(["--json"] if as_json else [])]) == 0
    return capsys.readouterr().out


@pytest.fixture
def text_log(tmp_path):
    path = tmp_path / "train.log"
    lines = [f"step {step}: loss {4 - step / 10:.2f}, grad_norm 1.5" for step in range(20)]
    path.write_text("\n".join([*lines, "step 20: loss nan, grad_norm inf"]) + "\n")
    return path


def test_a_record_has_no_number_that_json_has_not(text_log, capsys):
    record = json.loads(shown(capsys, text_log, as_json=True), parse_constant=pytest.fail)
    loss = record["curves"][0]
    assert (loss["signal"], loss["values"], loss["not_finite"]) == ("loss", 21, 1)
    assert loss["last"] == {"value": None, "step": 20, "line": 21}
    assert loss["best"]["step"] == 19
    assert (record["memory"], record["first_to_leave"]) == ([], None)


def test_a_monitors_folder_shows_memory_by_phase_gradients_and_updates(tmp_path, capsys):
    pytest.importorskip("torch")
    from failbench.monitor import Monitor
    from made_up_training import LOOPS

    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["adamw"].run(monitor, steps=10)
    page = shown(capsys, tmp_path / "run")
    for words in (
        "loss (train): 10 values",
        "loss (validation): 2 values",
        "gradient_norm (train): 10 values",
        "update_ratio (train): 10 values",
        "gap at the last validation",
        "memory by phase",
    ):
        assert words in page
    table = page[page.index("memory by phase") :].splitlines()
    assert [line.split()[0] for line in table[2:-1]] == [
        *("data", "forward", "loss", "backward", "step", "evaluation", "callback", "whole")
    ]
    record = json.loads(shown(capsys, tmp_path / "run", as_json=True))
    assert {each["phase"] for each in record["memory"]} >= {"forward", "backward", "whole"}
