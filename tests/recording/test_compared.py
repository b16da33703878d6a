"""A run that was recorded again is equal, or differs in a column and a step that are named."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from failbench.recording.carrying import MOST_STEPS_APART, Comparison, compare
from failbench.recording.journal import JournalEntry

LENGTH = 30
ALLOCATOR = "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes."
OUT_OF_MEMORY = {
    "ending": "exception",
    "error_type": "RuntimeError",
    "error_message": ALLOCATOR.format(4096),
    "error_traceback": 'File "loop.py", line 7, in backward',
}
KILLED = {"ending": "signal", "exit_signal": "SIGKILL"}
HUNG = {"ending": "timeout", "exit_signal": "SIGKILL"}
BAD_INDEX = {
    "ending": "exception",
    "error_type": "IndexError",
    "error_message": "index out of range in self",
    "error_traceback": 'File "loop.py", line 7, in forward',
}


def recorded(length: int = LENGTH, **run: Any) -> JournalEntry:
    """A recording with a loss that becomes NaN, and nothing that varies but time and memory."""
    steps = [
        {
            "step": step,
            "loss": math.nan if step >= 20 else 6.0 - 0.1 * step,
            "learning_rate": 0.001,
            "clip_norm": None,
            "memory_bytes": 1000 + length + step,
            "step_seconds": 0.01 * length,
            "validation_loss": 5.0 if step % 10 == 0 else None,
        }
        for step in range(length)
    ]
    row = {"run_id": "a", "ending": "completed", "steps": length, "wall_seconds": 1.0 * length}
    return JournalEntry({**row, "parameters": 1234, **run}, steps)


def changed(entry: JournalEntry, step: int, **values: object) -> JournalEntry:
    steps = [dict(row) for row in entry.steps]
    steps[step].update(values)
    return replace(entry, steps=steps)


def test_equal_runs_are_equal_in_all_their_steps_whatever_they_measured_of_the_machine():
    again = changed(recorded(wall_seconds=99.0), 3, step_seconds=7.0, memory_bytes=1)
    again.run.update(capacity_bytes=5, fingerprint="new", outcome=None)
    assert compare(recorded(outcome="diverged"), again) == Comparison(LENGTH, 0, None, None, None)


def test_values_are_equal_as_the_tables_keep_them():
    """What is stored went through single precision, and what is recorded again did not."""
    stored = changed(recorded(), 3, loss=float.fromhex("0x1.99999ap-4"))
    assert compare(stored, changed(recorded(), 3, loss=0.1)).difference is None


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"loss": 5.7000003}, "loss"),
        ({"loss": None}, "loss"),
        ({"loss": math.nan}, "loss"),
        ({"validation_loss": 5.0, "max_length": 3}, "max_length"),
        ({"clip_norm": 1.0, "learning_rate": 0.002}, "learning_rate"),
    ],
)
def test_the_first_column_of_the_first_step_that_differs_is_named(values, column):
    again = changed(changed(recorded(), 9, loss=-1.0), 3, **values)
    assert compare(recorded(), again).difference.startswith(f"{column} at step 3 was ")


def test_nan_is_equal_to_nan_and_to_nothing_else():
    assert compare(recorded(), recorded()).difference is None
    difference = compare(recorded(), changed(recorded(), 25, loss=None)).difference
    assert difference == "loss at step 25 was nan and is now None"


@pytest.mark.parametrize("column", ["error_type", "error_message"])
def test_another_error_is_a_difference_and_another_line_of_its_traceback_is_not(column):
    stored = recorded(**BAD_INDEX)
    moved = recorded(**BAD_INDEX | {"error_traceback": 'File "loop.py", line 9, in forward'})
    assert compare(stored, moved) == Comparison(LENGTH, 0, True, True, None)
    elsewhere = recorded(**BAD_INDEX | {"error_traceback": 'File "step.py", line 7, in forward'})
    assert compare(stored, elsewhere) == Comparison(LENGTH, 0, True, False, None)
    difference = compare(stored, recorded(**BAD_INDEX | {column: "other"})).difference
    assert difference == f"{column} was {BAD_INDEX[column]!r} and is now 'other'"


@pytest.mark.parametrize("end", [OUT_OF_MEMORY, KILLED, HUNG])
@pytest.mark.parametrize("apart", [-MOST_STEPS_APART, -1, 0, 1, MOST_STEPS_APART])
def test_a_run_that_memory_or_a_clock_ends_may_be_of_another_length(end, apart):
    stored, again = recorded(**end), recorded(LENGTH + apart, **end)
    last = min(len(stored.steps), len(again.steps)) - 1
    again = changed(again, last, loss=None)  # the last step of the shorter is not compared
    comparison = compare(stored, again)
    assert comparison.difference is None
    assert (comparison.steps_compared, comparison.length_difference) == (last, apart)
    difference = compare(stored, changed(again, last - 1, loss=0.5)).difference
    assert difference.startswith(f"loss at step {last - 1} was ")


@pytest.mark.parametrize("apart", [-1 - MOST_STEPS_APART, 1 + MOST_STEPS_APART])
def test_but_not_of_a_length_that_memory_does_not_explain(apart):
    again = recorded(LENGTH + apart, **OUT_OF_MEMORY)
    difference = compare(recorded(**OUT_OF_MEMORY), again).difference
    assert difference == f"steps was {LENGTH} and is now {LENGTH + apart}"


@pytest.mark.parametrize("end", [{}, BAD_INDEX, {"ending": "signal", "exit_signal": "SIGSEGV"}])
def test_no_other_run_may_be_of_another_length(end):
    difference = compare(recorded(**end), recorded(LENGTH + 1, **end)).difference
    assert difference == f"steps was {LENGTH} and is now {LENGTH + 1}"


def test_the_allocation_that_fails_first_may_be_another_and_is_reported():
    other = OUT_OF_MEMORY | {"error_message": ALLOCATOR.format(8192)}
    assert compare(recorded(**OUT_OF_MEMORY), recorded(**other)) == Comparison(
        LENGTH - 1, 0, False, True, None
    )
    difference = compare(recorded(**OUT_OF_MEMORY), recorded(**BAD_INDEX)).difference
    assert difference.startswith("error_type was ")
    mismatch = OUT_OF_MEMORY | {"error_message": "mat1 and mat2 shapes cannot be multiplied"}
    difference = compare(recorded(**OUT_OF_MEMORY), recorded(**mismatch)).difference
    assert difference.startswith("error_message was ")
