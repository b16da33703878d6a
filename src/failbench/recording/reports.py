"""Reports: what a run tells the campaign."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.connection import Connection

from failbench.recording.loop import TrainingRun, row_record


class Reports:
    """The reports of one run, whichever of its threads makes them."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._run: TrainingRun | None = None
        self._reported: int | None = None

    def send(self, kind: str, content: Mapping[str, object]) -> None:
        """Send one message."""
        with self._lock:
            self._channel.send_bytes(json.dumps([kind, content]).encode())

    def follow(self, run: TrainingRun) -> None:
        """Report the steps of a run, whose model is built."""
        self._run = run

    def step(self) -> None:
        """Report the step that is over."""
        assert self._run is not None
        self.send("step", row_record(self._run.row))
        self._reported = self._run.step

    def unfinished(self) -> None:
        """Report as much as there is of a step that is not over, if the run is in one."""
        run = self._run
        if run is None or self._reported == run.step:
            return
        row = replace(
            run.row,
            memory_bytes=max(run.row.memory_bytes, run.meter.read()),
            step_seconds=run.row.step_seconds or time.perf_counter() - run.step_started,
        )
        self.send("step", row_record(row))
