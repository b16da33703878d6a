"""A campaign: records the missing runs of one setting, and keeps known ones."""

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, TypeAlias, TypeVar

import polars as pl

from failbench.base.detector import DetectorParams, HealthyLimits
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.recording import journal as journals
from failbench.recording import plan as plans
from failbench.recording.corpus import load_corpus
from failbench.recording.fault_modules import OutsideFaults
from failbench.recording.fingerprint import fingerprint
from failbench.recording.journal import JournalEntry
from failbench.recording.order import RunOrder
from failbench.recording.plan import WHOLE, Pair, PlannedRun, RecordParams, Setting, Shard
from failbench.recording.sandbox import RunReport, execute, fork_server

MOST_ATTEMPTS = 5  # attempts to record a healthy twin; after these the check rejects it
CAPACITY_UNIT = 4 * 2**20  # rounded up to, so that noise in a peak seldom changes capacities

_ALSO_EFFECTIVE = (  # drawn values in columns ``nominal_``, as the configuration has effective ones
    *("batch_size", "learning_rate", "width", "sequence_length"),
    *("warmup_steps", "clip_norm", "corpus_slice"),
)
_NOMINAL_ONLY = ("planned_steps", "capacity_multiple", "distractor")

Unit = TypeVar("Unit")
Outcome: TypeAlias = tuple[PlannedRun, JournalEntry, bool]  # and whether it was kept


@dataclass
class Progress:
    """Progress of a campaign, shown after every run."""

    planned: int
    done: int = 0
    kept: int = 0
    as_expected: int = 0
    rejected: list[str] = field(default_factory=list)


def for_each(
    units: Iterable[Unit], action: Callable[[Unit], None], workers: int, stop: threading.Event
) -> None:
    """Apply an action to each unit on threads, until done, stopped, or an error."""
    remaining = iter(units)
    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        try:
            while not stop.is_set():
                while len(running) < workers and (unit := next(remaining, None)) is not None:
                    running.add(pool.submit(action, unit))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
            for future in running:
                future.result()
        except BaseException:
            stop.set()
            raise


