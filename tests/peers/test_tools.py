import json
import sys
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from types import ModuleType

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.peers import default_plus_plus, recorder
from failbench.neighbours.peers import verdicts as versions
from failbench.neighbours.peers.recorder import (
    installed_peers,
    read_by_runmedic,
    read_by_training_doctor,
    record_outside,
)
from failbench.neighbours.peers.verdicts import (
    OUTSIDE_TABLE,
    Reading,
    issues_of,
    mapping,
    recorded_answers,
)


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

    monkeypatch.setattr(versions, "version", version)
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


PRINTED = b"step 1 loss 2.5 lr 0.1\nstep 2 loss nan lr 0.1\nvalidation loss 3.0\n"


def test_of_what_others_printed_a_category_is_kept_and_what_is_not_asked_again_stays(
    monkeypatch, tmp_path
):
    given, path = {}, tmp_path / "outside.parquet"

    def reading(name, *says):
        def read(folder):
            given[name] = {each.name: each.read_bytes() for each in folder.iterdir()}
            return Reading(*says)

        return recorder.Peer(name, "1", (), read)

    lost = reading("runmedic", ("divergence",), ("critical",))
    quiet = reading("training_doctor", ("lr_too_high",), ("low",), (0.2,))
    monkeypatch.setattr(recorder, "installed_peers", lambda: (lost, quiet))
    record_outside(path, {"reports": {"r1": PRINTED}, "field": {"old": PRINTED}})
    record_outside(path, {"field": {"a/b": PRINTED}})
    table = OUTSIDE_TABLE.read(path)
    assert table.select("peer", "corpus", "log", "prediction", "detected").rows() == [
        ("runmedic", "field", "a/b", "optimization", True),
        ("runmedic", "reports", "r1", "optimization", True),
        ("training_doctor", "field", "a/b", "abstain", False),  # surer answers alone count
        ("training_doctor", "reports", "r1", "abstain", False),
    ]
    assert given["runmedic"] == {"console.log": PRINTED}
    numbers = pl.read_csv(given["training_doctor"]["metrics.csv"])
    assert numbers["loss"].drop_nulls().to_list()[0] == 2.5
    assert numbers["eval_loss"].drop_nulls().to_list() == [3.0]


NAMES = {
    *("embedding", "ffn", "kernel", "kv_cache", "layernorm", "masking", "decoder_masking"),
    *("output", "positional", "qkv", "residual", "score", "variant"),
}
"""Categories of the shipped models: the twelve of its paper, whose masking the one for decoders
divides in two."""


def row(run_id: str = "run", **columns: object) -> dict[str, object]:
    answer = {"is_faulty": True, "detection_probability": 0.9, "category": "qkv"}
    answer |= {"version": "0.4.1", "rendering": "0", "recorded_ending": "completed"}
    answer |= {"groups": ["attention"], "importances": [1.0]}
    return {**dict.fromkeys(default_plus_plus.ANSWER_SCHEMA), "run_id": run_id, **answer, **columns}


def answer_table(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=default_plus_plus.ANSWER_SCHEMA)


def test_every_category_of_its_models_is_mapped_and_no_other():
    assert issues_of(default_plus_plus.PEER) == NAMES
    assert {mapping()[default_plus_plus.PEER, name].category for name in NAMES} == {
        "model_software"
    }
    if find_spec(default_plus_plus.PACKAGE):
        from defaultplusplus.diagnosis import load_pretrained

        shipped = [load_pretrained(family).category_names for family in ("encoder", "decoder")]
        assert {name for names in shipped for name in names} == NAMES


def test_an_answer_is_a_verdict_with_its_category_mapped_and_none_is_not_readable():
    no_answer = row("third", is_faulty=None, category=None, unreadable="It ended.")
    made = answer_table(row("first"), row("second", is_faulty=False, category=None), no_answer)
    answers = recorded_answers(default_plus_plus.verdicts_of(made))
    assert answers["issues"].to_list() == [["qkv"], [], []]
    assert answers["format"].unique().to_list() == [default_plus_plus.INSIDE]
    assert answers["detected"].to_list() == [True, False, False]
    assert answers["prediction"].to_list() == ["model_software", "abstain", "abstain"]
    assert answers["readable"].to_list() == [True, True, False]


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([row(), row()], "run_id: 'run' has two answers"),
        ([row(category="weather")], "category: 'run' has a category that is not mapped"),
        ([row(category=None)], "category: 'run' is faulty without a category"),
        ([row(is_faulty=None, category=None)], "unreadable: 'run' needs either"),
    ],
)
def test_a_broken_table_gives_one_clear_error(tmp_path, rows, field):
    path = tmp_path / "answers.parquet"
    answer_table(*rows).write_parquet(path)
    with pytest.raises(BadInputError, match=field):
        default_plus_plus.read_inside_answers(path)
