"""Versions of the monitor's rules: frozen, told apart, and applicable for good."""

import csv
import datetime
import shutil

import pytest

from failbench.base.errors import BadInputError
from failbench.monitor.bounds import write_bounds
from failbench.monitor.endings import ENDINGS
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.records.versions import BOUNDS, RULE_FILES, VERSIONS, read_frozen, read_rules
from failbench.recording.validity import freezing
from failbench.recording.validity.freezing import HISTORY, frozen_hash, rules_hash, version_of_today
from pipeline import REPOSITORY

TODAY = datetime.date(2026, 11, 22)
MONITORED = REPOSITORY / "data/monitor"
BOUND = {"reads_not_blocked": Bound(float("-inf"), 1.5)}


@pytest.fixture
def package(tmp_path):
    copy = tmp_path / "monitor"
    for room in ("data", "records"):
        (copy / room).mkdir(parents=True)
    for name in (*freezing.CODE, *(f"data/{name}" for name in freezing.FILES)):
        shutil.copy(freezing.PACKAGE / name, copy / name)
    return copy


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "frozen" / BOUNDS).mkdir(parents=True)
    write_bounds(tmp_path / "frozen" / BOUNDS / "gru-sgd.json", BOUND, 3, "made up")
    return tmp_path / "frozen"


@pytest.fixture
def freeze(folder, package):
    def frozen(version="1", words=("all", "the first")):
        return freezing.freeze(folder, version, TODAY, *words, package=package)

    return frozen


def edit(path, before, after):
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def history_of(folder):
    return list(csv.DictReader((folder / HISTORY).open(encoding="utf-8")))


def test_a_version_is_applied_as_it_was_frozen(folder, package, freeze):
    freeze()
    rules = read_rules(folder, "1")
    assert (rules.invariants, rules.endings) == (CATALOGUE, ENDINGS)
    assert rules.bounds == {"gru-sgd": BOUND}
    row = "labels_outside,value,at most,{},1"
    edit(package / "data/invariants.csv", row.format(0), row.format(7))
    write_bounds(folder / BOUNDS / "gru-sgd.json", {}, 4, "made up again")
    freeze("2", ("one bound", "a test"))
    for version, high in (("1", 0.0), ("2", 7.0)):
        by_id = {each.id: each for each in read_rules(folder, version).invariants}
        assert by_id["labels_are_classes"].bound.high == high
    assert read_rules(folder, "1").bounds == {"gru-sgd": BOUND}
    frozen = {version: frozen_hash(each) for version, each in read_frozen(folder).items()}
    assert {row["version"]: row["hash"] for row in history_of(folder)} == frozen
    assert frozen["1"] != frozen["2"]


def test_only_what_the_rules_do_makes_another_version(folder, package, freeze):
    freeze()
    assert version_of_today(folder, package) == "1"
    edit(package / "breaks.py", '"""Breaks: when', '"""When')
    edit(package / "records/first_break.py", "from dataclasses", "# a comment\n\nfrom dataclasses")
    assert version_of_today(folder, package) == "1"
    edit(package / "breaks.py", "FEWEST: Final = 5", "FEWEST: Final = 6")
    assert version_of_today(folder, package) is None


def test_bounds_of_a_later_setting_join_a_version_without_changing_its_hash(folder, freeze):
    before = freeze()
    write_bounds(folder / BOUNDS / "bert-adamw.json", BOUND, 3, "made up")
    write_bounds(folder / BOUNDS / "gru-sgd.json", {}, 9, "fitted again, which changes nothing")
    assert frozen_hash(freeze(words=())) == frozen_hash(before)
    assert read_rules(folder, "1").bounds == {"gru-sgd": BOUND, "bert-adamw": BOUND}
    with pytest.raises(BadInputError, match="no bounds to freeze"):
        freeze(words=())


def test_a_version_needs_words_and_one_that_is_not_there_or_was_changed_is_refused(folder, freeze):
    with pytest.raises(BadInputError, match="what changed and why"):
        freeze(words=())
    with pytest.raises(BadInputError, match="Freeze it first"):
        read_rules(folder, "1")
    freeze()
    with pytest.raises(BadInputError, match="Choose one of 1"):
        read_rules(folder, "2")
    for name in (*RULE_FILES, f"{BOUNDS}/gru-sgd.json"):
        path = folder / VERSIONS / "1" / name
        before = path.read_text("utf-8")
        path.write_text(before + "\n", "utf-8")
        with pytest.raises(BadInputError, match="is not what was frozen") as refused:
            read_rules(folder, "1")
        assert str(path) in str(refused.value)
        path.write_text(before, "utf-8")


def test_every_frozen_version_can_be_applied_and_the_rules_of_the_package_are_one():
    assert version_of_today(MONITORED), "Freeze the rules as a new version: `failbench freeze`."
    for version, frozen in read_frozen(MONITORED).items():
        assert read_rules(MONITORED, version).bounds.keys() == frozen.all_bounds().keys()
        assert frozen.rules == rules_hash(frozen.files, frozen.code)
        (row,) = (row for row in history_of(MONITORED) if row["version"] == version)
        assert (row["hash"], row["date"]) == (frozen_hash(frozen), frozen.date.isoformat())
