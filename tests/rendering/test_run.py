import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, read_table
from failbench.neighbours.rendering import tracebacks
from failbench.neighbours.rendering.run import logged_run
from made_up_logs import ERROR

DATA = Path(__file__).resolve().parents[2] / "data"


def recorded(ending="completed", count=20, **facts):
    """The row of a run and its steps."""
    run = dict.fromkeys(RUN_SCHEMA) | {
        "ending": ending, "steps": count, "nominal_batch_size": 16, "nominal_sequence_length": 32,
        "corpus_tokens": 51_200, "planned_steps": count, **facts,
    }  # fmt: skip
    measured = {
        "run_id": "run", "gradient_norm": 1.0, "memory_bytes": 1000, "step_seconds": 0.5,
        "tokens": 100,
    }  # fmt: skip
    rows = [
        dict.fromkeys(STEP_SCHEMA) | measured | {"step": step, "loss": 3.0 - 0.1 * step}
        for step in range(count)
    ]
    return run, pl.DataFrame(rows, schema=STEP_SCHEMA)


@pytest.mark.parametrize(
    ("ending", "kind"), [("exception", "exception"), ("signal", "death"), ("timeout", "silence")]
)
def test_a_step_without_its_end_is_not_logged(ending, kind):
    error = {"error_traceback": ERROR, "error_type": "RuntimeError"} if kind == "exception" else {}
    facts, steps = recorded(ending, exit_signal="SIGKILL", **error)
    last = pl.col("step") == 19
    steps = steps.with_columns(pl.when(last).then(None).otherwise("gradient_norm").alias("loss"))
    run = logged_run(facts, steps, 19)
    assert run.steps == tuple(range(19))
    assert run.ending.kind == kind
    assert (run.ending.signal == "SIGKILL") == (kind == "death")


def test_frames_of_the_recorder_become_those_of_a_script():
    traceback = tracebacks.neutral_traceback(ERROR)
    assert [(frame.file, frame.function) for frame in traceback.frames] == [
        ("train.py", "<module>"),
        ("train.py", "main"),
        ("train.py", "train_step"),
        ("train.py", "backward"),
        ("torch/_tensor.py", "backward"),
        ("python3.11/gzip.py", "read1"),
    ]
    assert traceback.error == ("RuntimeError: the batch is broken", "\tin two places")
    assert traceback.frames[-1].source == "return self._buffer.read1(size)"
    assert set(traceback.frames[-1].marks) == {" ", "^"}


def test_no_recorded_error_tells_what_was_injected():
    """By names of scenarios and faults, with space between their words, and our own."""
    runs = read_table(DATA / "telemetry/runs.parquet", RUN_SCHEMA)
    texts = runs["error_traceback"].drop_nulls().unique().sort().to_list()
    assert len(texts) > 200
    names = {"failbench", "recording", "scenario", "inject"}
    for path in sorted((DATA / "scenarios").glob("*/*.json")):
        scenario = json.loads(path.read_text(encoding="utf-8"))
        names |= {scenario["id"], scenario["fault"]["name"]}
    assert len(names) > 70
    telling = "|".join(re.escape(name.replace("_", " ")) for name in sorted(names))
    telling = re.compile(rf"{telling}|(?<!de)fault")
    places = tracebacks.draw_places(np.random.default_rng(0))
    for text in texts:
        traceback = tracebacks.neutral_traceback(text)
        assert traceback.frames
        assert text.rstrip("\n").endswith("\n".join(traceback.error))
        assert re.match(r"[\w.]+(Error|Exception)\b", traceback.error[0])
        for shown in (tracebacks.plain, tracebacks.rich, tracebacks.notebook):
            words = re.sub(r"[_\s]+", " ", "\n".join(shown(traceback, places)).lower())
            assert telling.search(words) is None, telling.search(words)
