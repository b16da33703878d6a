"""A run whose steps are timed without the time that other processes of the machine took."""

# Steps of a few milliseconds on a machine that others use wait for a processor as often as they
# compute. What a step waits for by itself, a disk or a lock, is in its time as in other recordings.

from __future__ import annotations

from pathlib import Path
from typing import Final

from failbench.recording.loop import TrainingRun

_WAITED: Final = Path("/proc/thread-self/schedstat")
_NANOSECONDS: Final = 1e-9


class OwnTimeRun(TrainingRun):
    """The recorder's run, with steps in seconds of its own."""

    _waited = 0.0

    def train_step(self) -> None:
        """One optimization step; its validation is timed no more than in other recordings."""
        before = waited()
        try:
            super().train_step()
        finally:
            self.row.step_seconds = max(0.0, self.row.step_seconds - (self._waited - before))

    def _sample_memory(self) -> None:
        super()._sample_memory()  # the last thing within a step that is timed
        if not self.row.step_seconds:
            self._waited = waited()


def waited() -> float:
    """Seconds that this thread was ready to run and another one did."""
    return int(_WAITED.read_text(encoding="ascii").split()[1]) * _NANOSECONDS
