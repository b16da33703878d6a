"""Whether a run that was recorded again is the run that was recorded before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from failbench.base.telemetry import NOISY_STEP_COLUMNS, RUN_SCHEMA, STEP_SCHEMA
from failbench.recording.journal import JournalEntry
from failbench.recording.verdicts import steps_of

MOST_STEPS_APART = 5
"""Steps by which two recordings of a run may differ in length where memory or a clock ends it."""

_OTHER_RUN_COLUMNS = frozenset(
    {
        *("capacity_bytes", "wall_seconds"),  # measure the machine
        *("outcome", "failure_step"),  # follow from the steps
        *("steps", "error_message", "error_traceback"),  # have rules of their own
        "fingerprint",  # is what may change
    }
)
RUN_COLUMNS = tuple(name for name in RUN_SCHEMA if name not in _OTHER_RUN_COLUMNS)
"""Columns of a run as a whole that must be equal; its ending and the type of its error are two."""
STEP_COLUMNS = tuple(
    name for name in STEP_SCHEMA if name not in NOISY_STEP_COLUMNS and name != "run_id"
)
"""Columns of a step that must be equal: all that do not measure the machine."""

_OUT_OF_MEMORY = re.compile(
    r"out of memory|OutOfMemoryError|MemoryError|can(?:'t|not) allocate memory|Unable to allocate|"
    r"bad_alloc|could not create a primitive",
    re.IGNORECASE,
)
"""How PyTorch, its kernels, Python and the system word it that memory is not to be had."""
_LINE_NUMBER = re.compile(r", line \d+")


@dataclass(frozen=True)
class Difference:
    """The first value in which two recordings of a run differ."""

    column: str
    step: int | None
    stored: object
    again: object

    def __str__(self) -> str:
        """The difference in words."""
        place = self.column if self.step is None else f"{self.column} at step {self.step}"
        return f"{place} was {self.stored!r} and is now {self.again!r}"


@dataclass(frozen=True)
class Comparison:
    """What a comparison of two recordings of a run covered, and what it came to."""

    steps_compared: int
    length_difference: int
    same_message: bool | None
    same_traceback: bool | None
    difference: Difference | None


def compare(stored: JournalEntry, again: JournalEntry) -> Comparison:
    """Hold a run that was recorded again against the one that is stored.

    All columns that do not measure the machine must be equal, nulls and NaN to their like. Where
    memory or a clock ends both, which step is the last depends on readings of the machine: all
    steps before the last of the shorter one must then be equal, the lengths may differ by
    :data:`MOST_STEPS_APART`, and the message may name another allocation that was refused.
    """
    lengths = len(stored.steps), len(again.steps)
    apart = lengths[1] - lengths[0]
    ended_by_machine = _ended_by_machine(stored.run) and _ended_by_machine(again.run)
    compared = max(0, min(lengths) - 1) if ended_by_machine else min(lengths)
    messages = [entry.run.get("error_message") for entry in (stored, again)]
    same_message = _same_text(*messages)
    difference = _first_difference(_run(stored), _run(again), RUN_COLUMNS)
    if difference is None and same_message is False and not ended_by_machine:
        difference = Difference("error_message", None, *messages)
    if difference is None:
        first, second = (steps_of(entry).head(compared) for entry in (stored, again))
        difference = _first_difference(first, second, STEP_COLUMNS)
    if difference is None and abs(apart) > (MOST_STEPS_APART if ended_by_machine else 0):
        difference = Difference("steps", None, *lengths)
    return Comparison(
        compared,
        apart,
        same_message,
        _same_text(*map(_traceback, (stored, again))),
        difference,
    )


def _ended_by_machine(run: Mapping[str, Any]) -> bool:
    """Whether a run was killed, as one that hangs is, or got no more memory."""
    text = f"{run.get('error_type')}: {run.get('error_message')}"
    return run.get("exit_signal") == "SIGKILL" or _OUT_OF_MEMORY.search(text) is not None


def _run(entry: JournalEntry) -> pl.DataFrame:
    row = {name: entry.run.get(name) for name in RUN_SCHEMA}
    return pl.DataFrame([row], schema=RUN_SCHEMA)


def _traceback(entry: JournalEntry) -> str | None:
    text = entry.run.get("error_traceback")
    return None if text is None else _LINE_NUMBER.sub("", text)


def _same_text(stored: str | None, again: str | None) -> bool | None:
    return None if stored is None and again is None else stored == again


def _first_difference(
    stored: pl.DataFrame, again: pl.DataFrame, columns: Sequence[str]
) -> Difference | None:
    """The first row, and in it the first column, in which two tables of one length differ."""
    unequal = pl.DataFrame({name: stored[name].ne_missing(again[name]) for name in columns})
    rows = unequal.select(pl.any_horizontal(columns)).to_series().arg_true()
    if rows.is_empty():
        return None
    row = rows[0]
    column = next(name for name in columns if unequal[name][row])
    step = stored["step"][row] if "step" in stored.columns else None
    return Difference(column, step, stored[column][row], again[column][row])
