import json
import shutil
from pathlib import Path

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.cli.main import main

SCENARIO = Path("scenarios/data_pipeline/byte_order_swapped.json")
OPTIONS = ["--scenarios", "scenarios", "--faults", "faults.py", "--params", "params.yaml"]
COMMANDS = {"record": ["--output", "out"], "check": ["--telemetry", "out"]}
MARKED = """\
from failbench.recording.faults.registry import fault


@fault("at_onset")
def {name}(run):
    raise RuntimeError
"""

REPLACING = """\
from failbench.recording.faults import registry

registry.fault("at_onset")(type("batch_too_large", (), {}))
"""
"""What registers a fault without marking a function."""


@pytest.fixture
def elsewhere(tmp_path, repository, monkeypatch):
    """The example of an added cause, copied to a folder that is the working directory."""
    copy = shutil.copytree(repository / "examples/outside_cause", tmp_path / "elsewhere")
    monkeypatch.chdir(copy)
    return copy


def change_fault(**values):
    """Change the declared fault of the scenario."""
    content = json.loads(SCENARIO.read_text(encoding="utf-8"))
    content["fault"] |= values
    if values.get("onset") == "start_crash":
        content["expected_outcome"] = "crash"
    SCENARIO.write_text(json.dumps(content), encoding="utf-8")


def write_faults(*names):
    write_code("\n\n".join(MARKED.format(name=name) for name in names))


def files():
    """All that is here, but for what Python keeps of a module that it compiled."""
    return sorted(path for path in Path().rglob("*") if "__pycache__" not in path.parts)


def refusal(options, capsys):
    """The line with which a command ends that is refused and has written nothing."""
    before = files()
    assert main(options) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert files() == before
    return captured.err


def write_code(text):
    Path("faults.py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda: shutil.rmtree("scenarios"),
         "scenarios: (folder): contains no scenario files. Name a folder of files"),
        (lambda: write_code("def ("), "faults.py: (file): is no Python module ("),
        (lambda: write_faults("byte_order_swapped", "byte_order_swapped"),
         "faults.py, line 13: @fault: the fault 'byte_order_swapped' is registered twice."),
        (lambda: write_faults("byte_order_swapped", "batch_too_large"),
         "faults.py: @fault: 'batch_too_large' is the name of a fault of the package."),
        (lambda: write_faults("another_fault"),
         f"{SCENARIO}: fault.name: there is no fault 'byte_order_swapped'. Use the name of"),
        (lambda: change_fault(parameters={"shore": 0.5}, onset="start_crash"),
         f"{SCENARIO}: fault.parameters: do not fit the fault 'byte_order_swapped': "),
        (lambda: change_fault(parameters={}, onset="start_crash"),
         f"{SCENARIO}: fault.parameters: do not fit the fault 'byte_order_swapped': missing"),
        (lambda: change_fault(parameters={"share": "half"}, onset="start_crash"),
         f"{SCENARIO}: fault.parameters.share: is 'half', and the fault 'byte_order_swapped' t"),
        (lambda: change_fault(name="batch_too_large", parameters={"factor": 2.5}),
         f"{SCENARIO}: fault.parameters.factor: is 2.5, and the fault 'batch_too_large' takes"),
    ],
)  # fmt: skip
def test_what_cannot_be_injected_is_refused_with_the_file_and_the_field(
    elsewhere, capsys, command, change, complaint
):
    change()
    said = refusal([command, *OPTIONS, *COMMANDS[command]], capsys)
    assert said.removeprefix(f"{elsewhere}/").startswith(complaint)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_id_of_a_scenario_of_the_benchmark_is_refused(elsewhere, repository, capsys, command):
    SCENARIO.unlink()
    taken = SCENARIO.with_name("added_tokens.json")
    shutil.copy(repository / "data" / taken, taken)
    said = refusal([command, *OPTIONS, *COMMANDS[command]], capsys)
    assert said.startswith(f"{taken}: id: 'added_tokens' is the id of a scenario of the benchmark.")


NO_MODULE = "is no module that can be imported."


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        *(
            (["check", *OPTIONS, "--faults", name], f"{name}: --faults: {NO_MODULE}")
            for name in ("gremlin", "failbench.gremlin", "gremlin.of.gremlins", "sys")
        ),
        (
            ["check", *OPTIONS[:2], "--faults", "statistics.py"],
            "statistics.py: --faults: another module is called statistics",
        ),
        (
            ["record", *OPTIONS],
            "command line: --output: is needed for other causes. Name another folder",
        ),
        (
            ["record", *OPTIONS, "--output", "data/telemetry"],
            "data/telemetry: --output: is for the runs of the bench",
        ),
    ],
)
def test_options_that_fit_no_other_causes_are_refused(elsewhere, capsys, options, complaint):
    shutil.copy("faults.py", "statistics.py")
    assert refusal(options, capsys).startswith(complaint)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import gremlin\n", "cannot be imported (ModuleNotFoundError: No module named 'gremlin')"),
        (REPLACING, "registers the fault 'batch_too_large', which another module has."),
    ],
)
def test_a_module_that_does_not_import_or_replaces_a_fault_is_refused(
    elsewhere, monkeypatch, capsys, source, complaint
):
    pytest.importorskip("torch", reason="recording needs the extra `record`")
    from failbench.recording.faults import registry

    registry.find_fault(FaultDeclaration(name="backward_twice", onset="mid_run"), "all imported")
    registered = dict(registry._FAULTS)
    monkeypatch.setattr(registry, "_FAULTS", registered)
    before = registered["batch_too_large"]
    write_code(source + Path("faults.py").read_text(encoding="utf-8").partition("annotations\n")[2])
    assert complaint in refusal(["record", *OPTIONS, "--output", "out"], capsys)
    assert registered["batch_too_large"] is before
