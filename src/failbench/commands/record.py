"""The command ``record``: a campaign after another, until all are done or one is stopped."""

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

from failbench.commands.paths import SCENARIOS, WORK
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
        Of the settings to record; None takes all.
    scale
        Of the models.
    device
        What they are trained on.
    only
        Ids of the scenarios to record; None takes all.
    seeds
        How many a scenario is recorded with; None leaves it to params.yaml.
    again
        Ids of runs to record although they are known.
    workers
        How many runs are recorded at a time.
    minutes
        After how long to stop, the runs under way being finished; None never stops.
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
        If the recorder is not installed, a choice fits nothing, or a file cannot be read.
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
            corpus_cache(WORK).resolve(),
            known=read_known(known or output),
            again=frozenset(again),
            stop=stop,
        )

    whole = not only and seeds is None
    codes = (_record_campaign(campaign(one), workers, output, whole) for one in settings)
    return next((code for code in codes if code != 0), 0)


def _chosen_scenarios(only: Sequence[str] | None) -> tuple[Scenario, ...]:
    scenarios = read_scenarios(SCENARIOS)
    if not only:
        return scenarios
    unknown = set(only) - {one.id for one in scenarios}
    if unknown:
        raise BadInputError(
            SCENARIOS,
            "id",
            f"there is no scenario {min(unknown)!r}.",
            "Name one that is there.",
        )
    return tuple(one for one in scenarios if one.id in only)


def _stop_after(minutes: float | None) -> threading.Event:
    """What is set by an interruption, and after so long."""
    stop = threading.Event()
    if minutes is not None:
        timer = threading.Timer(60 * minutes, stop.set)
        timer.daemon = True  # a campaign that is done does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    return stop


def _journal(output: Path) -> Path:
    """A folder for journals that no other output folder shares."""
    place = output.resolve()
    return WORK / place.relative_to(Path.cwd() if place.is_relative_to(Path.cwd()) else "/")


def _record_campaign(campaign: Campaign, workers: int, output: Path, whole: bool) -> int:
    """Record what is missing of one setting."""
    from failbench.recording.archive import archive
    from failbench.recording.campaign import seconds_left
    from failbench.recording.sandbox import RecorderError

    setting = campaign.setting
    started = time.monotonic()
    with progress_bar() as bar:
        task = bar.add_task("recording", total=None)
        printed: list[str] = []

        def show(progress: Progress) -> None:
            left = seconds_left(started, progress)
            bar.update(
                task,
                total=progress.planned,
                completed=progress.done,
                description=f"{setting.name}: {progress.kept} kept, {progress.as_expected} as "
                f"expected, {len(progress.rejected)} rejected, {left / 60:.0f} min left",
            )
            for run_id in progress.rejected[len(printed) :]:
                bar.console.print(f"rejected: {run_id}")
                printed.append(run_id)

        try:
            entries = campaign.record(workers, show)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    if campaign.stop.is_set():
        print(f"Stopped after {len(entries)} runs. The same command goes on where this stopped.")
        return INTERRUPTED
    archive(output, setting, campaign.tables(entries), whole)
    # What there was of it is in the tables now.
    shutil.rmtree(campaign.journal, ignore_errors=True)
    return 0
