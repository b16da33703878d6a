"""The command ``record``: runs campaigns one after the other until done or stopped."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from failbench.commands.paths import RECORDING_WORK, SCENARIOS
from failbench.commands.terminal import INTERRUPTED, progress_bar
from failbench.detector import DetectorParams
from failbench.errors import BadInputError
from failbench.params import PARAMS, read_section
from failbench.recording.plan import RecordParams, Setting
from failbench.scenarios import Architecture, Optimizer, Scenario, read_scenarios

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign, Progress


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
    output: Path,
    known: Path | None,
) -> int:
    """Record the runs of params.yaml that are missing or out of date.

    Parameters
    ----------
    architecture, optimizer
        Settings to record; None takes all.
    scale
        Size of the models.
    device
        Training device.
    only
        Ids of the scenarios to record; None takes all.
    seeds
        Seeds per scenario; None takes those of params.yaml.
    again
        Ids of runs to record even if they are known.
    workers
        Number of runs to record in parallel.
    minutes
        Time after which to stop, once the current runs are finished; None never stops.
    output
        Folder of telemetry to write.
    known
        Folder of telemetry to reuse; None takes ``output``.

    Returns
    -------
    int
        Exit status: 1 if the recorder fails, ``INTERRUPTED`` if it is stopped.

    Raises
    ------
    BadInputError
        If the recorder is not installed, a selection is empty, or a file cannot be read.
    """
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra(device)
    scenarios = _chosen_scenarios(only)
    params = read_section("record", RecordParams, PARAMS)
    settings = [
        replace(setting, device=device)
        for setting in params.planned()
        if setting.scale == scale
        and architecture in (None, setting.architecture)
        and optimizer in (None, setting.optimizer)
    ]
    if not settings:
        raise BadInputError(
            "params.yaml",
            "record.settings",
            "names no setting of this architecture, optimizer and scale.",
            "Name it there, with its seeds and successes.",
        )
    if known is not None and not (known / "runs.parquet").exists():
        raise BadInputError(
            known, "--known", "holds no runs.parquet.", "Name a folder of telemetry."
        )
    stop = _stop_after(minutes)

    def campaign(setting: Setting) -> Campaign:
        from failbench.recording.archive import read_known
        from failbench.recording.campaign import Campaign
        from failbench.recording.corpus_cache import corpus_cache

        return Campaign(
            setting,
            scenarios,
            params if seeds is None else params.with_seeds(setting, seeds),
            read_section("detector", DetectorParams, PARAMS),
            _journal(output) / setting.name,
            corpus_cache(RECORDING_WORK).resolve(),
            known=read_known(known or output),
            again=frozenset(again),
            stop=stop,
        )

    whole = not only and seeds is None
    codes = (_record_campaign(campaign(setting), workers, output, whole) for setting in settings)
    return next((code for code in codes if code != 0), 0)


def _chosen_scenarios(only: Sequence[str] | None) -> tuple[Scenario, ...]:
    scenarios = read_scenarios(SCENARIOS)
    if not only:
        return scenarios
    unknown = set(only) - {scenario.id for scenario in scenarios}
    if unknown:
        raise BadInputError(
            SCENARIOS,
            "id",
            f"there is no scenario {min(unknown)!r}.",
            "Name an existing scenario.",
        )
    return tuple(scenario for scenario in scenarios if scenario.id in only)


def _stop_after(minutes: float | None) -> threading.Event:
    """An event that is set by an interruption, or after some minutes."""
    stop = threading.Event()
    if minutes is not None:
        timer = threading.Timer(60 * minutes, stop.set)
        timer.daemon = True  # a finished campaign does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop


def _journal(output: Path) -> Path:
    """A folder for journals that no other output folder shares."""
    absolute = output.resolve()
    parent = Path.cwd() if absolute.is_relative_to(Path.cwd()) else "/"
    return RECORDING_WORK / absolute.relative_to(parent)


def _record_campaign(campaign: Campaign, workers: int, output: Path, whole: bool) -> int:
    """Record what is missing of one setting."""
    from failbench.recording.archive import archive
    from failbench.recording.campaign import seconds_left
    from failbench.recording.sandbox import RecorderError

    setting = campaign.setting
    started = time.monotonic()
    with progress_bar() as bar:
        task = bar.add_task("recording", total=None)
        reported: list[str] = []

        def show(progress: Progress) -> None:
            remaining = seconds_left(started, progress)
            bar.update(
                task,
                total=progress.planned,
                completed=progress.done,
                description=f"{setting.name}: {progress.kept} kept, {progress.as_expected} as "
                f"expected, {len(progress.rejected)} rejected, {remaining / 60:.0f} min left",
            )
            for run_id in progress.rejected[len(reported) :]:
                bar.console.print(f"rejected: {run_id}")
                reported.append(run_id)

        try:
            entries = campaign.record(workers, show)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    if campaign.stop.is_set():
        print(f"Stopped after {len(entries)} runs. The same command goes on where this stopped.")
        return INTERRUPTED
    archive(output, setting, campaign.tables(entries), whole)
    # Its runs are in the tables now.
    shutil.rmtree(campaign.journal, ignore_errors=True)
    return 0
