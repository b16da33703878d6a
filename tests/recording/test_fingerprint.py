"""Fingerprints change with what acts, and with nothing else."""

import shutil

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording import fingerprint as module
from failbench.recording import signals
from failbench.recording.fingerprint import PROVENANCE, corpus_cache, fault_code, loop_code
from failbench.recording.signals import monitor_code

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


def _clear():
    for cached in (loop_code, fault_code, module._fault_definitions):
        cached.cache_clear()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes to a copy of the recording package, with one small module of faults."""
    copy = tmp_path / "recording"
    shutil.copytree(module._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy / "faults").glob("*.py"):
        if path.name != "registry.py":
            path.unlink()

    def written(name, old, new):
        path = copy / name
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        assert source.count(old) == 1 or not old
        path.write_text(source.replace(old, new) if old else source + new, encoding="utf-8")
        _clear()

    monkeypatch.setattr(module, "_PACKAGE", copy)
    written("faults/few.py", "", FAULTS)
    yield written
    _clear()


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
def test_what_does_not_act_does_not_count(write, old, new):
    before = fault_code("rate_jump")
    write("faults/few.py", old, new)
    assert fault_code("rate_jump") == before


ACTING = {
    "its own code": ("learning_rate *= raised", "learning_rate += raised"),
    "the moment it acts at": ('("at_onset")\ndef rate', '("before_build")\ndef rate'),
    "a helper it calls": ("return 2 * value", "return 4 * value"),
    "a constant it names": ("FACTOR = 3.0", "FACTOR = 30.0"),
    "an annotated constant": ("LIMIT: float = 5.0", "LIMIT: float = 4.0"),
    "one of a pair": ("LOW, HIGH = 1, 2", "LOW, HIGH = 0, 2"),
    "a chosen helper": ("return value + LOW", "return value - LOW"),
}


@pytest.mark.parametrize("change", ACTING)
def test_what_acts_counts_for_the_fault_that_uses_it_alone(write, change):
    before, other = fault_code("rate_jump"), fault_code("other_fault")
    write("faults/few.py", *ACTING[change])
    assert fault_code("rate_jump") != before
    assert fault_code("other_fault") == other


def test_a_helper_in_another_module_counts(write):
    write("faults/shared.py", "", "def treble(value):\n    return 3 * value\n")
    imported = "from failbench.recording.faults.shared import treble as triple"
    write("faults/few.py", "import torch", f"import torch\n{imported}")
    write("faults/few.py", "chosen(double(factor))", "triple(factor)")
    before = fault_code("rate_jump")
    write("faults/shared.py", "3 * value", "4 * value")
    assert fault_code("rate_jump") != before


def test_a_further_module_of_faults_changes_no_other(write):
    def codes():
        known = module._fault_definitions()
        return {place: module._reached_code([place], known) for place in before}

    before = {place: fault_code(place[1]) for place in module._fault_definitions()}
    loop = loop_code()
    write("faults/more.py", "", "def double(value):\n    return value\n")
    write("faults/registry.py", "import data, ", "import data, more, ")
    assert codes() == before
    assert loop_code() == loop


@pytest.mark.parametrize("name", module._LOOP_MODULES)
def test_each_module_of_the_loop_counts_by_what_acts(write, name):
    before = loop_code()
    write(name, "", "\n# A remark.\n")
    assert loop_code() == before
    write(name, "", "\nMORE = 1\n")
    assert loop_code() != before


def test_a_corpus_made_by_other_code_is_kept_elsewhere(write, tmp_path):
    kept = corpus_cache(tmp_path)
    write("loop.py", "", "\nMORE = 1\n")
    assert corpus_cache(tmp_path) == kept
    write("corpus.py", '"[BOS]")', '"[BOS]", "[MASK]")')
    assert corpus_cache(tmp_path) != kept


def test_a_fingerprint_covers_ranges_declaration_and_provenance(ranges):
    provenance = dict.fromkeys(PROVENANCE, "one")
    weak = FaultDeclaration(name="loss_graph_retained", parameters={"every": 5}, onset="mid_run")
    strong = weak.model_copy(update={"parameters": {"every": 1}})
    wider = ranges.model_copy(update={"width": (64,)})
    mark = module.fingerprint
    found = [
        *(mark(ranges, "adamw", fault, provenance) for fault in (None, weak, strong)),
        mark(wider, "adamw", None, provenance),
        *(mark(ranges, "adamw", None, provenance | {name: "two"}) for name in PROVENANCE),
    ]
    assert len(set(found)) == len(found)
    assert mark(ranges, "adamw", weak, provenance | {"seed": 1}) == found[1]


def test_what_reads_logs_is_no_part_of_what_measures(monkeypatch):
    before = monitor_code()
    for name, changes in (("diagnosis.py", False), ("losses.py", True)):
        monitor_code.cache_clear()
        monkeypatch.setattr(signals, "READS", (*signals.READS, name))
        assert (monitor_code() != before) == changes
    monitor_code.cache_clear()
