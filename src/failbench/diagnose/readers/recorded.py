"""Recorded telemetry of the benchmark: one run of its two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry
from failbench.diagnose.readers.log import ROW_SCHEMA, Event, Log, Source
from failbench.diagnose.readers.names import SIGNALS

RUNS: Final = "runs.parquet"
"""By which a folder is known as recorded."""

_TRAINED: Final = {
    "loss": "loss",
    "gradient_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "memory_bytes": "memory",
}
_SHOWN: Final = 3
"""Runs that an error names."""


def read_recorded(folder: Path, run: str | None) -> Log:
    """Read one run of a folder of telemetry.

    Its throughput is in tokens per second, its memory in bytes.
    """
    recorded = read_telemetry(folder)
    known = recorded.runs["run_id"].to_list()
    if run is None and len(known) == 1:
        run = known[0]
    if run not in known:
        named = "no run is named" if run is None else f"{run!r} is no run of it"
        examples = ", ".join(known[:_SHOWN])
        raise BadInputError(
            folder / RUNS,
            "run_id",
            f"{named}, and it has {len(known):,}.",
            f"Name one with --run: {examples}, ...",
        )
    telemetry = recorded.select(pl.col("run_id") == run)
    rows = _rows(telemetry.steps)
    (facts,) = telemetry.runs.to_dicts()
    source = Source(str(run), "recorded telemetry", telemetry.steps.height)
    return Log((source,), rows, _events(facts))


def _rows(steps: pl.DataFrame) -> pl.DataFrame:
    """Rows of the normal form, training before validation in each step."""
    trained = steps.select(
        "step",
        *(pl.col(column).alias(signal) for column, signal in _TRAINED.items()),
        throughput=pl.col("tokens") / pl.col("step_seconds"),
        split=pl.lit("train"),
    )
    validated = steps.filter(pl.col("validation_loss").is_not_null()).select(
        "step", loss="validation_loss", split=pl.lit("validation")
    )
    both = pl.concat([trained, validated], how="diagonal").sort("step", "split")
    missing = [name for name in ROW_SCHEMA if name not in both.columns]
    return (
        both.with_columns(*(pl.lit(None).alias(name) for name in missing))
        .with_columns(source=pl.lit(0))
        .cast(ROW_SCHEMA)
        .filter(pl.any_horizontal(pl.col(name).is_not_null() for name in SIGNALS))
        .select(*ROW_SCHEMA)
    )


def _events(facts: dict[str, Any]) -> tuple[Event, ...]:
    """How the run ended, if an exception or a signal ended it."""
    if facts["error_type"] is not None:
        message = facts["error_message"] or ""
        return (Event("exception", 0, 0, facts["error_type"], message),)
    if facts["ending"] == "timeout":  # the signal that ended it is the recorder's own
        return (Event("death", 0, 0, "", "The run made no progress any more and was ended."),)
    if facts["exit_signal"] is not None:
        return (Event("death", 0, 0, facts["exit_signal"], "The process was ended by a signal."),)
    return ()
