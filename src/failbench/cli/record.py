"""Runs campaigns one after the other until done or stopped, or puts together what shards did."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import Architecture, Optimizer
from failbench.cli.causes import (
    read_causes,
    refuse_telemetry_of_the_benchmark,
    stop_after,
)
from failbench.cli.options import POSITIVE, Faults, Minutes, Only, Params
from failbench.cli.places import (
    MONITORED,
    SCENARIOS,
    TELEMETRY,
    journal_folder,
    params_file,
    work_folder,
)
from failbench.cli.terminal import INTERRUPTED, recording_meter, seconds_left
from failbench.monitor.records.tables import write_monitored
from failbench.monitor.signals import Level
from failbench.recording.campaign import Campaign
from failbench.recording.fault_modules import (
    import_faults,
    refuse_unregistered_faults,
    refuse_unusable_remedies,
)
from failbench.recording.journal import JournalEntry, archive, read_known
from failbench.recording.plan import WHOLE, RecordParams, Setting, Shard
from failbench.recording.progress import Progress
from failbench.recording.sandbox import fork_server, require_recording_extra
from failbench.recording.signals import SignalRecording, read_known_signals

INCOMPLETE = 3
"""Exit status where runs are missing that another shard, or the same one once more, must record."""

_WARNINGS = (signal.SIGTERM, signal.SIGUSR2)
"""Signals that a scheduler sends to all processes of a job before it kills them."""

_MOST_NAMED = 20


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is recorded, of which causes, and where; a shard records its part of it."""

    architecture: Annotated[Architecture | None, Parameter(help="only this one")] = None
    optimizer: Annotated[Optimizer | None, Parameter(help="only this one")] = None
    scale: Literal["small", "paper"] = "small"
    device: Literal["cpu", "cuda"] = "cpu"
    only: Only = ()
    seeds: Annotated[
        int | None, Parameter(help="per scenario (default: params.yaml)"), POSITIVE
    ] = None
    again: Annotated[Sequence[str], Parameter(help="record these runs even if known")] = ()
    workers: Annotated[
        int | None, Parameter(help="runs at a time (default: processors)"), POSITIVE
    ] = None
    minutes: Minutes = None
    signals: Annotated[
        Level | None, Parameter(help="record once more what a monitor measures in each run")
    ] = None
    from_start: Annotated[
        bool, Parameter(help="with --signals: of failing runs with their faults on from step 0")
    ] = False
    output: Annotated[
        Path | None, Parameter(help=f"folder of telemetry (default: {TELEMETRY})")
    ] = None
    known: Annotated[Path | None, Parameter(help="telemetry to reuse (default: the output)")] = None
    scenarios: Annotated[Path | None, Parameter(help=f"their folder (default: {SCENARIOS})")] = None
    faults: Faults = ()
    params: Params = None


def record_settings(wanted: Wanted, shard: Shard | None = None, *, merge: bool = False) -> int:
    """Record the runs of params.yaml that are missing or out of date."""
    if wanted.signals is not None and (shard is not None or merge):
        raise BadInputError(
            "command line",
            "--signals",
            "cannot be recorded in shards: they are of runs that are in the tables.",
            "Record and merge the runs first; the same command with --signals alone goes on where "
            "it was stopped.",
        )
    if wanted.from_start and wanted.signals is None:
        raise BadInputError(
            "command line",
            "--from-start",
            "means nothing without --signals.",
            "Say what is measured as well, --signals full say.",
        )
    causes = read_causes(wanted.scenarios, wanted.faults, wanted.only)
    own = causes.are_of_the_benchmark and not wanted.faults
    folder = wanted.output or TELEMETRY
    if not own:
        folder = refuse_telemetry_of_the_benchmark(wanted.output)
    file = params_file(wanted.params)
    section = read_section("record", RecordParams, file)
    refuse_unusable_remedies(causes.scenarios, section.remedies, file, causes.outside.signatures)
    require_recording_extra("cpu" if merge else wanted.device)
    import_faults(causes.outside.modules)
    refuse_unregistered_faults(causes.scenarios, causes.folder)
    settings = [
        replace(setting, device=wanted.device)
        for setting in section.planned()
        if setting.scale == wanted.scale
        and wanted.architecture in (None, setting.architecture)
        and wanted.optimizer in (None, setting.optimizer)
    ]
    if not settings:
        raise BadInputError(
            file,
            "record.settings",
            "names no setting of this architecture, optimizer and scale.",
            "Name it there, with its seeds and successes.",
        )
    if wanted.known is not None and not (wanted.known / "runs.parquet").exists():
        raise BadInputError(
            wanted.known, "--known", "holds no runs.parquet.", "Name a folder of telemetry."
        )
    stop = threading.Event() if merge else stop_after(wanted.minutes)
    if shard is not None:
        _stop_with_the_job(stop, causes.outside.preloaded)
    workers = wanted.workers or 1

    def campaign(setting: Setting) -> Campaign:
        return causes.campaign(
            setting,
            section if wanted.seeds is None else section.with_seeds(setting, wanted.seeds),
            file,
            journal_folder(folder) / setting.name,
            work=work_folder(folder),
            known=read_known(wanted.known or folder),
            again=frozenset(wanted.again),
            stop=stop,
        )

    # Runs of other causes are added to a folder: what it holds of others may be all there is.
    whole = own and not wanted.only and wanted.seeds is None
    incomplete = 0
    for setting in settings:
        if merge:
            code = merge_shards(campaign(setting), folder, whole)
        else:
            code = _record_campaign(campaign(setting), workers, folder, whole, shard)
        if code not in (0, INCOMPLETE):
            return code
        incomplete = incomplete or code
        if wanted.signals is not None:
            monitored = MONITORED if folder == TELEMETRY else folder / MONITORED.name
            code = _record_signals(
                campaign(setting), wanted.signals, workers, monitored, wanted.from_start
            )
            if code:
                return code
    return incomplete


