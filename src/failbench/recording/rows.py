"""The row of a recorded run: its plan, its reports, and its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from failbench.recording.plan import PlannedRun, Setting
from failbench.recording.sandbox import RunReport

_ALSO_EFFECTIVE = (
    "batch_size",
    "learning_rate",
    "width",
    "sequence_length",
    "warmup_steps",
    "clip_norm",
    "corpus_slice",
)
"""Drawn values whose columns begin with ``nominal_``, as the configuration has columns for the
effective values."""
_NOMINAL_ONLY = ("planned_steps", "capacity_multiple", "distractor")


def run_row(
    planned: PlannedRun,
    setting: Setting,
    report: RunReport,
    capacity_bytes: int,
    provenance: Mapping[str, str],
    fingerprint: str,
) -> dict[str, Any]:
    """The columns of ``telemetry.RUN_SCHEMA`` but for the detector's verdict.

    A fault may change the memory limit: what counts is the one that was in force at the end.
    """
    nominal = asdict(planned.nominal)
    return {
        "run_id": planned.run_id,
        "kind": planned.kind,
        "scenario": planned.scenario.id if planned.scenario else None,
        "twin_of": planned.twin_of,
        **asdict(setting),
        "seed": planned.seed,
        "draw": planned.draw,
        "ending": report.ending,
        "onset_step": planned.onset_step,
        "steps": len(report.steps),
        "exit_signal": report.exit_signal,
        **{f"nominal_{name}": nominal[name] for name in _ALSO_EFFECTIVE},
        **{name: nominal[name] for name in _NOMINAL_ONLY},
        "capacity_bytes": report.capacity_bytes or capacity_bytes,
        **report.configuration,
        **report.error,
        **provenance,
        "fingerprint": fingerprint,
        "wall_seconds": report.wall_seconds,
    }
