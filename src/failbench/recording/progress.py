"""Progress of a campaign, and how long the rest of it may take."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass
class Progress:
    """Progress of a campaign, shown after every run."""

    planned: int
    done: int = 0
    kept: int = 0
    as_expected: int = 0
    rejected: list[str] = field(default_factory=list)


def seconds_left(started: float, progress: Progress) -> float:
    """Estimate of the remaining time from the runs that were executed."""
    executed = progress.done - progress.kept
    if executed <= 0:
        return math.nan
    return (time.monotonic() - started) / executed * (progress.planned - progress.done)
