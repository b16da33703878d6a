"""What the tables and the figure of the study of logs are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

COMPLETE: Final = "log_complete"
"""Complete logs alone, as if they were a model of their own."""

MODEL_LABELS: Final = {
    "log": "any log",
    COMPLETE: "complete log",
    "monitor": "monitor, logic alone",
    "monitor_bounds": "monitor, own bounds",
}

OURS: Final = "failbench_diagnose"

PEER_LABELS: Final = {
    OURS: "failbench, complete log, not told",
    "runmedic": "runmedic 0.1.1",
    "training_doctor": "training-doctor 0.1.0",
    "ml_training_debugger": "thresholds of ml-training-debugger",
}


@dataclass(frozen=True)
class Shown:
    """Results; see :mod:`failbench.studies.diagnose_logs.results`."""

    rates: pl.DataFrame
    alarms: pl.DataFrame
    floors: Mapping[str, float]
    risks: pl.DataFrame
    peers: pl.DataFrame
    evidence: pl.DataFrame
    evidence_logs: int
    seeds: int
    runs: int
    monitored: int
    formats_per_run: int
    repeats: int
    bins: int
    causes: int
    coverage: float
    confidence: float
