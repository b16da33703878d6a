"""Carrying signals over: today's fingerprints where a sample, measured again, is equal."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.telemetry import write_parquet
from failbench.monitor.records.tables import (
    RUNS,
    SIGNAL_SCHEMA,
    Monitored,
    monitored_of,
    setting_of,
)
from failbench.recording.campaign import for_each
from failbench.recording.carrying import CARRIED, Candidate, drawn_sample, with_fingerprints
from failbench.recording.signals import SignalRecording, Unit

CARRIED_SIGNALS: Final = pl.Schema(
    {
        **dict.fromkeys(("run_id", "fingerprint_after", "fingerprint_before"), pl.String()),
        **dict.fromkeys(("setting", "kind"), pl.String()),
        "steps_compared": pl.Int32(),
        "values_compared": pl.Int32(),
        "candidates": pl.Int32(),  # of which the sample was drawn; all have new fingerprints
        "seed": pl.Int64(),  # of the draw
    }
)
OF_MACHINE: Final = ("memory", "busy_", "blocked_", "live_", "page_faults", "bytes_")
"""How signals begin that measure the machine, or are counted while there is time."""

COLUMNS: Final = tuple(name for name in SIGNAL_SCHEMA if not name.startswith(OF_MACHINE))


class Carrying:
    """Signals whose fingerprints are not those of today's code, of all settings of a folder."""

    def __init__(self, recordings: Sequence[SignalRecording], known: Monitored) -> None:
        rows = {row["run_id"]: row for row in known.runs.to_dicts()}
        self._known = known
        self._units: dict[str, tuple[SignalRecording, Unit]] = {}
        self.outdated: list[Candidate] = []
        for recording in recordings:
            for unit in recording.units():
                row, today = rows.get(unit.planned.run_id), recording.fingerprint(unit)
                if row is not None and row["fingerprint"] != today:
                    self._units[unit.planned.run_id] = recording, unit
                    of_setting = recording.setting
                    self.outdated.append(Candidate(unit.planned, of_setting, row, today))

    def repeated(
        self,
        sample: int,
        seed: int,
        workers: int,
        stop: threading.Event,
        former: Monitored | None = None,
    ) -> list[dict[str, Any]]:
        """Measure a sample again; a row of each, with the first difference or None.

        It is held against what is stored, or against what the former code measured on this machine:
        another processor rounds otherwise.
        """
        found: dict[str, dict[str, Any]] = {}
        against = self._known if former is None else former
        of_code = set(against.runs.select("run_id", "fingerprint").iter_rows())
        known = [
            each for each in self.outdated if (each.run_id, each.stored["fingerprint"]) in of_code
        ]
        drawn = drawn_sample(known, sample, seed)
        for recording in {id(each): each for each, _ in self._units.values()}.values():
            recording.start()

        def again(candidate: Candidate) -> None:
            recording, unit = self._units[candidate.run_id]
            entry = recording.execute(unit)
            measured = monitored_of([(entry.run, entry.steps)])
            stored = against.select(pl.col("run_id") == candidate.run_id)
            found[candidate.run_id] = {
                "run_id": candidate.run_id,
                "fingerprint_after": candidate.fingerprint,
                "fingerprint_before": candidate.stored["fingerprint"],
                "setting": setting_of(candidate.stored),
                "kind": candidate.stored["kind"],
                **compared(stored, measured),
                "candidates": len(self.outdated),
                "seed": seed,
            }

        for_each(drawn, again, workers, stop)
        return [found[each.run_id] for each in drawn if each.run_id in found]


def compared(stored: Monitored, again: Monitored) -> dict[str, Any]:
    """How much two measurements of a run share, and where they differ first in what they share."""
    # Which step is the last depends on the machine where memory or a clock ends a run, and which of
    # the steps between checks are in the log on when it was looked at; of these it may have all
    # signals, or what changed.
    before, now = (each.signals.select(COLUMNS) for each in (stored, again))
    last = min((int(each["step"][-1]) for each in (before, now) if each.height), default=-1)
    is_check = pl.col("step") % stored.runs["every"][0] == 0
    checks = [each.filter(is_check, pl.col("step") < last) for each in (before, now)]
    both = before.join(now, on="step", suffix="_again", how="inner").sort("step")
    in_check = both.select(is_check & (pl.col("step") < last)).to_series()
    values, difference = 0, None
    if checks[0]["step"].to_list() != checks[1]["step"].to_list():
        difference = "other checks are in the log"
    for name in COLUMNS[2:]:
        first, second = both[name], both[f"{name}_again"]
        shared = first.is_not_null() & second.is_not_null()
        values += int(shared.sum())
        unequal = shared & first.ne_missing(second)
        unequal |= in_check & (first.is_null() != second.is_null())
        if difference is None and unequal.any():
            place = unequal.arg_true()[0]
            was, is_now = first[place], second[place]
            difference = f"{name} at step {both['step'][place]} was {was!r} and is now {is_now!r}"
    return {"steps_compared": both.height, "values_compared": values, "difference": difference}


def carry_over(
    folder: Path, known: Monitored, outdated: Sequence[Candidate], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Write today's fingerprints, after what was compared."""
    path = folder / CARRIED
    table = pl.DataFrame(
        [{name: row[name] for name in CARRIED_SIGNALS} for row in rows], CARRIED_SIGNALS
    )
    if path.exists():
        try:
            before = pl.read_csv(path, schema=CARRIED_SIGNALS)
        except pl.exceptions.PolarsError as error:
            remedy = "Restore it from the last commit."
            raise BadInputError(
                path, "(file)", f"is no readable table ({error}).", remedy
            ) from error
        table = pl.concat([before, table])
    key = ("run_id", "fingerprint_after")
    content = table.unique(key, keep="last", maintain_order=True).write_csv()
    write_atomically(path, content.encode(), "Free space and carry over again; nothing is changed.")
    renewed = replace(known, runs=with_fingerprints(known.runs, outdated))
    write_parquet(renewed.runs, folder / RUNS)
