"""Inside: trains recorded runs once more with DEFault++ in them, and keeps what it says."""

import hashlib
import json
import math
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import polars as pl

from failbench.base.telemetry import write_parquet
from failbench.neighbours.peers import default_plus_plus
from failbench.neighbours.peers.default_plus_plus import (
    ANSWER_SCHEMA,
    diagnose,
    read_inside_answers,
)
from failbench.recording.campaign import Campaign, for_each
from failbench.recording.fingerprint import code_hash
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import Pair, PlannedRun
from failbench.recording.sandbox import RunReport, execute, fork_server

SEED: Final = 0  # of the runs that are trained once more; a run takes half a minute of one core
SLOWNESS: Final = 12  # how much longer a run may take, and be silent, than one that nothing watches
COMPARED_STEPS: Final = 30  # whose losses are compared: later ones amplify rounding
NOT_FINISHED: Final = "The training ended before its features existed"
CHILD: Final = "failbench.recording.instrumented"


Unit: TypeAlias = tuple[Pair, JournalEntry, JournalEntry]  # a pair; entries of twin and failure


def units_of(campaign: Campaign) -> list[Unit]:
    """The recorded pairs of one seed, drawn; first those that go on to the end of training."""
    # Of these alone the peer can say anything, so that a stopped recording has most of them.
    units = [unit for unit in campaign.recorded_pairs() if unit[0].twin.seed == SEED]
    return sorted(units, key=lambda unit: unit[2].run["ending"] != "completed")


class InsideRecording:
    """Records what the peer says of the pairs of a campaign."""

    def __init__(self, campaign: Campaign, path: Path) -> None:
        self._campaign, self._path = campaign, path
        self._version = default_plus_plus.installed_version()
        known = read_inside_answers(path).to_dicts() if path.exists() else []
        self._rows: dict[str, dict[str, Any]] = {row["run_id"]: row for row in known}
        self._lock = threading.Lock()

    def record(
        self, workers: int, show: Callable[[int, int], None], pairs: int | None = None
    ) -> pl.DataFrame:
        """Record what is missing, and write the table after every pair."""
        chosen = units_of(self._campaign)[:pairs]
        needed = (CHILD, default_plus_plus.PACKAGE, "sklearn.metrics")
        self._context = fork_server((*self._campaign.outside.preloaded, *needed))
        done = 0

        with tempfile.TemporaryDirectory() as folder:

            def record(unit: Unit) -> None:
                nonlocal done
                rows = self._pair(unit, Path(folder))
                with self._lock:
                    self._rows |= {row["run_id"]: row for row in rows}
                    self._write()
                    done += 1
                    show(done, len(chosen))

            for_each(chosen, record, workers, self._campaign.stop)
        return self._write()

    def _pair(self, unit: Unit, folder: Path) -> list[dict[str, Any]]:
        pair, twin_entry, failure_entry = unit
        twin = self._known(twin_entry) or self._watch(pair.twin, twin_entry, 0, folder)
        failure = self._known(failure_entry)
        if failure is None and failure_entry.run["ending"] == "completed":
            granted = twin["granted_bytes"] or 0
            failure = self._watch(pair.failure, failure_entry, granted, folder)
        elif failure is None:
            failure = self._row(failure_entry, unreadable=f"{NOT_FINISHED}.")
        return [twin, failure]

    def _watch(
        self, planned: PlannedRun, entry: JournalEntry, granted: int, folder: Path
    ) -> dict[str, Any]:
        """Train a run once more; a failing one may take as much memory more as its twin took."""
        from failbench.recording.instrumented import WatchedTraining  # needs torch

        is_healthy = planned.declaration is None
        limit = None if is_healthy else entry.run["capacity_bytes"] + granted
        order = self._campaign.order(planned, limit)
        hang, wall = self._campaign.patience
        patience = SLOWNESS * hang, SLOWNESS * wall
        report = execute(self._context, order, *patience, WatchedTraining(str(folder)))
        if is_healthy:
            granted = max(0, _peak(report.steps) - _peak(entry.steps))
        watched = {
            "ending": report.ending,
            "steps": len(report.steps),
            "loss_apart": _loss_apart(report.steps, entry.steps),
            "granted_bytes": granted,
        }
        file = folder / f"{planned.run_id}.json"
        if report.ending != "completed" or not file.exists():
            return self._row(entry, unreadable=_why(report), **watched)
        features = json.loads(file.read_text(encoding="utf-8"))
        file.unlink()
        with self._lock:  # one answer at a time: its model is shared
            said = diagnose(features)
        return self._row(entry, **watched, **said)

    def _known(self, entry: JournalEntry) -> dict[str, Any] | None:
        row = self._rows.get(entry.run["run_id"])
        wanted = (self._version, self._rendering(entry))
        return row if row is not None and (row["version"], row["rendering"]) == wanted else None

    def _rendering(self, entry: JournalEntry) -> str:
        code = code_hash([Path(__file__).with_name("instrumented.py")])
        text = f"{entry.run['fingerprint']} {code} {self._version}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _row(self, entry: JournalEntry, **columns: Any) -> dict[str, Any]:
        return {
            **dict.fromkeys(ANSWER_SCHEMA),
            "run_id": entry.run["run_id"],
            "version": self._version,
            "rendering": self._rendering(entry),
            "recorded_ending": entry.run["ending"],
            **columns,
        }

    def _write(self) -> pl.DataFrame:
        table = pl.DataFrame(list(self._rows.values()), schema=ANSWER_SCHEMA).sort("run_id")
        write_parquet(table, self._path)
        return table


def _peak(steps: Sequence[dict[str, Any]]) -> int:
    return max((row["memory_bytes"] for row in steps), default=0)


def _loss_apart(watched: Sequence[dict[str, Any]], recorded: Sequence[dict[str, Any]]) -> float:
    """How far apart finite losses are of one run whose attention is computed in two ways."""
    steps = zip(watched[:COMPARED_STEPS], recorded, strict=False)
    pairs = [(first["loss"], second["loss"]) for first, second in steps]
    known = [(x, y) for x, y in pairs if x is not None and y and math.isfinite(x)]
    return max((abs(x - y) / abs(y) for x, y in known if math.isfinite(y)), default=0.0)


def _why(report: RunReport) -> str:
    if not report.error:
        return f"{NOT_FINISHED}: {report.exit_signal or report.ending}."
    message = (report.error["error_message"].splitlines() or [""])[0]
    return f"{NOT_FINISHED}: {report.error['error_type']}: {message}"
