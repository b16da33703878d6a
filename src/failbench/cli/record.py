"""Recording: causes of the benchmark or of others, and campaigns of them, one after the other."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import Architecture, Optimizer, Scenario, read_scenarios
from failbench.base.workers import available_workers
from failbench.cli import places
from failbench.cli.places import (
    POSITIVE,
    SCENARIOS,
    TELEMETRY,
    Faults,
    Minutes,
    Only,
    Params,
    known_reference,
    refused,
)
from failbench.cli.terminal import INTERRUPTED, recording_meter
from failbench.monitor.signals import Level

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign, Progress
    from failbench.recording.fault_modules import OutsideFaults
    from failbench.recording.journal import JournalEntry
    from failbench.recording.plan import RecordParams, Setting, Shard

INCOMPLETE = 3  # exit status: another shard, or this one once more, must record what is missing
_WARNINGS = (signal.SIGTERM, signal.SIGUSR2)  # what a scheduler sends to a job before it kills it

_MOST_NAMED = 20
_SEED = 0  # of the sample that is measured again before fingerprints are carried over


@dataclass(frozen=True)
class Causes:
    """Scenarios, and the faults that they may name beside those of the package."""

    folder: Path
    scenarios: tuple[Scenario, ...]
    outside: OutsideFaults

    @property
    def are_of_the_benchmark(self) -> bool:
        """Whether the scenarios are those of the working directory's checkout."""
        return self.folder.resolve() == SCENARIOS.resolve()

    def campaign(
        self,
        setting: Setting,
        record: RecordParams,
        file: Path,
        output: Path,
        journal: Path | None = None,
        **options: Any,
    ) -> Campaign:
        """The recording of runs in a setting; ``journal`` keeps what no table of ``output`` has."""
        from failbench.base.detector import DetectorParams
        from failbench.recording.campaign import Campaign
        from failbench.recording.fingerprint import corpus_cache

        detector = read_section("detector", DetectorParams, file)
        corpus = corpus_cache(places.work_folder(output)).resolve()
        journal = journal or places.journal_folder(output) / setting.name
        options["outside"] = self.outside
        return Campaign(setting, self.scenarios, record, detector, journal, corpus, **options)


def read_causes(
    folder: Path | None, faults: Sequence[str] = (), only: Sequence[str] = ()
) -> Causes:
    """Read scenarios and modules of faults, and hold them against each other."""
    from failbench.recording.fault_modules import (
        file_of,
        read_outside_faults,
        refuse_unusable_faults,
    )

    folder = SCENARIOS if folder is None else folder
    if not folder.is_dir():
        remedy = "Name a folder of files <category>/<id>.json with --scenarios."
        raise BadInputError(folder, "(folder)", "contains no scenario files.", remedy)
    scenarios = read_scenarios(folder)
    if unknown := set(only) - {scenario.id for scenario in scenarios}:
        problem = f"there is no scenario {min(unknown)!r}."
        raise BadInputError(folder, "id", problem, "Name an existing scenario.")
    if only:
        scenarios = tuple(scenario for scenario in scenarios if scenario.id in only)
    causes = Causes(folder, scenarios, read_outside_faults(faults))
    reference = None if causes.are_of_the_benchmark else known_reference()
    if reference is not None and folder.resolve() != reference.scenarios.resolve():
        # the benchmark's methods have learnt from runs of these names
        taken = {scenario.id for scenario in read_scenarios(reference.scenarios)}
        for scenario in scenarios:
            if scenario.id in taken:
                problem = f"{scenario.id!r} is the id of a scenario of the benchmark."
                remedy = "Give each cause an id of its own."
                raise BadInputError(file_of(scenario, folder), "id", problem, remedy)
    refuse_unusable_faults(scenarios, folder, causes.outside.signatures)
    return causes


def _folder_of_others(output: Path | None) -> Path:
    remedy = "Name another folder with --output."
    if output is None:
        raise refused("--output", "is needed for other causes.", remedy)
    reference = known_reference()
    roots = (Path(), *(() if reference is None else (reference.root,)))
    if output.resolve() in {(root / TELEMETRY).resolve() for root in roots}:
        problem = "is for the runs of the benchmark alone."
        raise BadInputError(output, "--output", problem, remedy)
    return output


