"""Faults of other modules: fingerprinted by their own code, and injected in the child."""

import inspect
from dataclasses import replace

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording.fault_modules import OutsideFaults, import_faults, read_outside_faults
from failbench.recording.fault_modules import package_signatures as signatures
from failbench.recording.faults import registry
from failbench.recording.fingerprint import PROVENANCE, fault_code, fingerprint
from failbench.recording.paths import package_relative
from failbench.recording.sandbox import execute, fork_server

SOURCE = '''
from failbench.recording.faults.registry import fault

HIGH = 2


def unrelated():
    return HIGH


@fault("at_onset")
def rate_raised(run, *, by: float):
    """Raise the learning rate."""
    run.settings.learning_rate *= by


@fault("at_onset")
def stopped(run):
    raise RuntimeError(unrelated())
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "added" / "causes_of_a_test.py"
    path.parent.mkdir()
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_what_acts_within_the_module_counts_for_the_fault_that_uses_it_alone(module):
    before = read_outside_faults([str(module)]).codes
    module.write_text(SOURCE.replace("HIGH = 2", "HIGH = 5"), encoding="utf-8")
    after = read_outside_faults([str(module)]).codes
    assert {name for name in before if before[name] != after[name]} == {"stopped"}


def test_no_recording_of_the_package_becomes_out_of_date(module, ranges):
    names = sorted(signatures())
    before = {name: fault_code(name) for name in names}
    faults = read_outside_faults([str(module)])
    import_faults(faults.modules)
    fault_code.cache_clear()
    assert {name: fault_code(name) for name in names} == before
    assert not set(faults.codes) & set(names)
    for declaration in (None, FaultDeclaration(name="backward_twice", onset="mid_run")):
        given = ranges, "adamw", declaration, dict.fromkeys(PROVENANCE, "one")
        assert fingerprint(*given) == fingerprint(*given, outside=faults.codes)


def test_signatures_read_from_source_are_those_of_the_registered_functions():
    def parameters(signature):
        found = signature.parameters.values()
        return [(one.name, one.kind, one.annotation, one.default is one.empty) for one in found]

    import_faults(())
    known = {name: each.install for name, each in registry._FAULTS.items()}
    own = {name for name in known if known[name].__module__.startswith("failbench.")}
    assert set(signatures()) == own
    for name, signature in signatures().items():
        assert parameters(inspect.signature(known[name])) == parameters(signature)


def test_paths_in_error_text_begin_in_the_folder_of_the_module(module):
    text = '  File "{}", line 3, in stopped\n  File "torch/nn.py", line 1'
    relative = read_outside_faults([str(module)]).relative(text.format(module))
    assert relative == text.format("causes_of_a_test.py")


def test_machine_paths_become_package_relative():
    for text, relative in {
        "/opt/env/lib/python3.11/site-packages/torch/nn/linear.py": "torch/nn/linear.py",
        "/usr/lib/python3.11/json/decoder.py": "python3.11/json/decoder.py",
        "/opt/project/src/failbench/recording/loop.py": "failbench/recording/loop.py",
        "'/mnt/disk/failbench-run-x1_y/shard.npy'": "'scratch/shard.npy'",
        "from /a/site-packages/b.py to /c/site-packages/d.py": "from b.py to d.py",
    }.items():
        assert package_relative(f'File "{text}", line 1') == f'File "{relative}", line 1'


def test_the_child_injects_the_fault_and_nothing_else(module, nominal, order):
    healthy = replace(order, nominal=replace(nominal, planned_steps=8, onset_step=4))
    declared = FaultDeclaration(name="stopped", onset="mid_run")
    failing = replace(healthy, declaration=declared, onset_step=4, capacity_bytes=2**30)
    faults = read_outside_faults([str(module)])
    context = fork_server(faults.preloaded)

    def losses(training):
        return [row["loss"] for row in execute(context, healthy, 20.0, 60.0, training).steps]

    report = execute(context, failing, 20.0, 60.0, faults.training)
    assert (report.ending, report.error["error_message"]) == ("exception", "2")
    assert f'File "{module}"' in report.error["error_traceback"]
    whole = losses(faults.training)
    assert [row["loss"] for row in report.steps] == [*whole[:4], None]
    assert whole == losses(OutsideFaults().training)
