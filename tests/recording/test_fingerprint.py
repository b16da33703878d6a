"""Fingerprints change with what acts, and with nothing else."""

import shutil
from collections.abc import Callable

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording import fingerprint as module
from failbench.recording.fingerprint import (
    PROVENANCE,
    corpus_cache,
    fault_code,
    fingerprint,
    loop_code,
)

FAULTS = '''
import torch
from failbench.recording.faults.registry import fault

FACTOR = 3.0
LIMIT: float = 5.0
LOW, HIGH = 1, 2


def double(value: float) -> float:
    """Twice a value."""
    return 2 * value


if LIMIT > 2:

    def chosen(value):
        return value + LOW


def unrelated() -> int:
    return 1


@fault("at_onset")
def rate_jump(run: "TrainingRun", factor: float = FACTOR) -> None:
    """Raise the learning rate."""
    raised: float = chosen(double(factor)) * LIMIT
    run.settings.learning_rate *= raised


@fault("at_onset")
def other_fault(run) -> None:
    unrelated()
'''
Edit = Callable[[str, str], None]


def _clear():
    for cached in (loop_code, fault_code, module._fault_definitions):
        cached.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the recording package, with one small module of faults, in place of the real."""
    copy = tmp_path / "recording"
    shutil.copytree(module._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy / "faults").glob("*.py"):
        if path.name != "registry.py":
            path.unlink()
    (copy / "faults" / "few.py").write_text(FAULTS, encoding="utf-8")
    monkeypatch.setattr(module, "_PACKAGE", copy)
    _clear()
    yield copy
    _clear()


@pytest.fixture
def edit(package):
    """Replace a stretch of the faults' source."""

    def replace(old, new):
        path = package / "faults" / "few.py"
        source = path.read_text(encoding="utf-8")
        assert source.count(old) == 1
        path.write_text(source.replace(old, new), encoding="utf-8")
        _clear()

    return replace


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Raise the learning rate."""', '"""Raise it by much."""'),
        ('    """Twice a value."""\n', ""),
        ("return 2 * value", "return (2\n            * value)  # twice"),
        ("factor: float = FACTOR) -> None", "factor = FACTOR)"),
        ("raised: float = ", "raised: int = "),
        ('run: "TrainingRun"', "run: object"),
        ("return 1", "return 2"),
        ("import torch", "import torch\nimport math"),
    ],
)
def test_what_does_not_act_does_not_count(edit, old, new):
    before = fault_code("rate_jump")
    edit(old, new)
    assert fault_code("rate_jump") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("run.settings.learning_rate *= raised", "run.settings.learning_rate += raised"),
        ('@fault("at_onset")\ndef rate_jump', '@fault("before_build")\ndef rate_jump'),
        ("return 2 * value", "return 4 * value"),
        ("FACTOR = 3.0", "FACTOR = 30.0"),
        ("LIMIT: float = 5.0", "LIMIT: float = 4.0"),
        ("LOW, HIGH = 1, 2", "LOW, HIGH = 0, 2"),
        ("return value + LOW", "return value - LOW"),
    ],
    ids=[
        "its own code",
        "its moment",
        "a helper it calls",
        "a constant it names",
        "an annotated constant",
        "one of a pair",
        "a chosen helper",
    ],
)
def test_what_acts_counts_for_the_fault_that_uses_it_alone(edit, old, new):
    before, other = fault_code("rate_jump"), fault_code("other_fault")
    edit(old, new)
    assert fault_code("rate_jump") != before
    assert fault_code("other_fault") == other


def test_helper_in_another_module_counts(package, edit):
    (package / "faults" / "shared.py").write_text("def treble(value):\n    return 3 * value\n")
    edit(
        "import torch",
        "import torch\nfrom failbench.recording.faults.shared import treble as triple",
    )
    edit("chosen(double(factor))", "triple(factor)")
    before = fault_code("rate_jump")
    (package / "faults" / "shared.py").write_text("def treble(value):\n    return 4 * value\n")
    _clear()
    assert fault_code("rate_jump") != before


def test_a_further_module_of_faults_changes_no_other(package):
    before = {place: fault_code(place[1]) for place in module._fault_definitions()}
    (package / "faults" / "more.py").write_text("def double(value):\n    return value\n")
    registry = package / "faults" / "registry.py"
    source = registry.read_text(encoding="utf-8")
    registry.write_text(source.replace("import data, ", "import data, more, "), encoding="utf-8")
    _clear()
    kept = loop_code()
    assert {
        place: module._reached_code([place], module._fault_definitions()) for place in before
    } == before
    registry.write_text(source, encoding="utf-8")
    _clear()
    assert loop_code() == kept


@pytest.mark.parametrize("name", module._LOOP_MODULES)
def test_each_module_of_the_loop_counts_by_what_acts(package, name):
    before = loop_code()
    path = package / name
    source = path.read_text(encoding="utf-8")
    path.write_text(source + "\n# A remark.\n", encoding="utf-8")
    _clear()
    assert loop_code() == before
    path.write_text(source + "\nMORE = 1\n", encoding="utf-8")
    _clear()
    assert loop_code() != before


def test_a_corpus_made_by_other_code_is_kept_elsewhere(package, tmp_path):
    kept = corpus_cache(tmp_path)
    path = package / "loop.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nMORE = 1\n", encoding="utf-8")
    _clear()
    assert corpus_cache(tmp_path) == kept
    path = package / "corpus.py"
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace('"[BOS]")', '"[BOS]", "[MASK]")'), encoding="utf-8")
    _clear()
    assert corpus_cache(tmp_path) != kept


def test_fingerprint_covers_ranges_declaration_and_provenance(ranges):
    provenance = dict.fromkeys(PROVENANCE, "one")
    weak = FaultDeclaration(name="loss_graph_retained", parameters={"every": 5}, onset="mid_run")
    strong = weak.model_copy(update={"parameters": {"every": 1}})
    wider = ranges.model_copy(update={"width": (64,)})
    found = [
        fingerprint(ranges, "adamw", None, provenance),
        fingerprint(ranges, "adamw", weak, provenance),
        fingerprint(ranges, "adamw", strong, provenance),
        fingerprint(wider, "adamw", None, provenance),
        *(fingerprint(ranges, "adamw", None, provenance | {name: "two"}) for name in PROVENANCE),
    ]
    assert len(set(found)) == len(found)
    assert fingerprint(ranges, "adamw", weak, provenance | {"seed": 1}) == found[1]
