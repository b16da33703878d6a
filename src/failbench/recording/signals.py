"""Signals of recorded runs, each executed once more with a monitor; telemetry has none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.telemetry import STEP_SCHEMA
from failbench.monitor.history import History
from failbench.monitor.records import tables
from failbench.monitor.records.tables import Monitored
from failbench.monitor.signals import Level
from failbench.recording.campaign import Campaign, for_each
from failbench.recording.carrying import STEP_COLUMNS
from failbench.recording.fingerprint import code_hash
from failbench.recording.journal import JournalEntry, read_entry, write_entry
from failbench.recording.plan import PlannedRun, Setting
from failbench.recording.sandbox import RecorderError, RunReport, execute, fork_server

MONITOR: Final = Path(__file__).parents[1] / "monitor"
READS: Final = (  # they measure nothing, and are not in the fingerprint
    *("bounds.py", "breaks.py", "diagnosis.py", "endings.py", "invariants.py"),
    "budget.py",  # it measures less often, and never where runs are recorded
    *("integrations", "records", "stopping"),
)

LOOKS_AHEAD: Final = (0, 10)  # steps before a failure at which logs are read, besides the end


@dataclass(frozen=True)
class Unit:
    """A run to be monitored."""

    planned: PlannedRun
    entry: JournalEntry
    limit: int | None
    looked_at: int

    @property
    def looks(self) -> tuple[int, ...]:
        """The steps after which its log is read. A step is in the log when the next one is over."""
        return tuple(self.looked_at - ahead + 1 for ahead in LOOKS_AHEAD if self.looked_at >= ahead)

    @property
    def is_variant(self) -> bool:
        """Whether no run without a monitor is like it."""
        return self.planned.run_id != self.entry.run["run_id"]

    @property
    def begins_later(self) -> bool:
        """Whether its fault is switched on in mid-run."""
        declaration = self.planned.declaration
        return declaration is not None and declaration.onset == "mid_run"

    def from_start(self) -> Unit:
        """The variant whose fault is on from step 0."""
        nominal = replace(self.planned.nominal, onset_step=0)
        run_id = f"{self.planned.run_id}-from-start"
        planned = replace(self.planned, run_id=run_id, nominal=nominal)
        # When it will fail is not known: as long after its onset as the run that it varies.
        looked_at = self.looked_at - (self.planned.onset_step or 0)
        return replace(self, planned=planned, looked_at=looked_at)


@cache
def monitor_code() -> str:
    """Hash of what the monitor executes while a run trains."""
    paths = sorted(MONITOR.rglob("*.py"))
    modules = [each for each in paths if not {*each.relative_to(MONITOR).parts} & {*READS}]
    signals = (MONITOR / "data" / "signals.csv").read_text(encoding="utf-8")
    return hashlib.sha256((code_hash(modules) + signals).encode()).hexdigest()


def signals_fingerprint(run_fingerprint: str, level: Level) -> str:
    """Fingerprint of what a monitor measures in a run."""
    text = f"{run_fingerprint} {monitor_code()} {level} {LOOKS_AHEAD}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class SignalRecording:
    """Records the signals of the runs of a campaign."""

    def __init__(
        self, campaign: Campaign, level: Level, known: Monitored | None, *, from_start: bool = False
    ) -> None:
        self._campaign, self._level, self._from_start = campaign, level, from_start
        self.journal = campaign.journal.with_name(f"{campaign.journal.name}-signals")
        rows = [] if known is None else known.runs.select("run_id", "fingerprint").rows()
        self._known: dict[str, str] = dict(rows)

    def record(self, workers: int, show: Callable[[int, int, int], None]) -> Monitored:
        """Record what is missing; return what is recorded beside the signals known before."""
        units = [*self._units()]
        if self._from_start:
            units = [*self._variants(units)]
        missing = [unit for unit in units if not self._is_known(unit)]
        entries: list[JournalEntry] = []
        kept = len(units) - len(missing)
        show(kept, kept, len(units))
        self.start()

        def record(unit: Unit) -> None:
            entry = read_entry(self.journal, unit.planned.run_id)
            if entry is None or entry.run["fingerprint"] != self.fingerprint(unit):
                entry = self.execute(unit)
            entries.append(entry)
            show(kept + len(entries), kept, len(units))

        for_each(missing, record, workers, self._campaign.stop)
        return tables.monitored_of([(entry.run, entry.steps) for entry in entries])

    @property
    def setting(self) -> Setting:
        """The setting of its campaign."""
        return self._campaign.setting

    def start(self) -> None:
        """Prepare runs in the thread that starts all."""
        preloaded = (*self._campaign.outside.preloaded, "failbench.monitor.monitor")
        self._context = fork_server(preloaded)

    def units(self) -> list[Unit]:
        """All runs that may be monitored, and those with their faults on from step 0."""
        units = [*self._units()]
        return [*units, *self._variants(units)]

    @staticmethod
    def _variants(units: Iterable[Unit]) -> Iterator[Unit]:
        first = [unit for unit in units if unit.planned.seed == 0]
        yield from (unit.from_start() for unit in first if unit.begins_later)

    def _units(self) -> Iterator[Unit]:
        campaign = self._campaign
        for planned in campaign.successes:
            entry = campaign.keep(planned)
            if entry is not None:
                yield Unit(planned, entry, None, planned.nominal.onset_step)
        for pair, twin, failure in campaign.recorded_pairs():
            failed = failure.run["failure_step"]
            yield Unit(pair.twin, twin, None, failed)
            yield Unit(pair.failure, failure, twin.run["capacity_bytes"], failed)

    def fingerprint(self, unit: Unit) -> str:
        """That of what the monitor of today measures in a run."""
        of_run = unit.entry.run["fingerprint"] + (" from step 0" if unit.is_variant else "")
        return signals_fingerprint(of_run, self._level)

    def _is_known(self, unit: Unit) -> bool:
        run_id = unit.planned.run_id
        is_wanted_again = run_id in self._campaign.again
        return not is_wanted_again and self._known.get(run_id) == self.fingerprint(unit)

    def execute(self, unit: Unit) -> JournalEntry:
        """Execute a run with a monitor, and keep what it measured."""
        campaign, planned = self._campaign, unit.planned
        order = campaign.order(planned, unit.limit)
        watched = replace(order, level=self._level, looks=unit.looks)
        report = execute(self._context, watched, *campaign.patience, campaign.outside.training)
        if (history := report.history) is None:
            raise RecorderError(f"{planned.run_id}: the monitor of this run has written nothing.")
        entry = JournalEntry(self._row(unit, report, history), tables.signal_rows(history))
        write_entry(self.journal, entry)
        return entry

    def _row(self, unit: Unit, report: RunReport, history: History) -> dict[str, Any]:
        planned, setting = unit.planned, self._campaign.setting
        compared, equal = None, None
        if not unit.is_variant:
            compared, equal = compared_steps(unit.entry.steps, report.steps)
        return tables.monitored_row(
            history,
            {
                "run_id": planned.run_id,
                "kind": "from_start" if unit.is_variant else planned.kind,
                "scenario": planned.scenario.id if planned.scenario else None,
                "architecture": setting.architecture,
                "optimizer": setting.optimizer,
                "scale": setting.scale,
                "seed": planned.seed,
                "onset_step": planned.onset_step,
                "compared_steps": compared,
                "equal": equal,
                "fingerprint": self.fingerprint(unit),
            },
        )


def compared_steps(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]
) -> tuple[int, bool]:
    """How many steps two recordings share, but for an uneven end, and whether these are equal."""
    one, other = (
        pl.DataFrame(list(steps), schema=STEP_SCHEMA).select(STEP_COLUMNS)
        for steps in (first, second)
    )
    shared = min(one.height, other.height)
    if one.height != other.height:
        shared = max(0, shared - 1)
    return shared, one.head(shared).equals(other.head(shared))


def read_known_signals(folder: Path) -> Monitored | None:
    """The signals recorded before, or None for an empty folder."""
    return tables.read_monitored(folder) if (folder / "runs.parquet").exists() else None
