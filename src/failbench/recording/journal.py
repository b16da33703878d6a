"""What a campaign recorded: a file per run, so that none is lost, and the committed tables."""

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import detector
from failbench.base.detector import Detection, DetectorParams, HealthyLimits
from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.telemetry import (
    RUN_SCHEMA,
    STEP_SCHEMA,
    Telemetry,
    read_telemetry,
    write_parquet,
)
from failbench.recording.plan import Setting


@dataclass(frozen=True)
class JournalEntry:
    """One recorded run: its row of the runs table, but for the verdict, and its steps."""

    run: dict[str, Any]
    steps: list[dict[str, Any]]


def write_entry(folder: Path, entry: JournalEntry) -> None:
    """Write an entry atomically."""
    content = json.dumps({"run": entry.run, "steps": entry.steps}).encode()
    write_atomically(
        folder / f"{entry.run['run_id']}.json.gz",
        gzip.compress(content, compresslevel=3, mtime=0),
        "Free space and start the campaign again; it resumes where it stopped.",
    )


def read_entry(folder: Path, run_id: str) -> JournalEntry | None:
    """Read an entry, or None if the run was not recorded here."""
    path = folder / f"{run_id}.json.gz"
    if not path.exists():
        return None
    try:
        raw = json.loads(gzip.decompress(path.read_bytes()))
        return JournalEntry(raw["run"], raw["steps"])
    except (OSError, EOFError, ValueError, KeyError) as error:
        remedy = "Delete it to record the run again."
        raise BadInputError(path, "(file)", f"is not a journal entry ({error}).", remedy) from error


def steps_of(entry: JournalEntry) -> pl.DataFrame:
    """The steps of an entry as a table."""
    rows = [{"run_id": entry.run["run_id"], **row} for row in entry.steps]
    return pl.DataFrame(rows, schema=STEP_SCHEMA)


def refuse_unknown(entry: JournalEntry) -> None:
    """Refuse an entry that has a value for a column that the tables lack."""
    columns = {*entry.run} - {*RUN_SCHEMA} | set().union(*entry.steps) - {*STEP_SCHEMA}
    if columns:
        place, field = f"journal of run {entry.run['run_id']}", ", ".join(sorted(columns))
        remedy = f"Record it again with `failbench record --again {entry.run['run_id']}`."
        raise BadInputError(place, field, "is no column of the tables of runs and steps.", remedy)


def limits_of(entries: Iterable[JournalEntry], params: DetectorParams) -> HealthyLimits:
    """The limits of completed successful runs, by id, as a mean's last digit depends on order."""
    ordered = sorted(entries, key=lambda entry: str(entry.run["run_id"]))
    healthy = [e for e in ordered if (e.run["kind"], e.run["ending"]) == ("success", "completed")]
    signals = [detector.measure(steps_of(entry), params) for entry in healthy]
    return detector.healthy_limits(signals, params)


def detected(entry: JournalEntry, limits: HealthyLimits, params: DetectorParams) -> Detection:
    """The detector's outcome of a run."""
    return detector.detect(entry.run["ending"], steps_of(entry), limits, params)


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


def read_known(folder: Path) -> Telemetry | None:
    """The runs recorded before, or None for an empty folder."""
    return read_telemetry(folder) if (folder / "runs.parquet").exists() else None


def archive(folder: Path, setting: Setting, recorded: Telemetry, whole: bool) -> Telemetry:
    """Write recorded runs into ``folder``, in place of its runs of the setting or of their ids."""
    keys = ("architecture", "optimizer", "scale")
    of_setting = pl.all_horizontal(pl.col(key) == getattr(setting, key) for key in keys)
    known = read_known(folder)
    runs, steps = recorded.runs, recorded.steps
    if known is not None:
        ids = runs["run_id"].to_list()
        kept = known.select(~(of_setting if whole else pl.col("run_id").is_in(ids)))
        runs = pl.concat([kept.runs, runs]).sort("run_id")
        steps = pl.concat([kept.steps, steps]).sort("run_id", "step")
    setting_runs = runs.filter(of_setting).select("run_id")
    write_parquet(
        pl.concat([STEP_SCHEMA.to_frame(), steps.join(setting_runs, on="run_id", how="semi")]),
        folder / "steps" / f"{setting.name}.parquet",
    )
    write_parquet(runs, folder / "runs.parquet")
    return Telemetry(runs, steps)
