"""From journal entries to the tables of runs and steps."""

from __future__ import annotations

import pytest

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.recording.journal import JournalEntry, tables_of

PARAMS = DetectorParams(
    deviations=3,
    consecutive_steps=20,
    head_steps=10,
    tail_steps=5,
    validations=1,
    slow_factor=2.0,
    worse_nats=0.05,
)


def entries(runs: int = 10, **values: object) -> list[JournalEntry]:
    """Healthy successes, the first with other values."""
    steps = [
        {"step": step, "loss": 3.0, "step_seconds": 0.1, "validation_loss": 3.0}
        for step in range(20)
    ]
    return [
        JournalEntry(
            {"run_id": f"run_{run}", "kind": "success", "ending": "completed", "steps": 20}
            | (values if run == 0 else {}),
            steps,
        )
        for run in range(runs)
    ]


def test_a_run_has_its_verdict_and_null_for_what_it_never_logged() -> None:
    runs = tables_of(entries(width=8), PARAMS).runs
    assert runs["outcome"].to_list() == ["completed"] * 10
    assert runs["width"].to_list() == [8] + [None] * 9


def test_a_column_that_steps_have_not_is_refused() -> None:
    (first, *others) = entries()
    misspelt = JournalEntry(first.run, [*first.steps, {"step": 20, "lozz": 1.0}])
    with pytest.raises(BadInputError, match="lozz: is no column"):
        tables_of([misspelt, *others], PARAMS)