def _record_campaign(
    campaign: Campaign, workers: int, output: Path, whole: bool, shard: Shard | None
) -> int:
    """Record what is missing of one setting, or of a shard of it."""
    started = time.monotonic()
    reported: list[str] = []
    with recording_meter() as meter:

        def show(progress: Progress) -> None:
            meter.show(
                f"{campaign.setting.name}: {progress.kept} kept, {progress.as_expected} as "
                f"expected, {len(progress.rejected)} rejected",
                progress.done,
                progress.planned,
                seconds_left(started, progress.done, progress.planned, progress.kept),
            )
            for run_id in progress.rejected[len(reported) :]:
                meter.say(f"rejected: {run_id}")
                reported.append(run_id)

        entries = campaign.record(workers, show, shard or WHOLE)
    if campaign.stop.is_set():
        print(f"Stopped after {len(entries)} runs. The same command goes on where this stopped.")
        return INTERRUPTED
    if shard is not None:
        return _report_shard(campaign, shard)
    _write_tables(campaign, entries, output, whole)
    return 0


def _record_signals(
    campaign: Campaign, level: Level, workers: int, folder: Path, from_start: bool
) -> int:
    """Record the signals of a campaign's runs, and write what there is, also when interrupted."""
    name = campaign.setting.name
    recording = SignalRecording(campaign, level, read_known_signals(folder), from_start=from_start)
    started = time.monotonic()
    with recording_meter() as meter:

        def show(done: int, kept: int, planned: int) -> None:
            left = seconds_left(started, done, planned, kept)
            meter.show(f"{name}: signals, {kept} kept", done, planned, left)

        monitored = recording.record(workers, show)
    if monitored.runs.height:
        write_monitored(folder, name, monitored)
    if not campaign.stop.is_set():
        shutil.rmtree(recording.journal, ignore_errors=True)
    different = monitored.runs.filter(~pl.col("equal"))
    for run_id in different["run_id"]:
        print(f"{run_id}: the run with a monitor is not the one without.", file=sys.stderr)
    if campaign.stop.is_set():
        print(f"Stopped after {monitored.runs.height} runs; these are in {folder}.")
        return INTERRUPTED
    return 1 if different.height else 0


def _stop_with_the_job(stop: threading.Event, preloaded: Sequence[str]) -> None:
    """Let the warning of a scheduler stop a shard after its current runs, and end none of them.

    A run that such a signal ended would be recorded as one that failed of a signal. What is ignored
    when the fork server is started is ignored by it and by all runs.
    """
    for number in _WARNINGS:
        signal.signal(number, signal.SIG_IGN)
    fork_server(preloaded)
    forkserver.ensure_running()
    for number in _WARNINGS:
        signal.signal(number, lambda *_: stop.set())


def _report_shard(campaign: Campaign, shard: Shard) -> int:
    """Say whether a shard is recorded; 0, or ``INCOMPLETE`` if its pairs wait for other shards."""
    name = campaign.setting.name
    if not campaign.recorded(shard)[1]:
        print(f"{name}: shard {shard} is recorded.")
        return 0
    awaited = [run.run_id for run in campaign.successes if campaign.keep(run) is None]
    print(
        f"{name}: the healthy runs of shard {shard} are recorded. Its other runs are held to those "
        f"of all shards, of which {len(awaited)} are missing ({_listed(awaited)}): the same "
        f"command goes on once they are in {campaign.journal}."
    )
    return INCOMPLETE


def merge_shards(campaign: Campaign, output: Path, whole: bool) -> int:
    """Write the tables of a setting of which all runs are recorded, or name what is missing."""
    name = campaign.setting.name
    entries, missing = campaign.recorded()
    total = len(entries) + len(missing)
    if missing:
        print(f"{name}: {len(missing)} of {total} runs are missing: {_listed(missing)}.")
        return INCOMPLETE
    _write_tables(campaign, entries, output, whole)
    print(f"{name}: {total} runs are in {output}.")
    return 0


def _write_tables(
    campaign: Campaign, entries: list[JournalEntry], output: Path, whole: bool
) -> None:
    """Put what a campaign recorded into the tables, after which its journal is not needed."""
    archive(output, campaign.setting, campaign.tables(entries), whole)
    shutil.rmtree(campaign.journal, ignore_errors=True)


def _listed(names: Sequence[str]) -> str:
    beyond = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {beyond} more" if beyond > 0 else "")