def stop_after(minutes: float | None) -> threading.Event:
    """An event that is set by an interruption, or after some minutes."""
    stop = threading.Event()
    if minutes is not None:
        timer = threading.Timer(60 * minutes, stop.set)
        timer.daemon = True  # a finished campaign does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is recorded, of which causes, and where; a shard records its part of it."""

    architecture: Annotated[Architecture | None, Parameter(help="only this one")] = None
    optimizer: Annotated[Optimizer | None, Parameter(help="only this one")] = None
    scale: Literal["small", "paper"] = "small"
    device: Literal["cpu", "cuda"] = "cpu"
    kinds: Annotated[
        Sequence[Literal["mamba", "cnn", "vit"]],
        Parameter(help="these other kinds of network, of the section kinds of params.yaml"),
    ] = ()
    only: Only = ()
    seeds: Annotated[
        int | None, Parameter(help="per scenario (default: params.yaml)"), POSITIVE
    ] = None
    again: Annotated[Sequence[str], Parameter(help="record these runs even if recorded")] = ()
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
    carry: Annotated[
        int | None,
        Parameter(
            help="with --signals: renew fingerprints if so many runs, drawn, are equal again"
        ),
        POSITIVE,
    ] = None
    former: Annotated[
        Path | None, Parameter(help="with --carry: signals that the former code measured here")
    ] = None
    output: Annotated[
        Path | None, Parameter(help=f"folder of telemetry (default: {TELEMETRY})")
    ] = None
    known: Annotated[Path | None, Parameter(help="telemetry to reuse (default: the output)")] = None
    scenarios: Annotated[Path | None, Parameter(help=f"their folder (default: {SCENARIOS})")] = None
    faults: Faults = ()
    params: Params = None


def record_settings(wanted: Wanted, shard: Shard | None = None, *, merge: bool = False) -> int:
    """Record the runs of params.yaml that are missing or out of date."""
    from failbench.recording import fault_modules
    from failbench.recording.journal import read_known
    from failbench.recording.plan import RecordParams
    from failbench.recording.sandbox import require_recording_extra

    if wanted.signals is not None and (shard is not None or merge):
        raise refused(
            "--signals",
            "cannot be recorded in shards: they are of runs that are in the tables.",
            "Record and merge the runs first; the same command with --signals alone goes on where "
            "it was stopped.",
        )
    for option, given in (("--from-start", wanted.from_start), ("--carry", wanted.carry)):
        if given and wanted.signals is None:
            remedy = "Say what is measured as well, --signals full say."
            raise refused(option, "means nothing without --signals.", remedy)
    causes = read_causes(wanted.scenarios, wanted.faults, wanted.only)
    own = causes.are_of_the_benchmark and not wanted.faults
    folder = (wanted.output or TELEMETRY) if own else _folder_of_others(wanted.output)
    file = places.params_file(wanted.params)
    section = read_section("record", RecordParams, file)
    fault_modules.refuse_unusable_remedies(
        causes.scenarios, section.remedies, file, causes.outside.signatures
    )
    require_recording_extra("cpu" if merge else wanted.device)
    fault_modules.import_faults(causes.outside.modules)
    fault_modules.refuse_unregistered_faults(causes.scenarios, causes.folder)
    settings = [
        replace(setting, device=wanted.device)
        for setting in section.planned()
        if setting.scale == wanted.scale
        and wanted.architecture in (None, setting.architecture)
        and wanted.optimizer in (None, setting.optimizer)
    ]
    if not settings:
        problem = "names no setting of this architecture, optimizer and scale."
        remedy = "Name it there, with its seeds and successes."
        raise BadInputError(file, "record.settings", problem, remedy)
    if wanted.known is not None and not (wanted.known / "runs.parquet").exists():
        problem = "contains no runs.parquet."
        raise BadInputError(wanted.known, "--known", problem, "Name a folder of telemetry.")
    stop = threading.Event() if merge else stop_after(wanted.minutes)
    if shard is not None:
        _stop_with_the_job(stop, causes.outside.preloaded)
    workers = wanted.workers or available_workers()

    def campaign(setting: Setting) -> Campaign:
        return causes.campaign(
            setting,
            section if wanted.seeds is None else section.with_seeds(setting, wanted.seeds),
            file,
            folder,
            known=read_known(wanted.known or folder),
            again=frozenset(wanted.again),
            stop=stop,
        )

    recorded = places.MONITORED if folder == TELEMETRY else folder / places.MONITORED.name
    if wanted.signals is not None and wanted.carry is not None:
        campaigns = [campaign(setting) for setting in settings]
        former = wanted.former
        return _carry_signals(
            campaigns, wanted.signals, wanted.carry, workers, recorded, former, stop
        )
    # Runs of other causes are added to a folder: what it holds of others may be all there is.
    whole = own and not wanted.only and wanted.seeds is None
    incomplete = 0
    for setting in settings:
        if merge:
            code = merge_shards(campaign(setting), folder, whole)
        else:
            code = record_campaign(campaign(setting), workers, folder, whole, shard)
        if code not in (0, INCOMPLETE):
            return code
        incomplete = incomplete or code
        if wanted.signals is not None:
            level, from_start = wanted.signals, wanted.from_start
            if code := record_signals(campaign(setting), level, workers, recorded, from_start):
                return code
    return incomplete


