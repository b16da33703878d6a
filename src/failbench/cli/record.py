"""The command ``record``: runs campaigns one after the other until done or stopped."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import Architecture, Optimizer
from failbench.cli.causes import read_causes, refuse_telemetry_of_the_benchmark
from failbench.cli.paths import MONITORED, RECORDING_WORK, SCENARIOS, TELEMETRY
from failbench.cli.reference import params_file
from failbench.cli.shards import (
    INCOMPLETE,
    merge_shards,
    report_shard,
    stop_with_the_job,
    write_tables,
)
from failbench.cli.signals import record_signals
from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.monitor.signals import Level
from failbench.recording.plan import WHOLE, RecordParams, Setting, Shard
from failbench.recording.progress import Progress, seconds_left

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign


def record_settings(
    *,
    architecture: Architecture | None,
    optimizer: Optimizer | None,
    scale: str,
    device: str,
    only: Sequence[str] | None,
    seeds: int | None,
    again: Sequence[str],
    workers: int,
    minutes: float | None,
    output: Path | None,
    known: Path | None,
    scenarios: Path | None,
    faults: Sequence[str],
    params: Path | None,
    signals: Level | None = None,
    from_start: bool = False,
    shard: Shard | None = None,
    merge: bool = False,
) -> int:
    """Record the runs of params.yaml that are missing or out of date."""
    from failbench.recording.fault_modules import (
        import_faults,
        refuse_unregistered_faults,
        refuse_unusable_remedies,
    )
    from failbench.recording.sandbox import require_recording_extra

    if signals is not None and (shard is not None or merge):
        raise BadInputError(
            "command line",
            "--signals",
            "cannot be recorded in shards: they are of runs that are in the tables.",
            "Record and merge the runs first; the same command with --signals alone goes on where "
            "it was stopped.",
        )
    if from_start and signals is None:
        raise BadInputError(
            "command line",
            "--from-start",
            "means nothing without --signals.",
            "Say what is measured as well, --signals full say.",
        )
    causes = read_causes(scenarios, faults, only)
    own = causes.are_of_the_benchmark and not faults
    folder = (output or TELEMETRY) if own else refuse_telemetry_of_the_benchmark(output)
    file = params_file(params)
    section = read_section("record", RecordParams, file)
    refuse_unusable_remedies(causes.scenarios, section.remedies, file, causes.outside.signatures)
    require_recording_extra("cpu" if merge else device)
    import_faults(causes.outside.modules)
    refuse_unregistered_faults(causes.scenarios, causes.folder)
    settings = [
        replace(setting, device=device)
        for setting in section.planned()
        if setting.scale == scale
        and architecture in (None, setting.architecture)
        and optimizer in (None, setting.optimizer)
    ]
    if not settings:
        raise BadInputError(
            file,
            "record.settings",
            "names no setting of this architecture, optimizer and scale.",
            "Name it there, with its seeds and successes.",
        )
    if known is not None and not (known / "runs.parquet").exists():
        raise BadInputError(
            known, "--known", "holds no runs.parquet.", "Name a folder of telemetry."
        )
    detector = read_section("detector", DetectorParams, file)
    stop = threading.Event() if merge else stop_after(minutes)
    if shard is not None:
        stop_with_the_job(stop, causes.outside.preloaded)

    def campaign(setting: Setting) -> Campaign:
        from failbench.recording.campaign import Campaign
        from failbench.recording.fingerprint import corpus_cache
        from failbench.recording.journal import read_known

        return Campaign(
            setting,
            causes.scenarios,
            section if seeds is None else section.with_seeds(setting, seeds),
            detector,
            journal_folder(folder) / setting.name,
            corpus_cache(work_folder(folder)).resolve(),
            known=read_known(known or folder),
            again=frozenset(again),
            stop=stop,
            outside=causes.outside,
        )

    # Runs of other causes are added to a folder: what it holds of others may be all there is.
    whole = own and not only and seeds is None
    incomplete = 0
    for setting in settings:
        if merge:
            code = merge_shards(campaign(setting), folder, whole)
        else:
            code = _record_campaign(campaign(setting), workers, folder, whole, shard)
        if code not in (0, INCOMPLETE):
            return code
        incomplete = incomplete or code
        if signals is not None:
            monitored = MONITORED if folder == TELEMETRY else folder / MONITORED.name
            code = record_signals(
                campaign(setting), signals, workers, monitored, from_start=from_start
            )
            if code:
                return code
    return incomplete


def stop_after(minutes: float | None) -> threading.Event:
    """An event that is set by an interruption, or after some minutes."""
    stop = threading.Event()
    if minutes is not None:
        timer = threading.Timer(60 * minutes, stop.set)
        timer.daemon = True  # a finished campaign does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop


def work_folder(output: Path) -> Path:
    """Where the corpus is kept, and journals until their runs are in the tables.

    Beside the telemetry, unless the working directory is a project with scenarios of its own.
    """
    return RECORDING_WORK if SCENARIOS.is_dir() else output / RECORDING_WORK.name


def journal_folder(output: Path) -> Path:
    """A folder for journals that no other output folder shares."""
    if not SCENARIOS.is_dir():
        return work_folder(output)
    absolute = output.resolve()
    parent = Path.cwd() if absolute.is_relative_to(Path.cwd()) else "/"
    return RECORDING_WORK / absolute.relative_to(parent)


def _record_campaign(
    campaign: Campaign, workers: int, output: Path, whole: bool, shard: Shard | None
) -> int:
    """Record what is missing of one setting, or of a shard of it."""
    from failbench.recording.sandbox import RecorderError

    setting = campaign.setting
    started = time.monotonic()
    with progress_meter() as meter:
        reported: list[str] = []

        def show(progress: Progress) -> None:
            meter.show(
                f"{setting.name}: {progress.kept} kept, {progress.as_expected} as expected, "
                f"{len(progress.rejected)} rejected",
                progress.done,
                progress.planned,
                seconds_left(started, progress),
            )
            for run_id in progress.rejected[len(reported) :]:
                meter.say(f"rejected: {run_id}")
                reported.append(run_id)

        try:
            entries = campaign.record(workers, show, shard or WHOLE)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    if campaign.stop.is_set():
        print(f"Stopped after {len(entries)} runs. The same command goes on where this stopped.")
        return INTERRUPTED
    if shard is not None:
        return report_shard(campaign, shard)
    write_tables(campaign, entries, output, whole)
    return 0
