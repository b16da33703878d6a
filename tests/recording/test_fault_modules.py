"""Faults of other modules: fingerprinted by their own code, and injected in the child."""

import inspect
from dataclasses import replace

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording.fault_modules import (
    OutsideFaults,
    import_faults,
    package_signatures,
    read_outside_faults,
)
from failbench.recording.faults import registry
from failbench.recording.fingerprint import PROVENANCE, fault_code, fingerprint
from failbench.recording.order import RunOrder
from failbench.recording.sandbox import execute, fork_server

EMPTY = inspect.Parameter.empty
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
    provenance = dict.fromkeys(PROVENANCE, "one")
    names = sorted(package_signatures())
    before = {name: fault_code(name) for name in names}
    faults = read_outside_faults([str(module)])
    import_faults(faults.modules)
    fault_code.cache_clear()
    assert {name: fault_code(name) for name in names} == before
    assert not set(faults.codes) & set(names)
    declared = FaultDeclaration(name="backward_twice", onset="mid_run")
    for declaration in (None, declared):
        alone = fingerprint(ranges, "adamw", declaration, provenance)
        assert alone == fingerprint(ranges, "adamw", declaration, provenance, outside=faults.codes)


def test_signatures_read_from_source_are_those_of_the_registered_functions():
    import_faults(())
    read = package_signatures()
    assert set(read) == {
        name
        for name, known in registry._FAULTS.items()
        if known.install.__module__.startswith("failbench.")
    }
    for name, signature in read.items():
        assert signature is not None
        assert [
            (parameter.name, parameter.kind, parameter.annotation, parameter.default is EMPTY)
            for parameter in inspect.signature(registry._FAULTS[name].install).parameters.values()
        ] == [
            (parameter.name, parameter.kind, parameter.annotation, parameter.default is EMPTY)
            for parameter in signature.parameters.values()
        ]


def test_paths_in_error_text_begin_in_the_folder_of_the_module(module):
    faults = read_outside_faults([str(module)])
    text = f'  File "{module}", line 3, in stopped\n  File "torch/nn.py", line 1'
    assert faults.relative(text) == (
        '  File "causes_of_a_test.py", line 3, in stopped\n  File "torch/nn.py", line 1'
    )


@pytest.fixture
def order(nominal, seeds, corpus_cache):
    return RunOrder(
        run_id="added",
        architecture="gru",
        optimizer="adamw",
        scale="small",
        device="cpu",
        nominal=replace(nominal, planned_steps=8, onset_step=4),
        seeds=seeds,
        declaration=FaultDeclaration(name="stopped", onset="mid_run"),
        onset_step=4,
        capacity_bytes=2**30,
        corpus_cache=str(corpus_cache),
    )


def test_the_child_injects_the_fault_and_a_healthy_run_is_as_without_the_module(module, order):
    faults = read_outside_faults([str(module)])
    context = fork_server(faults.preloaded)
    report = execute(context, order, 20.0, 60.0, faults.training)
    assert (report.ending, report.error["error_message"]) == ("exception", "2")
    assert f'File "{module}"' in report.error["error_traceback"]
    assert [row["loss"] is None for row in report.steps] == [False] * 4 + [True]

    healthy = replace(order, declaration=None, onset_step=None, capacity_bytes=None)
    losses = [
        [row["loss"] for row in execute(context, healthy, 20.0, 60.0, each).steps]
        for each in (faults.training, OutsideFaults().training)
    ]
    assert losses[0] == losses[1]
    assert losses[0][:4] == [row["loss"] for row in report.steps[:4]]
