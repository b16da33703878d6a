"""Measure: documented rules held against every run of the reference setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from failbench.peers.alarms import alarm_table
from failbench.peers.answers import skill_verdicts
from failbench.prediction.slices import ReferenceStudy
from failbench.telemetry import Telemetry


@dataclass(frozen=True)
class Measured:
    """What rules and the skill's thresholds say of the runs."""

    alarms: pl.DataFrame
    skill: pl.DataFrame


def measure(telemetry: Telemetry, reference: ReferenceStudy, factors: Sequence[float]) -> Measured:
    """Hold all rules against all runs of the reference setting but remedies."""
    selected = telemetry.select(
        (pl.col("architecture") == reference.architecture)
        & (pl.col("optimizer") == reference.optimizer)
        & (pl.col("scale") == reference.scale)
        & (pl.col("kind") != "remedy")
    )
    runs = selected.runs["run_id"]
    return Measured(alarm_table(selected, factors), skill_verdicts(selected.steps, runs))
