"""What a language model is shown of the monitor's record, and what it is not."""

import json
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.llm.prompt import prompts_of
from failbench.methods.llm.record import RAISED, monitor_records
from failbench.monitor.clock import Clock
from failbench.monitor.end import End
from failbench.monitor.records.verdicts import break_table, ends_of
from made_up_llm import settings
from made_up_monitored import COMPLETED, history, monitored, rules
from made_up_telemetry import ONSET, STEPS, made_up_telemetry

RUN = "model_software_1-adamw-s0"
CRASH = End("exception", "forward", STEPS - 1, "torch.Error", "shapes")
TELEMETRY = made_up_telemetry(successes=1)
OFF = {"ranks_disagree": "there is one process", "probe_causality": "it raised ValueError"}


def table_of(end=CRASH, off=OFF, **changes):
    changes = changes or {"gradients_nonfinite": {12: 3.0}, "labels_outside": {10: 1.0}}
    key = {"run_id": RUN, "scenario": "model_software_1", "onset_step": ONSET}
    table = monitored([(key, history(end, STEPS, **changes))])
    return replace(table, runs=table.runs.with_columns(off=pl.lit(json.dumps(off))))


def records(table=None, used=None, breaks=None, **values):
    table = table_of() if table is None else table
    used = rules() if used is None else used
    breaks = break_table(table, used) if breaks is None else breaks
    ends = ends_of(table.runs, TELEMETRY.runs)
    return monitor_records(table.runs, breaks, ends, used, settings(**values))


def prompt(of_monitor):
    return prompts_of(TELEMETRY, [RUN], settings(), of_monitor)[RUN]


def monitor_part(user):
    return user.split("## Monitor: ", 1)[1].split("\nEND RECORD")[0]


SHOWN = """\
how the run ended
end_kind: exception
end_phase: forward
end_error: torch.Error

## Monitor: what broke of what must hold in healthy training, each the first time
step,signal,value,what must hold
10,labels_outside,1,Every label is ignored or one of the classes.
12,gradients_nonfinite,3,Gradients are finite.

## Monitor: signals that were not measured
probe_causality, ranks_disagree"""


def test_it_says_how_the_run_ended_what_broke_in_order_of_steps_and_what_was_off():
    assert monitor_part(prompt(records()).user).rstrip("\n") == SHOWN


def test_no_component_scenario_onset_twin_seed_or_name_of_an_invariant_is_shown():
    part = monitor_part(prompt(records()).user)
    for hidden in (*CATEGORIES, "labels_are_classes", "adamw", "onset", "twin", "seed", "symptom"):
        assert hidden not in part
    # whose invariant it is, and how sure a break is to mean something, changes no letter
    others = tuple(
        replace(each, component=CATEGORIES[place % 5], kind="logic")
        for place, each in enumerate(rules().invariants)
    )
    table = table_of()
    breaks = break_table(table, rules())
    relabelled = replace(rules(), invariants=others)
    assert records(table, relabelled, breaks) == records(table)


def test_nothing_that_only_the_benchmark_knows_of_the_run_is_read():
    table = table_of()
    changed = {"scenario": "another", "kind": "from_start", "seed": 7, "onset_step": 3}
    runs = table.runs.with_columns(**{name: pl.lit(value) for name, value in changed.items()})
    assert records(replace(table, runs=runs)) == records(table)


def test_what_came_after_the_failure_is_not_shown():
    """The detector sees the made-up runs fail in their last step of 20; these logs go on."""
    before = {"labels_outside": {10: 1.0}}
    key = {"run_id": RUN}
    failed_there = End("completed", "callback", 39)
    tables = [
        monitored([(key, history(failed_there, steps=40, **before, **later))])
        for later in ({}, {"gradients_nonfinite": {STEPS: 1.0}})
    ]
    assert records(tables[0]) == records(tables[1])
    (record,) = records(tables[0]).values()
    assert [each.step for each in record.breaks] == ["10"]
    at_failure = monitored([(key, history(failed_there, 40, gradients_nonfinite={STEPS - 1: 1}))])
    assert len(records(at_failure)[RUN].breaks) == 1


def test_of_a_run_that_lived_on_the_end_is_not_known_nor_what_an_error_turned_off():
    (record,) = records(table_of(end=replace(COMPLETED, step=59))).values()
    assert record.end == {"end_kind": "none: the run had not ended at its failure"}
    assert record.off == ("ranks_disagree",)


@pytest.mark.parametrize(
    "fault",
    [lambda guard: guard.fail("loss", ValueError()), lambda guard: guard.stop(ValueError())],
)
def test_an_error_turns_a_signal_off_with_a_reason_that_is_known_as_one(fault):
    guard = pytest.importorskip("failbench.monitor.guard", reason="needs the extra `record`")
    reasons: list[str] = []
    writer = SimpleNamespace(off=lambda _, reason: reasons.append(reason))
    with pytest.warns(RuntimeWarning, match="Training goes on"):
        fault(guard.Guard(writer, Clock(), "full"))
    assert reasons
    assert all(reason.startswith(RAISED) for reason in reasons)


@pytest.mark.parametrize("missing", ["memory_hardware_0-adamw-s0", "unknown_3-adamw-s0"])
def test_a_run_that_was_not_monitored_is_named_with_the_remedy(missing):
    with pytest.raises(BadInputError) as raised:
        prompts_of(TELEMETRY, [RUN, missing], settings(), records())
    assert str(raised.value) == (
        f"monitored runs: {missing}: was not monitored, or not judged since. Record it with "
        "`failbench record --signals full --architecture transformer --optimizer adamw`, then run "
        "`dvc repro --single-item invariants`."
    )
