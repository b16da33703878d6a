import json

import pytest

from failbench.cli.main import main
from failbench.diagnose.inspection.memory import first_to_leave, memory_by_phase, memory_text
from failbench.monitor.end import End
from failbench.monitor.history import History, Row

MIB = 2.0**20


def phases_of(every=10, **series):
    steps = max(len(values) for values in series.values())
    rows = tuple(
        Row(every * place, {name: values[place] for name, values in series.items()})
        for place in range(steps)
    )
    end = End("completed", "callback", every * steps)
    return memory_by_phase(History("light", every, {}, {}, rows, end))


def test_a_phase_has_its_median_peak_and_growth():
    (phase,) = phases_of(memory_forward=[MIB * (10 + place) for place in range(21)])
    assert phase.phase == "forward"
    assert (phase.measurements, phase.median, phase.peak) == (21, 20 * MIB, 30 * MIB)
    assert phase.peak_step == 200
    assert phase.growth == pytest.approx(MIB / 10)
    assert phase.start == 17 * MIB
    assert phase.left_start == 130  # the second in a row above 21 MiB


def test_the_phase_that_left_its_start_first_is_named():
    flat = [MIB] * 30
    phases = phases_of(
        memory_forward=flat,
        memory_backward=flat[:20] + [9 * MIB] * 10,
        memory_evaluation=flat[:12] + [9 * MIB] * 18,
        memory=[MIB * place * 10 for place in range(30)],
    )
    assert [each.phase for each in phases] == ["forward", "backward", "evaluation", "whole"]
    assert first_to_leave(phases).phase == "evaluation"
    told = memory_text(phases)
    assert told.endswith("The first phase to leave its start: evaluation, at step 130.")


def shown(capsys, log, *options):
    assert main(["inspect", str(log), *options]) == 0
    return capsys.readouterr().out


def test_a_monitors_folder_shows_memory_by_phase_gradients_and_updates(tmp_path, capsys):
    pytest.importorskip("torch")
    from failbench.monitor import Monitor
    from made_up_training import LOOPS

    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["adamw"].run(monitor, steps=10)
    page = shown(capsys, tmp_path / "run")
    for words in (
        "loss (train): 10 values", "loss (validation): 2 values",
        "gradient_norm (train): 10 values", "update_ratio (train): 10 values",
        "gap at the last validation", "memory by phase",
    ):  # fmt: skip
        assert words in page
    table = page[page.index("memory by phase") :].splitlines()
    phases = ["data", "forward", "loss", "backward", "step", "evaluation", "callback", "whole"]
    assert [line.split()[0] for line in table[2:-1]] == phases
    record = json.loads(shown(capsys, tmp_path / "run", "--json"))
    assert {each["phase"] for each in record["memory"]} >= {"forward", "backward", "whole"}
