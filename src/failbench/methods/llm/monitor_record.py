"""The monitor's record of one run as a language model reads it: end, breaks, signals that were off.

A break is shown by its step, the signal, its value there and the statement of what must hold. Whose
invariant it is, is not shown: that is the answer that the monitor gives. Nor is anything that came
after the failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.methods.llm.record import (
    MonitorRecord,
    ShownBreak,
    abbreviated,
    number_text,
    visible,
)
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.llm.signals import END_SIGNALS
from failbench.monitor.invariants import Invariant
from failbench.monitor.records.verdicts import OWN
from failbench.monitor.records.versions import Rules

NOT_ENDED: Final = "none: the run had not ended at its failure"

ENDED_BY_NOTHING: Final = ("completed", "running")
"""Kinds of end of runs that failed before they ended, or never."""

RAISED: Final = ("it raised ", "the monitor raised ")
"""How reasons begin that turn a signal off while a run trains, at a step that no table has."""


def monitor_records(
    runs: pl.DataFrame,
    breaks: pl.DataFrame,
    ends: pl.DataFrame,
    rules: Rules,
    settings: LlmAgentsSettings,
) -> dict[str, MonitorRecord]:
    """What is shown of every monitored run that failed, by ``run_id``."""
    statements = {invariant.id: invariant for invariant in rules.invariants}
    own = breaks.filter(pl.col("bounds") == OWN).partition_by("run_id", as_dict=True)
    failed = ends.filter(pl.col("failure_step").is_not_null()).join(
        runs.select("run_id", "off"), on="run_id"
    )
    records = {}
    for run in failed.iter_rows(named=True):
        part = own.get((run["run_id"],), breaks.clear())
        by_failure = part.filter(pl.col("step") <= run["failure_step"])
        records[run["run_id"]] = MonitorRecord(
            _end(run, settings), _breaks(by_failure, statements), _off(run)
        )
    return records


def _end(run: Mapping[str, Any], settings: LlmAgentsSettings) -> dict[str, str]:
    """How the run ended, its parts limited in length; a missing error is left out."""
    if run["end_kind"] in ENDED_BY_NOTHING:
        return {END_SIGNALS[0].name: NOT_ENDED}
    parts = {"end_kind": run["end_kind"], "end_phase": run["end_phase"], "end_error": run["error"]}
    return {
        signal.name: abbreviated(visible(parts[signal.name]), settings.error_characters)
        for signal in END_SIGNALS
        if parts[signal.name]
    }


def _breaks(breaks: pl.DataFrame, known: Mapping[str, Invariant]) -> tuple[ShownBreak, ...]:
    """In order of steps; of the same step by name, as the catalogue's order is of components."""
    shown = []
    for row in breaks.iter_rows(named=True):
        if row["invariant"] not in known:
            raise BadInputError(
                "breaks",
                "invariant",
                f"{row['invariant']!r} is none of the version's.",
                "Take breaks and rules of one version.",
            )
        invariant = known[row["invariant"]]
        shown.append((row["step"], invariant.signal, invariant.statement, row["value"]))
    return tuple(
        ShownBreak(str(step), signal, number_text(value), statement)
        for step, signal, statement, value in sorted(shown, key=lambda each: each[:3])
    )


def _off(run: Mapping[str, Any]) -> tuple[str, ...]:
    """Signals that were off at the failure, as far as is known.

    Of a run that lived on, what an error turned off is left out: it may have come after the
    failure.
    """
    lived_on = run["end_kind"] in ENDED_BY_NOTHING
    return tuple(
        sorted(
            name
            for name, reason in json.loads(run["off"]).items()
            if not (lived_on and reason.startswith(RAISED))
        )
    )


def records_of(
    runs: pl.DataFrame, run_ids: Sequence[str], records: Mapping[str, MonitorRecord]
) -> dict[str, MonitorRecord]:
    """The monitor's records of some runs."""
    settings = {run["run_id"]: run for run in runs.iter_rows(named=True)}
    for run_id in run_ids:
        if run_id not in records:
            run = settings[run_id]
            scale = "" if run["scale"] == "small" else f" --scale {run['scale']}"
            raise BadInputError(
                "monitored runs",
                run_id,
                "was not monitored, or not judged since.",
                "Record it with `failbench record --signals full --architecture "
                f"{run['architecture']} --optimizer {run['optimizer']}{scale}`, then run "
                "`dvc repro --single-item invariants`.",
            )
    return {run_id: records[run_id] for run_id in run_ids}
