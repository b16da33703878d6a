import json
import sys
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from types import ModuleType

import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.peers import mapping
from failbench.neighbours.peers.recorder import (
    installed_peers,
    read_by_runmedic,
    read_by_training_doctor,
)
from failbench.neighbours.peers.verdicts import Reading


def fail():
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


CAUSES = ["Exploding gradients: too fast", "Sudden blow-up"]
FINDING = {"check": "non_finite", "severity": "critical", "likely_causes": CAUSES}


@pytest.mark.parametrize(
    ("says", "reading"),
    [
        (lambda: print("[]"), Reading()),
        (
            lambda: print(json.dumps([{"findings": [FINDING]}])),
            Reading(("non_finite/exploding",), ("critical",)),
        ),
        (
            fail,
            Reading(
                unreadable="UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in "
                "position 0: invalid start byte"
            ),
        ),
    ],
)
def test_what_runmedic_prints_or_fails_with_is_kept(monkeypatch, tmp_path, says, reading):
    command, called = ModuleType("runmedic.cli"), []
    command.main = lambda arguments: (called.append(arguments), says())
    monkeypatch.setitem(sys.modules, "runmedic", ModuleType("runmedic"))
    monkeypatch.setitem(sys.modules, "runmedic.cli", command)
    assert read_by_runmedic(tmp_path) == reading
    assert called == [["diagnose", str(tmp_path), "--json"]]


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ({}, r"runmedic: .*is not installed\. Install the extra"),
        ({"runmedic": "0.1.1", "training-doctor": "0.3.0"}, r"is 0\.3\.0 and must be 0\.1\.0"),
    ],
)
def test_a_peer_that_is_not_installed_or_is_of_another_version_is_refused(
    monkeypatch, found, problem
):
    def version(package):
        if package not in found:
            raise PackageNotFoundError(package)
        return found[package]

    monkeypatch.setattr(mapping, "version", version)
    with pytest.raises(BadInputError, match=problem):
        installed_peers()


def table(folder, losses):
    rows = [f"{step},{loss},0.001,1.0" for step, loss in enumerate(losses)]
    text = "\n".join(["step,loss,lr,grad_norm", *rows]) + "\n"
    (folder / "metrics.csv").write_text(text, encoding="utf-8")


FALLING = [5.0 - step / 100 for step in range(200)]


@pytest.mark.parametrize(
    ("peer", "read", "issue"),
    [
        ("runmedic", read_by_runmedic, "non_finite/sudden"),
        ("training_doctor", read_by_training_doctor, "lr_too_high"),
    ],
)
def test_a_real_peer_sees_a_loss_that_breaks_and_nothing_in_one_that_falls(
    tmp_path, peer, read, issue
):
    if find_spec(peer) is None:
        pytest.skip("the extra `peers` is not installed")
    table(tmp_path, FALLING)
    assert read(tmp_path) == Reading()
    table(tmp_path, [*FALLING[:150], *["nan"] * 50])
    reading = read(tmp_path)
    assert (reading.issues[0], reading.severities[0]) == (issue, "critical")
    assert all(confidence >= 0.5 for confidence in reading.confidences[:1])
