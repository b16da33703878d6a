"""Verdicts on what a campaign recorded: the healthy band of its successes, and each run in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.detector import Detection, DetectorParams, HealthyBand, detect, healthy_band, measure
from failbench.recording.journal import JournalEntry
from failbench.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry


def band_of(entries: Iterable[JournalEntry], params: DetectorParams) -> HealthyBand:
    """The band of the successes that ended well; runs of other kinds are passed over."""
    healthy = (
        one for one in entries if one.run["kind"] == "success" and one.run["ending"] == "completed"
    )
    return healthy_band([measure(_steps(one), params) for one in healthy], params)


def detected(entry: JournalEntry, band: HealthyBand, params: DetectorParams) -> Detection:
    """What the detector finds in a run."""
    return detect(entry.run["ending"], _steps(entry), band, params)


def tables_of(entries: Sequence[JournalEntry], params: DetectorParams) -> Telemetry:
    """The two tables of a setting's runs, its successes among them, with a verdict on each."""
    band = band_of(entries, params)
    rows = []
    for entry in entries:
        found = detected(entry, band, params)
        row = {name: entry.run.get(name) for name in RUN_SCHEMA}
        rows.append({**row, "outcome": found.outcome, "failure_step": found.failure_step})
    runs = pl.DataFrame(rows, schema=RUN_SCHEMA).sort("run_id")
    steps = pl.concat([STEP_SCHEMA.to_frame(), *map(_steps, entries)])
    return Telemetry(runs, steps.sort("run_id", "step"))


def _steps(entry: JournalEntry) -> pl.DataFrame:
    rows = [{"run_id": entry.run["run_id"], **row} for row in entry.steps]
    return pl.DataFrame(rows, schema=STEP_SCHEMA)
