import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.features.observables import (
    RUN_COLUMNS,
    STEP_COLUMNS,
    observe,
    without_project_frames,
)
from made_up_telemetry import telemetry_of

TRACEBACK = """Traceback (most recent call last):
  File "failbench/recording/child.py", line 12, in run
    training.train_step()
  File "failbench/recording/faults/data.py", line 40, in ids_past_the_vocabulary
    return model(
        ids,
    )
    ^^^^^^
  [Previous line repeated 3 more times]
  File "torch/nn/functional.py", line 2546, in embedding
    return torch.embedding(weight, input)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
IndexError: index out of range in self
"""

NEVER_SEEN = {
    "run_id", "kind", "scenario", "category", "twin_of", "seed", "ending", "outcome", "onset_step",
    "failure_step", "steps", "exit_signal", "planned_steps", "distractor", "capacity_multiple",
    "fingerprint",
}  # fmt: skip


def telemetry(**steps_by_run: int) -> Telemetry:
    error = {"error_type": "IndexError", "error_message": "index out of range in self"}
    error |= {"error_traceback": TRACEBACK}
    runs = [
        error | {"run_id": run_id, "steps": count, "capacity_bytes": 100 + index}
        for index, (run_id, count) in enumerate(steps_by_run.items())
    ]
    steps = [
        {"run_id": run_id, "step": step, "loss": 5.0 - 0.1 * step}
        for run_id, count in steps_by_run.items()
        for step in range(count)
    ]
    return telemetry_of(runs, steps)


def at(**last_steps: int | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"run_id": list(last_steps), "last_step": list(last_steps.values())},
        schema={"run_id": pl.String, "last_step": pl.Int32},
    )


def test_observables_have_no_column_that_tells_the_cause_or_the_draw():
    seen = {*RUN_COLUMNS, *STEP_COLUMNS}
    assert not seen & NEVER_SEEN
    assert not [name for name in seen if name.startswith("nominal_")]


@given(kept=st.integers(-1, 5))
def test_a_snapshot_equals_the_end_of_a_run_that_was_physically_cut_there(kept: int):
    whole = telemetry(a=6, b=4)
    names = ("error_type", "error_message", "error_traceback")
    unknown = whole.runs.with_columns(pl.lit(None, pl.String).alias(name) for name in names)
    runs = unknown if kept < 5 else whole.runs
    cut = Telemetry(
        pl.concat([runs.filter(pl.col("run_id") == "a"), whole.runs[1:]]),
        whole.steps.filter((pl.col("run_id") == "b") | (pl.col("step") <= kept)),
    )
    snapshot, _ = observe(whole, at(a=kept, b=3))
    end, _ = observe(cut, at(a=kept, b=3))
    assert snapshot.runs.equals(end.runs)
    assert snapshot.steps.equals(end.steps)
    assert snapshot.steps.filter(pl.col("row") == 0).height == kept + 1


@pytest.mark.parametrize("last_step", [0, None])
def test_a_run_without_steps_is_kept_with_its_error_text(last_step: int | None):
    observables, _ = observe(telemetry(a=0, b=2), at(a=last_step, b=1))
    assert observables.runs["error_type"].to_list() == ["IndexError", "IndexError"]
    assert observables.steps["row"].to_list() == [1, 1]


def test_project_frames_go_and_library_frames_and_messages_stay_verbatim():
    lines = TRACEBACK.splitlines(keepends=True)
    cleaned = pl.Series([TRACEBACK]).to_frame("t").select(without_project_frames(pl.col("t")))
    assert cleaned["t"].to_list() == ["".join([lines[0], *lines[-4:]])]


def test_an_unknown_run_and_one_with_steps_but_no_last_are_refused():
    with pytest.raises(BadInputError, match="'nowhere' is not in the telemetry"):
        observe(telemetry(a=3), at(nowhere=1))
    with pytest.raises(BadInputError, match="'a' has steps but no last step"):
        observe(telemetry(a=3), at(a=None))