def record_campaign(
    campaign: Campaign, workers: int, output: Path, whole: bool, shard: Shard | None
) -> int:
    """Record the missing runs of a campaign, or of a shard, and write their tables."""
    from failbench.recording.plan import WHOLE

    reported: list[str] = []
    with recording_meter() as meter:

        def show(progress: Progress) -> None:
            said = (
                f"{campaign.setting.name}: {progress.kept} kept, {progress.as_expected} as "
                f"expected, {len(progress.rejected)} rejected"
            )
            meter.show(said, progress.done, progress.planned, progress.kept)
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


def record_signals(
    campaign: Campaign, level: Level, workers: int, folder: Path, from_start: bool
) -> int:
    """Record once more what a monitor measures in the runs of a campaign."""
    from failbench.monitor.records.tables import write_monitored
    from failbench.recording.signals import SignalRecording, read_known_signals

    name = campaign.setting.name
    recording = SignalRecording(campaign, level, read_known_signals(folder), from_start=from_start)
    with recording_meter() as meter:

        def show(done: int, kept: int, planned: int) -> None:
            meter.show(f"{name}: signals, {kept} kept", done, planned, kept)

        monitored = recording.record(workers, show)
    if monitored.runs.height:
        write_monitored(folder, name, monitored)
    if not campaign.stop.is_set():
        shutil.rmtree(recording.journal, ignore_errors=True)
    different = monitored.runs.filter(equal=False)["run_id"]
    for run_id in different:
        print(f"{run_id}: the run with a monitor is not the one without.", file=sys.stderr)
    if campaign.stop.is_set():
        print(f"Stopped after {monitored.runs.height} runs; these are in {folder}.")
        return INTERRUPTED
    return 1 if len(different) else 0


def _carry_signals(
    campaigns: Sequence[Campaign],
    level: Level,
    sample: int,
    workers: int,
    folder: Path,
    former: Path | None,
    stop: threading.Event,
) -> int:
    from failbench.recording.carried_signals import Carrying, carry_over
    from failbench.recording.signals import SignalRecording, read_known_signals

    known = read_known_signals(folder)
    if known is None:
        raise BadInputError(folder, "(folder)", "contains no signals.", "Record them first.")
    recordings = [SignalRecording(campaign, level, known) for campaign in campaigns]
    carrying = Carrying(recordings, known)
    if not carrying.outdated:
        print("No fingerprint is to be carried over.")
        return 0
    before = None if former is None else read_known_signals(former)
    rows = carrying.repeated(sample, _SEED, workers, stop, before)
    for recording in recordings:
        shutil.rmtree(recording.journal, ignore_errors=True)
    different = [row for row in rows if row["difference"] is not None]
    for row in different:
        print(f"{row['run_id']}: {row['difference']}.")
    if stop.is_set() or different or not rows:
        print("No file was changed.")
        return INTERRUPTED if stop.is_set() else 1
    carry_over(folder, known, carrying.outdated, rows)
    values = sum(row["values_compared"] for row in rows)
    print(
        f"{len(rows)} of {len(carrying.outdated)} runs were measured again and are equal in "
        f"{values} values; the fingerprints of {len(carrying.outdated)} were carried over."
    )
    return 0


def _stop_with_the_job(stop: threading.Event, preloaded: Sequence[str]) -> None:
    """Let the warning of a scheduler stop a shard after its current runs, and end none of them."""
    # A run ended by such a signal would count as failed of it. What is ignored when the fork server
    # is started is ignored by it and by all runs.
    from multiprocessing import forkserver

    from failbench.recording.sandbox import fork_server

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
    from failbench.recording.journal import archive

    archive(output, campaign.setting, campaign.tables(entries), whole)
    shutil.rmtree(campaign.journal, ignore_errors=True)


def _listed(names: Sequence[str]) -> str:
    beyond = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {beyond} more" if beyond > 0 else "")
