"""A campaign: records missing runs, keeps known ones, and writes both into two tables."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import polars as pl

from failbench.base.detector import DetectorParams, HealthyLimits
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.recording.corpus import load_corpus
from failbench.recording.fingerprint import fingerprint
from failbench.recording.journal import JournalEntry, read_entry, write_entry
from failbench.recording.outside_faults import OutsideFaults
from failbench.recording.plan import (
    Pair,
    PlannedRun,
    RecordParams,
    Setting,
    order_for,
    plan_pair,
    plan_pairs,
    plan_remedies,
    plan_successes,
)
from failbench.recording.progress import Progress
from failbench.recording.rows import run_row
from failbench.recording.sandbox import execute, fork_server
from failbench.recording.shards import WHOLE, Shard
from failbench.recording.threads import for_each
from failbench.recording.verdicts import detected, limits_of, tables_of

MOST_ATTEMPTS = 5
"""Attempts to record a healthy twin; after these the check rejects it."""

CAPACITY_UNIT = 4 * 2**20
"""Capacities are rounded up to this many bytes, so that noise in a peak seldom changes them."""


class Campaign:
    """Records all runs of one setting."""

    def __init__(
        self,
        setting: Setting,
        scenarios: tuple[Scenario, ...],
        params: RecordParams,
        detector: DetectorParams,
        journal: Path,
        corpus_cache: Path,
        known: Telemetry | None = None,
        again: frozenset[str] = frozenset(),
        stop: threading.Event | None = None,
        outside: OutsideFaults | None = None,
    ) -> None:
        self.setting = setting
        self.params = params
        self.detector = detector
        self.journal = journal
        self.corpus_cache = corpus_cache
        corpus = load_corpus(corpus_cache)
        self._slices = len(corpus.slices)
        self.provenance = {
            "device": setting.device,
            "corpus_sha256": corpus.sha256,
            "python_version": python_version(),
            "torch_version": version("torch"),
            "transformers_version": version("transformers"),
            "tokenizers_version": version("tokenizers"),
        }
        self.successes = plan_successes(setting, params, self._slices)
        self.pairs = plan_pairs(setting, scenarios, params, self._slices)
        self.again = again
        self.known = known
        self._known_rows: dict[str, dict[str, Any]] = {}
        if known is not None:
            self._known_rows = {row["run_id"]: row for row in known.runs.to_dicts()}
        self.outside = outside or OutsideFaults()
        self.stop = stop or threading.Event()

    def start(self) -> None:
        """Prepare to execute runs, in the thread that starts all others.

        They inherit its address layout, and so does the fork server, whichever starts it.
        """
        self._context = fork_server(self.outside.preloaded)

    def record(
        self, workers: int, show: Callable[[Progress], None], shard: Shard = WHOLE
    ) -> list[JournalEntry]:
        """Record the missing runs of a shard; return the entries of all its finished runs.

        A pair is held to the limits of all healthy runs. Where those of other shards are missing
        when a shard is started, it records its healthy runs alone: which of several shards is the
        last to end must not decide what each of them records.
        """
        self.start()
        successes, pairs = shard.part(self.successes), shard.part(self.pairs)
        remedied = [
            planned for pair in pairs for planned in plan_remedies(pair.failure, self.params)
        ]
        progress = Progress(planned=len(successes) + 2 * len(pairs) + len(remedied))
        lock = threading.Lock()
        entries: list[JournalEntry] = []
        limits: HealthyLimits | None = None

        def note(recorded: Iterable[tuple[PlannedRun, JournalEntry, bool]]) -> None:
            with lock:
                for planned, entry, kept in recorded:
                    entries.append(entry)
                    progress.done += 1
                    progress.kept += kept
                    if limits is not None and self._as_expected(planned, entry, limits):
                        progress.as_expected += 1
                    elif limits is not None:
                        progress.rejected.append(planned.run_id)
                show(progress)

        others = [planned for planned in self.successes if planned not in successes]
        early = any(self.keep(planned) is None for planned in others)
        for_each(successes, lambda planned: note([self._healthy(planned)]), workers, self.stop)
        if self.stop.is_set() or not pairs or early:
            return entries
        of_all_shards = filter(None, map(self.keep, self.successes))
        limits = healthy = limits_of(of_all_shards, self.detector)
        for_each(pairs, lambda pair: note(self._pair(pair, healthy)), workers, self.stop)
        if not self.stop.is_set():
            by_id = {entry.run["run_id"]: entry for entry in entries}
            for_each(
                remedied,
                lambda planned: note([self._remedied(planned, by_id[f"{planned.twin_of}-twin"])]),
                workers,
                self.stop,
            )
        return entries

    def _pair(
        self, pair: Pair, limits: HealthyLimits
    ) -> list[tuple[PlannedRun, JournalEntry, bool]]:
        """Record a twin, then its failing run with the capacity derived from the twin's peak.

        A configuration whose twin is not healthy is drawn again, in every category alike, and so is
        one whose run fails before its onset, of what a healthy run survives. A twin that was only
        slow is recorded again with the same configuration: the draw must not depend on the load of
        the machine.
        """
        recorded = self.keep(pair.twin)
        draw = recorded.run["draw"] if recorded is not None else 0
        for attempt in range(MOST_ATTEMPTS):
            drawn = self.drawn(pair.twin, draw)
            twin = self._healthy(drawn.twin, again=attempt > 0)
            outcome = self._outcome(twin[1], limits)
            if outcome != "completed":
                draw += outcome != "slow"
                continue
            failure = self._failing(drawn.failure, twin[1])
            if not self._fails_before_onset(failure[1], limits):
                return [twin, failure]
            draw += 1
        return [twin, self._failing(drawn.failure, twin[1])]

    def _failing(
        self, planned: PlannedRun, twin: JournalEntry
    ) -> tuple[PlannedRun, JournalEntry, bool]:
        kept = self.keep(planned)
        if kept is not None and kept.run["draw"] == planned.draw:
            return planned, kept, True
        capacity = twin.run["capacity_bytes"]
        return planned, self._execute(planned, capacity, capacity), False

    def _remedied(
        self, planned: PlannedRun, twin: JournalEntry
    ) -> tuple[PlannedRun, JournalEntry, bool]:
        """Record a failing run again with a remedy, with the draw and capacity of its twin."""
        pair = self.drawn(planned, twin.run["draw"])
        plans = {plan.run_id: plan for plan in plan_remedies(pair.failure, self.params)}
        drawn = plans[planned.run_id]
        kept = self.keep(drawn)
        if kept is not None and kept.run["draw"] == drawn.draw:
            return drawn, kept, True
        capacity = twin.run["capacity_bytes"]
        return drawn, self._execute(drawn, capacity, capacity), False

    def _healthy(
        self, planned: PlannedRun, again: bool = False
    ) -> tuple[PlannedRun, JournalEntry, bool]:
        kept = None if again else self.keep(planned)
        if kept is not None and kept.run["draw"] == planned.draw:
            return planned, kept, True
        # A run recorded again has the same limit although its measured peak varies a little.
        known = self._known_rows.get(planned.run_id, {})
        same = (known.get("fingerprint"), known.get("draw")) == (
            self.fingerprint_of(planned),
            planned.draw,
        )
        capacity = known["capacity_bytes"] if same else None
        return planned, self._execute(planned, None, capacity), False

    def fingerprint_of(self, planned: PlannedRun) -> str:
        """The fingerprint that the code of today gives a run."""
        return fingerprint(
            self.params.nominal,
            self.setting.optimizer,
            planned.declaration,
            self.provenance,
            None if planned.remedy is None else planned.remedy.model_dump(mode="json"),
            self.outside.codes,
        )

    def drawn(self, planned: PlannedRun, draw: int) -> Pair:
        """The pair of the scenario and seed of a run, with the configuration of the given draw."""
        assert planned.scenario is not None
        return plan_pair(
            self.setting, planned.scenario, planned.seed, draw, self.params, self._slices
        )

    def keep(self, planned: PlannedRun) -> JournalEntry | None:
        """The entry of a run that was recorded before by the same code."""
        wanted = self.fingerprint_of(planned)
        entry = read_entry(self.journal, planned.run_id)
        if entry is not None and entry.run["fingerprint"] == wanted:
            return entry
        row = self._known_rows.get(planned.run_id)
        if row is None or row["fingerprint"] != wanted or planned.run_id in self.again:
            return None
        assert self.known is not None
        steps = self.known.steps.filter(pl.col("run_id") == planned.run_id).drop("run_id")
        return JournalEntry(row, steps.to_dicts())

    def repeat(self, planned: PlannedRun, capacity: int) -> tuple[JournalEntry, bool]:
        """Record a run once more under its limit, and say whether the journal had it."""
        kept = read_entry(self.journal, planned.run_id)
        wanted = (self.fingerprint_of(planned), planned.draw, capacity)
        columns = ("fingerprint", "draw", "capacity_bytes")
        if kept is not None and tuple(kept.run[name] for name in columns) == wanted:
            return kept, True
        limit = None if planned.declaration is None else capacity
        return self._execute(planned, limit, capacity), False

    def _execute(
        self, planned: PlannedRun, limit: int | None, capacity: int | None
    ) -> JournalEntry:
        order = order_for(planned, self.setting, limit, str(self.corpus_cache))
        report = execute(
            self._context,
            order,
            self.params.hang_seconds,
            self.params.wall_limit_seconds,
            self.outside.training,
        )
        report.error = {name: self.outside.relative(text) for name, text in report.error.items()}
        if capacity is None:
            peak = max((row["memory_bytes"] for row in report.steps), default=0)
            units = math.ceil(peak * planned.nominal.capacity_multiple / CAPACITY_UNIT)
            capacity = max(1, units) * CAPACITY_UNIT
        row = run_row(
            planned, self.setting, report, capacity, self.provenance, self.fingerprint_of(planned)
        )
        entry = JournalEntry(row, report.steps)
        write_entry(self.journal, entry)
        return entry

    def _as_expected(self, planned: PlannedRun, entry: JournalEntry, limits: HealthyLimits) -> bool:
        if planned.kind == "remedy":
            return True  # the outcome of a remedy is what the run measures
        failing = planned.declaration is not None and planned.scenario is not None
        wanted = planned.scenario.outcomes if failing and planned.scenario else ("completed",)
        return self._outcome(entry, limits) in wanted

    def _fails_before_onset(self, entry: JournalEntry, limits: HealthyLimits) -> bool:
        onset = entry.run["onset_step"]
        return bool(detected(entry, limits, self.detector).failure_step < onset)

    def _outcome(self, entry: JournalEntry, limits: HealthyLimits) -> str:
        return detected(entry, limits, self.detector).outcome

    def tables(self, entries: list[JournalEntry]) -> Telemetry:
        """The two tables of this setting, with the detector's verdict on every run."""
        return tables_of(entries, self.detector)
