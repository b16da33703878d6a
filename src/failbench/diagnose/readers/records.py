"""Records: measurements that programs wrote for programs; event files have their own module."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from failbench.base.errors import BadInputError
from failbench.base.extras import of_extra
from failbench.diagnose.readers.lines import Line
from failbench.diagnose.readers.log import Collector, Event, EventKind, Log, Source
from failbench.diagnose.readers.names import Meaning, meaning, number
from failbench.monitor.end import End
from failbench.monitor.history import History

LARGEST: Final = 256 * 2**20  # bytes of a document that is read whole
# values of a document that is read: each takes some 70 to 200 bytes of memory, however short
MOST_VALUES: Final = 10_000_000
RUNS: Final = "runs.parquet"  # by which a folder is known as recorded telemetry
_STATE: Final = "log_history"
# keys under which documents keep what was measured; the first is the Trainer's
_WRAPPERS: Final = (_STATE, "history", "metrics", "logs", "data")

# what a monitor calls the signals of a row
_MONITORED: Final = {
    "loss": Meaning("loss", "train"),
    "gradient_norm": Meaning("grad_norm", "train"),
    "learning_rate": Meaning("learning_rate", "train"),
    "memory": Meaning("memory", "train"),
    "evaluation_loss": Meaning("loss", "validation"),
}

_ENDS: Final[dict[str, EventKind]] = {
    "exception": "exception",
    "out of memory": "exception",
    "killed": "death",
    "hung": "death",
}

_RECORDED: Final = {
    "loss": Meaning("loss"),
    "gradient_norm": Meaning("grad_norm"),
    "learning_rate": Meaning("learning_rate"),
    "memory_bytes": Meaning("memory"),
    "throughput": Meaning("throughput"),
    "validation_loss": Meaning("loss", "validation"),
    "step": Meaning("step"),
}
_SHOWN: Final = 3  # runs that an error names


def read_document(name: str, text: str) -> Log | None:
    """Read a list of objects, or curves of equal length; None if it is neither, or too large."""
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    collected = Collector()
    for record in _records(document):
        values = [
            (found, logged)
            for key, value in record.items()
            if (found := meaning(key) or meaning(key.removesuffix("s"))) is not None
            if (logged := _number(value)) is not None
        ]
        collected.add(None, values)
    rows = collected.rows()
    if not len(rows):
        return None
    is_state = isinstance(document, dict) and _STATE in document
    read_as = "trainer_state" if is_state else "JSON document"
    return Log((Source(name, read_as, text.count("\n") + 1),), rows, ())


def _records(document: object) -> Iterator[Mapping[str, object]]:
    """The objects of a document, one for each time of measurement."""
    inner = document
    if isinstance(document, dict):
        inner = next((document[key] for key in _WRAPPERS if key in document), document)
    if isinstance(inner, list):
        yield from (record for record in inner if isinstance(record, dict))
    elif isinstance(inner, dict):
        curves = {name: values for name, values in inner.items() if isinstance(values, list)}
        for at in range(max(map(len, curves.values()), default=0)):
            yield {name: values[at] for name, values in curves.items() if at < len(values)}


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return number(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def read_metric(name: str, key: str, lines: Iterator[Line]) -> Log | None:
    """Read a metric of MLflow (lines of milliseconds, value, step); None if its key is unknown."""
    found = meaning(key)
    if found is None:
        return None
    rows, last = Collector(), 0
    for last, text in lines:
        value, step = ([number(cell) for cell in text.split()[1:3]] + [None, None])[:2]
        if value is not None and step is not None:
            rows.add(last, [(found, value), (Meaning("step"), step)])
    return Log((Source(name, "MLflow metric", last),), rows.rows(), ())


def log_of_history(name: str, history: History) -> Log:
    """What a monitor measured, of which rows hold the signals that other logs have too."""
    collected = Collector()
    for row in history.rows:
        measured = row.values.items()
        values = [(_MONITORED[name], value) for name, value in measured if name in _MONITORED]
        collected.add(None, [(Meaning("step"), float(row.step)), *values])
    notes = tuple(f"{signal} was not measured: {why}" for signal, why in history.off.items())
    rows = collected.rows()
    source = Source(name, "monitor", len(rows), notes)
    return Log((source,), rows, _end_of_monitored(history.end), history)


def _end_of_monitored(end: End) -> tuple[Event, ...]:
    """How the run ended, if it failed."""
    if not end.failed:
        return ()
    words = end.message or f"The run was {end.kind} in the phase {end.phase} of step {end.step}."
    return (Event(_ENDS[end.kind], 0, 0, end.error, words),)


def read_recorded(folder: Path, run: str | None) -> Log:
    """Read one run of a folder of telemetry: throughput in tokens per second, memory in bytes."""
    with of_extra("recorded telemetry"):
        import polars as pl

        from failbench.base.telemetry import read_telemetry
    recorded = read_telemetry(folder)
    runs = recorded.runs["run_id"].to_list()
    if run is None and len(runs) == 1:
        run = runs[0]
    if run not in runs:
        named = "no run is named" if run is None else f"{run!r} is no run of it"
        examples = ", ".join(runs[:_SHOWN])
        problem = f"{named}, and it has {len(runs):,}."
        remedy = f"Name one with --run: {examples}, ..."
        raise BadInputError(folder / RUNS, "run_id", problem, remedy)
    telemetry = recorded.select(pl.col("run_id") == run)
    steps = telemetry.steps.with_columns(throughput=pl.col("tokens") / pl.col("step_seconds"))
    collected = Collector()
    for row in steps.sort("step").select(*_RECORDED).iter_rows():
        measured = zip(_RECORDED.values(), row, strict=True)
        collected.add(None, [(found, value) for found, value in measured if value is not None])
    (facts,) = telemetry.runs.to_dicts()
    source = Source(str(run), "recorded telemetry", steps.height)
    return Log((source,), collected.rows(), _end_of_recorded(facts))


def _end_of_recorded(facts: dict[str, Any]) -> tuple[Event, ...]:
    """How the run ended, if an exception or a signal ended it."""
    if facts["error_type"] is not None:
        message = facts["error_message"] or ""
        return (Event("exception", 0, 0, facts["error_type"], message),)
    if facts["ending"] == "timeout":  # the signal that ended it is the recorder's own
        return (Event("death", 0, 0, "", "The run made no progress any more and was ended."),)
    if facts["exit_signal"] is not None:
        return (Event("death", 0, 0, facts["exit_signal"], "The process was ended by a signal."),)
    return ()
