"""The option ``--signals`` of ``record``: what a monitor measures in runs that are recorded."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.monitor.records.tables import write_monitored
from failbench.monitor.signals import Level

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign


def record_signals(
    campaign: Campaign, level: Level, workers: int, folder: Path, *, from_start: bool = False
) -> int:
    """Record the signals of a campaign's runs, and write what there is, also when interrupted."""
    from failbench.recording.sandbox import RecorderError
    from failbench.recording.signals import SignalRecording, read_known_signals

    name = campaign.setting.name
    recording = SignalRecording(campaign, level, read_known_signals(folder), from_start=from_start)
    started = time.monotonic()
    with progress_meter() as meter:

        def show(done: int, kept: int, planned: int) -> None:
            of_one = (time.monotonic() - started) / max(1, done - kept)
            left = of_one * (planned - done) if done > kept else None
            meter.show(f"{name}: signals, {kept} kept", done, planned, left)

        try:
            monitored = recording.record(workers, show)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
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
