"""Every fault, in a small real run beside one twin."""

from dataclasses import replace
from pathlib import Path

import pytest
from listed_training import train_and_list_imports

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration, read_scenarios
from failbench.base.telemetry import NOISY_STEP_COLUMNS
from failbench.recording.faults.registry import find_fault
from failbench.recording.sandbox import execute, fork_server

SCENARIOS = read_scenarios(Path("data/scenarios"))
ENDINGS = {"crash": "exception", "killed": "signal", "hung": "timeout"}


class Bench:
    """Runs small orders, all of one configuration, so that one twin serves them all."""

    def __init__(self, order):
        self.order = replace(order, architecture="transformer")
        self.context = fork_server()
        self.twin = self.run(None, None)
        peak = max(row["memory_bytes"] for row in self.twin.steps)
        self.capacity = int(peak * order.nominal.capacity_multiple)

    def onset(self, fault):
        return self.order.nominal.onset_step if fault.onset == "mid_run" else 0

    def run(self, fault, capacity):
        onset = None if fault is None else self.onset(fault)
        order = replace(self.order, declaration=fault, onset_step=onset, capacity_bytes=capacity)
        return execute(self.context, order, 4, 60, train_and_list_imports)


@pytest.fixture(scope="module")
def bench(order):
    return Bench(order)


def deterministic(rows):
    return [
        {name: repr(value) for name, value in row.items() if name not in NOISY_STEP_COLUMNS}
        for row in rows
    ]


def marked(scenarios):
    """All scenarios; those whose category has one with their ending before them are ``system``."""
    kinds = set()
    for scenario in scenarios:
        kind = (scenario.category, scenario.expected_outcome)
        marks = pytest.mark.system if kind in kinds else ()
        yield pytest.param(scenario, id=scenario.id, marks=marks)
        kinds.add(kind)


@pytest.mark.parametrize("scenario", [*marked(SCENARIOS)])
def test_a_fault_ends_as_declared_and_equals_its_twin_before_onset(scenario, bench):
    report, onset = bench.run(scenario.fault, bench.capacity), bench.onset(scenario.fault)
    assert len(report.steps) >= onset
    assert deterministic(report.steps[:onset]) == deterministic(bench.twin.steps[:onset])
    assert report.ending == ENDINGS.get(scenario.expected_outcome, "completed")
    if report.ending in ("completed", "exception"):
        # What a run imports it may have to compile, which shows in its memory.
        assert report.configuration["imported"] == []
    if scenario.expected_outcome == "crash":
        assert report.error["error_type"]
        assert "/site-packages" not in report.error["error_traceback"]
    if report.ending == "completed":
        after, healthy = report.steps[onset:], bench.twin.steps[onset:]
        took, takes = (sum(row["step_seconds"] for row in part) for part in (after, healthy))
        assert took > 1.2 * takes or deterministic(after) != deterministic(healthy)


def test_rows_for_added_tokens_let_the_run_complete_with_them(bench):
    (tokens,) = (one for one in SCENARIOS if one.id == "added_tokens")
    remedy = tokens.fault.model_copy(update={"name": "added_tokens_with_rows"})
    report = bench.run(remedy, bench.capacity)
    vocabulary = report.configuration["tokenizer_vocabulary"]
    added = [row["step"] for row in report.steps if row["max_token_id"] >= vocabulary]
    assert report.ending == "completed"
    assert report.configuration["model_vocabulary"] == vocabulary + 16
    assert min(added) >= bench.order.nominal.onset_step


@pytest.mark.parametrize("times", [None, 64], ids=["again", "with a limit never reached"])
def test_a_twin_is_the_same_when_recorded_again(bench, times):
    again = bench.run(None, times and times * bench.capacity)
    assert deterministic(again.steps) == deterministic(bench.twin.steps)


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("gremlin", {}, r"place.json: fault\.name: there is no fault 'gremlin'"),
        ("batch_too_large", {"factor": 2, "colour": "red"}, r"fault\.parameters.*colour"),
    ],
)
def test_a_fault_that_is_not_known_so_is_refused(name, parameters, complaint):
    declared = FaultDeclaration(name=name, parameters=parameters, onset="mid_run")
    with pytest.raises(BadInputError, match=complaint):
        find_fault(declared, "place.json")
