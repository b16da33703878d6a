"""How peers are run: with stand-ins for them, and with themselves where they are installed."""

from __future__ import annotations

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

INSTALLED = {name: find_spec(name) is not None for name in ("runmedic", "training_doctor")}


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


def test_a_peer_that_is_not_installed_is_named_with_what_to_do(monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(mapping, "version", missing)
    with pytest.raises(BadInputError, match=r"runmedic: .*is not installed\. Install the extra"):
        installed_peers()


def test_a_peer_of_another_version_is_refused(monkeypatch):
    found = {"runmedic": "0.1.1", "training-doctor": "0.3.0"}
    monkeypatch.setattr(mapping, "version", found.__getitem__)
    with pytest.raises(BadInputError, match=r"is 0\.3\.0 and must be 0\.1\.0"):
        installed_peers()


def table(folder, losses):
    rows = [f"{step},{loss},0.001,1.0" for step, loss in enumerate(losses)]
    text = "\n".join(["step,loss,lr,grad_norm", *rows]) + "\n"
    (folder / "metrics.csv").write_text(text, encoding="utf-8")


FALLING = [5.0 - step / 100 for step in range(200)]


@pytest.mark.skipif(not INSTALLED["runmedic"], reason="the extra `peers` is not installed")
def test_the_real_runmedic_sees_a_loss_that_breaks_and_nothing_in_one_that_falls(tmp_path):
    table(tmp_path, FALLING)
    assert read_by_runmedic(tmp_path) == Reading()
    table(tmp_path, [*FALLING[:150], *["nan"] * 50])
    assert read_by_runmedic(tmp_path) == Reading(("non_finite/sudden",), ("critical",))


@pytest.mark.skipif(not INSTALLED["training_doctor"], reason="the extra `peers` is not installed")
def test_the_real_training_doctor_sees_a_loss_that_breaks_and_nothing_in_one_that_falls(tmp_path):
    table(tmp_path, FALLING)
    assert read_by_training_doctor(tmp_path) == Reading()
    table(tmp_path, [*FALLING[:150], *["nan"] * 50])
    reading = read_by_training_doctor(tmp_path)
    assert reading.issues[0] == "lr_too_high"
    assert reading.severities[0] == "critical"
    assert reading.confidences[0] >= 0.5
