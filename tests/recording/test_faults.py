"""Every fault, in a small real run beside one twin.

Each takes seconds: by default one of each category and ending is run, all others with ``system``.
"""

from pathlib import Path

import pytest
from listed_training import train_and_list_imports

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration, read_scenarios
from failbench.base.telemetry import NOISY_STEP_COLUMNS
from failbench.recording.faults.registry import find_fault
from failbench.recording.order import RunOrder
from failbench.recording.sandbox import execute, fork_server

SCENARIOS = read_scenarios(Path("data/scenarios"))
MEBIBYTE = 2**20
ENDINGS = {"crash": "exception", "killed": "signal", "hung": "timeout"}


class Bench:
    """Runs small orders, all of one configuration, so that one twin serves them all."""

    def __init__(self, nominal, seeds, corpus_cache):
        self.nominal, self.seeds, self.corpus_cache = nominal, seeds, corpus_cache
        self.context = fork_server()
        self.twin = self.run(None, None)
        peak = max(row["memory_bytes"] for row in self.twin.steps)
        self.capacity = int(peak * nominal.capacity_multiple)

    def run(self, declaration, capacity):
        onset = None
        if declaration is not None:
            onset = self.nominal.onset_step if declaration.onset == "mid_run" else 0
        order = RunOrder(
            run_id="test",
            architecture="transformer",
            optimizer="adamw",
            scale="small",
            device="cpu",
            nominal=self.nominal,
            seeds=self.seeds,
            declaration=declaration,
            onset_step=onset,
            capacity_bytes=capacity,
            corpus_cache=str(self.corpus_cache),
        )
        return execute(
            self.context,
            order,
            hang_seconds=4,
            wall_limit_seconds=60,
            target=train_and_list_imports,
        )


@pytest.fixture(scope="module")
def bench(nominal, seeds, corpus_cache):
    return Bench(nominal, seeds, corpus_cache)


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
        yield pytest.param(
            scenario, id=scenario.id, marks=pytest.mark.system if kind in kinds else ()
        )
        kinds.add(kind)


@pytest.mark.parametrize("scenario", [*marked(SCENARIOS)])
def test_fault_ends_as_declared_and_equals_its_twin_before_onset(scenario, bench):
    report = bench.run(scenario.fault, bench.capacity)

    onset = bench.nominal.onset_step if scenario.fault.onset == "mid_run" else 0
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
        slow = sum(row["step_seconds"] for row in after) > 1.2 * sum(
            row["step_seconds"] for row in healthy
        )
        assert slow or deterministic(after) != deterministic(healthy)


def test_rows_for_added_tokens_let_the_run_complete_with_them(bench):
    (tokens,) = (one for one in SCENARIOS if one.id == "added_tokens")
    remedy = tokens.fault.model_copy(update={"name": "added_tokens_with_rows"})
    report = bench.run(remedy, bench.capacity)
    vocabulary = report.configuration["tokenizer_vocabulary"]
    added = [row["step"] for row in report.steps if row["max_token_id"] >= vocabulary]
    assert report.ending == "completed"
    assert report.configuration["model_vocabulary"] == vocabulary + 16
    assert min(added) >= bench.nominal.onset_step


def test_twin_is_the_same_when_recorded_again(bench):
    again = bench.run(None, None)
    assert deterministic(again.steps) == deterministic(bench.twin.steps)


def test_declared_but_never_switched_on_fault_changes_nothing(bench):
    order_capacity = 64 * bench.capacity
    limited = bench.run(None, order_capacity)
    assert deterministic(limited.steps) == deterministic(bench.twin.steps)


def test_unknown_fault_is_refused_by_name():
    with pytest.raises(
        BadInputError, match=r"place.json: fault\.name: there is no fault 'gremlin'"
    ):
        find_fault(FaultDeclaration(name="gremlin", onset="mid_run"), "place.json")


def test_fault_with_a_foreign_parameter_is_refused():
    declaration = FaultDeclaration(
        name="batch_too_large", parameters={"factor": 2, "colour": "red"}, onset="start_crash"
    )
    with pytest.raises(BadInputError, match=r"fault\.parameters.*colour"):
        find_fault(declaration, "place.json")
