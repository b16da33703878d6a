"""Verdicts on what a campaign recorded: the limits of healthy runs, and each run held to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.base.detector import (
    Detection,
    DetectorParams,
    HealthyLimits,
    detect,
    healthy_limits,
    measure,
)
from failbench.base.errors import BadInputError
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.recording.journal import JournalEntry


def limits_of(entries: Iterable[JournalEntry], params: DetectorParams) -> HealthyLimits:
    """The limits of the completed successful runs; other runs are ignored.

    They are taken in the order of their ids, because a mean depends on the order in its last digit.
    """
    healthy = [
        entry
        for entry in entries
        if entry.run["kind"] == "success" and entry.run["ending"] == "completed"
    ]
    healthy.sort(key=lambda entry: str(entry.run["run_id"]))
    return healthy_limits([measure(steps_of(entry), params) for entry in healthy], params)


def detected(entry: JournalEntry, limits: HealthyLimits, params: DetectorParams) -> Detection:
    """The detector's outcome of a run."""
    return detect(entry.run["ending"], steps_of(entry), limits, params)


def tables_of(entries: Sequence[JournalEntry], params: DetectorParams) -> Telemetry:
    """The two tables of a setting's runs, its successes among them, with a verdict on each."""
    for entry in entries:
        refuse_unknown(entry)
    limits = limits_of(entries, params)
    rows = []
    for entry in entries:
        detection = detected(entry, limits, params)
        # A run that crashed before its model was built logged no configuration: null there.
        row = {name: entry.run.get(name) for name in RUN_SCHEMA}
        rows.append({**row, "outcome": detection.outcome, "failure_step": detection.failure_step})
    runs = pl.DataFrame(rows, schema=RUN_SCHEMA).sort("run_id")
    steps = pl.concat([STEP_SCHEMA.to_frame(), *map(steps_of, entries)])
    return Telemetry(runs, steps.sort("run_id", "step"))


def steps_of(entry: JournalEntry) -> pl.DataFrame:
    """The steps of an entry as a table."""
    rows = [{"run_id": entry.run["run_id"], **row} for row in entry.steps]
    return pl.DataFrame(rows, schema=STEP_SCHEMA)


def refuse_unknown(entry: JournalEntry) -> None:
    """Refuse an entry that has a value for a column that the tables lack."""
    columns = {*entry.run} - {*RUN_SCHEMA} | set().union(*entry.steps) - {*STEP_SCHEMA}
    if columns:
        raise BadInputError(
            f"journal of run {entry.run['run_id']}",
            ", ".join(sorted(columns)),
            "is no column of the tables of runs and steps.",
            f"Record it again with `failbench record --again {entry.run['run_id']}`.",
        )