@dataclass(eq=False)
class Campaign:
    """Records all runs of one setting."""

    setting: Setting
    scenarios: tuple[Scenario, ...]
    params: RecordParams
    detector: DetectorParams
    journal: Path
    corpus_cache: Path
    known: Telemetry | None = None
    again: frozenset[str] = frozenset()
    stop: threading.Event = field(default_factory=threading.Event)
    outside: OutsideFaults = field(default_factory=OutsideFaults)

    def __post_init__(self) -> None:
        corpus = load_corpus(self.corpus_cache)
        self._slices = len(corpus.slices)
        self.provenance = {
            "device": self.setting.device,
            "corpus_sha256": corpus.sha256,
            "python_version": python_version(),
            "torch_version": version("torch"),
            "transformers_version": version("transformers"),
            "tokenizers_version": version("tokenizers"),
        }
        planned = (self.params, self._slices)
        self.successes = plans.plan_successes(self.setting, *planned)
        self.pairs = plans.plan_pairs(self.setting, self.scenarios, *planned)
        rows = [] if self.known is None else self.known.runs.to_dicts()
        self._known_rows: dict[str, dict[str, Any]] = {row["run_id"]: row for row in rows}

    def start(self) -> None:
        """Prepare runs in the thread that starts all: they inherit its address layout."""
        self._context = fork_server(self.outside.preloaded)

    def record(
        self, workers: int, show: Callable[[Progress], None], shard: Shard = WHOLE
    ) -> list[JournalEntry]:
        """Record the missing runs of a shard; return the entries of all its finished runs."""
        # A pair is held to the limits of all healthy runs. Where those of other shards are missing
        # when a shard is started, it records its healthy runs alone: which of several shards is the
        # last to end must not decide what each of them records.
        self.start()
        successes, pairs = shard.part(self.successes), shard.part(self.pairs)
        remedied = [planned for pair in pairs for planned in self.remedies(pair)]
        progress = Progress(planned=len(successes) + 2 * len(pairs) + len(remedied))
        lock = threading.Lock()
        entries: list[JournalEntry] = []
        limits: HealthyLimits | None = None

        def note(recorded: Iterable[Outcome]) -> None:
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
        limits = healthy = journals.limits_of(of_all_shards, self.detector)
        for_each(pairs, lambda pair: note(self._pair(pair, healthy)), workers, self.stop)
        if not self.stop.is_set():
            by_id = {entry.run["run_id"]: entry for entry in entries}

            def remedy(planned: PlannedRun) -> None:
                note([self._remedied(planned, by_id[f"{planned.twin_of}-twin"])])

            for_each(remedied, remedy, workers, self.stop)
        return entries

    def _pair(self, pair: Pair, limits: HealthyLimits) -> list[Outcome]:
        """Record a twin, then its failing run with the capacity derived from the twin's peak."""
        # Whose twin is not healthy, or which fails before onset of what health survives, is drawn
        # again, in every category alike. A twin that was only slow is recorded again with the same
        # configuration: the draw must not depend on the load of the machine.
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
            onset = failure[1].run["onset_step"]
            if journals.detected(failure[1], limits, self.detector).failure_step >= onset:
                return [twin, failure]
            draw += 1
        return [twin, self._failing(drawn.failure, twin[1])]

    def _failing(self, planned: PlannedRun, twin: JournalEntry) -> Outcome:
        capacity = twin.run["capacity_bytes"]
        return self._kept(planned) or (planned, self._execute(planned, capacity, capacity), False)

    def _remedied(self, planned: PlannedRun, twin: JournalEntry) -> Outcome:
        pair = self.drawn(planned, twin.run["draw"])
        drawn = {each.run_id: each for each in self.remedies(pair)}
        return self._failing(drawn[planned.run_id], twin)

    def _healthy(self, planned: PlannedRun, again: bool = False) -> Outcome:
        kept = None if again else self._kept(planned)
        if kept is not None:
            return kept
        # A run recorded again has the same limit although its measured peak varies a little.
        known = self._known_rows.get(planned.run_id, {})
        wanted = (self.fingerprint_of(planned), planned.draw)
        same = (known.get("fingerprint"), known.get("draw")) == wanted
        capacity = known["capacity_bytes"] if same else None
        return planned, self._execute(planned, None, capacity), False

    def _kept(self, planned: PlannedRun) -> Outcome | None:
        """A run with its entry, if it is recorded with the configuration that is drawn for it."""
        entry = self.keep(planned)
        if entry is None or entry.run["draw"] != planned.draw:
            return None
        return planned, entry, True

    def recorded(self, shard: Shard = WHOLE) -> tuple[list[JournalEntry], list[str]]:
        """A shard's entries, and missing ids; a failing run must share its twin's configuration."""
        planned = shard.part(self.successes)
        for pair in shard.part(self.pairs):
            twin = self.keep(pair.twin)
            drawn = pair if twin is None else self.drawn(pair.twin, twin.run["draw"])
            planned += [drawn.twin, drawn.failure, *self.remedies(drawn)]
        found = {run.run_id: self._kept(run) for run in planned}
        entries = [kept[1] for kept in found.values() if kept is not None]
        return entries, [run_id for run_id, kept in found.items() if kept is None]

    def recorded_pairs(self) -> Iterator[tuple[Pair, JournalEntry, JournalEntry]]:
        """The pairs that are recorded, as they were drawn: with the twin and the failing run."""
        for pair in self.pairs:
            twin = self.keep(pair.twin)
            if twin is not None:
                drawn = self.drawn(pair.twin, twin.run["draw"])
                failure = self._kept(drawn.failure)
                if failure is not None:
                    yield drawn, twin, failure[1]

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
        of_run = (planned.scenario, planned.seed, draw)
        return plans.plan_pair(self.setting, *of_run, self.params, self._slices)

    def order(self, planned: PlannedRun, limit: int | None) -> RunOrder:
        """The order for a planned run, under a limit of memory."""
        return plans.order_for(planned, self.setting, limit, str(self.corpus_cache))

    @property
    def patience(self) -> tuple[float, float]:
        """Seconds that a run may be silent, and that it may take."""
        return self.params.hang_seconds, self.params.wall_limit_seconds

    def remedies(self, pair: Pair) -> list[PlannedRun]:
        """The repetitions of the failing run of a pair with something changed."""
        return plans.plan_remedies(pair.failure, self.params)

    def keep(self, planned: PlannedRun) -> JournalEntry | None:
        """The entry of a run that was recorded before by the same code."""
        wanted = self.fingerprint_of(planned)
        entry = journals.read_entry(self.journal, planned.run_id)
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
        kept = journals.read_entry(self.journal, planned.run_id)
        wanted = (self.fingerprint_of(planned), planned.draw, capacity)
        columns = ("fingerprint", "draw", "capacity_bytes")
        if kept is not None and tuple(kept.run[name] for name in columns) == wanted:
            return kept, True
        limit = None if planned.declaration is None else capacity
        return self._execute(planned, limit, capacity), False

    def _execute(
        self, planned: PlannedRun, limit: int | None, capacity: int | None
    ) -> JournalEntry:
        order = self.order(planned, limit)
        report = execute(self._context, order, *self.patience, self.outside.training)
        report.error = {name: self.outside.relative(text) for name, text in report.error.items()}
        if capacity is None:
            peak = max((row["memory_bytes"] for row in report.steps), default=0)
            units = math.ceil(peak * planned.nominal.capacity_multiple / CAPACITY_UNIT)
            capacity = max(1, units) * CAPACITY_UNIT
        today = self.fingerprint_of(planned)
        row = run_row(planned, self.setting, report, capacity, self.provenance, today)
        entry = JournalEntry(row, report.steps)
        journals.write_entry(self.journal, entry)
        return entry

    def _as_expected(self, planned: PlannedRun, entry: JournalEntry, limits: HealthyLimits) -> bool:
        if planned.kind == "remedy":
            return True  # the outcome of a remedy is what the run measures
        failing = planned.scenario if planned.declaration is not None else None
        wanted = ("completed",) if failing is None else failing.outcomes
        return self._outcome(entry, limits) in wanted

    def _outcome(self, entry: JournalEntry, limits: HealthyLimits) -> str:
        return journals.detected(entry, limits, self.detector).outcome

    def tables(self, entries: list[JournalEntry]) -> Telemetry:
        """The two tables of this setting, with the detector's verdict on every run."""
        return journals.tables_of(entries, self.detector)


def run_row(
    planned: PlannedRun,
    setting: Setting,
    report: RunReport,
    capacity_bytes: int,
    provenance: Mapping[str, str],
    fingerprint: str,
) -> dict[str, Any]:
    """The columns of ``telemetry.RUN_SCHEMA`` but for the verdict; of limits, the last in force."""
    nominal = asdict(planned.nominal)
    return {
        "run_id": planned.run_id,
        "kind": planned.kind,
        "scenario": planned.scenario.id if planned.scenario else None,
        "twin_of": planned.twin_of,
        **asdict(setting),
        "seed": planned.seed,
        "draw": planned.draw,
        "ending": report.ending,
        "onset_step": planned.onset_step,
        "steps": len(report.steps),
        "exit_signal": report.exit_signal,
        **{f"nominal_{name}": nominal[name] for name in _ALSO_EFFECTIVE},
        **{name: nominal[name] for name in _NOMINAL_ONLY},
        "capacity_bytes": report.capacity_bytes or capacity_bytes,
        **report.configuration,
        **report.error,
        **provenance,
        "fingerprint": fingerprint,
        "wall_seconds": report.wall_seconds,
    }
