"""Recordings of two ranks as tables, and what was recorded of each run: read without PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_table, write_parquet
from failbench.monitor.history import History
from failbench.monitor.records.tables import (
    MONITORED_SCHEMA,
    RUNS,
    SIGNAL_SCHEMA,
    Monitored,
    histories,
)

SIGNALS: Final = "signals.parquet"
SUCCESS: Final = "success"  # stands for the cause of a run that has none
OF_HISTORY: Final = (  # columns of a monitored run that its history is read back from
    *("level", "every", "end_kind", "end_phase", "end_step", "error", "message", "off", "facts"),
)

RANK_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "rank": pl.Int32(),
        "kind": pl.String(),  # failure, twin, success
        "cause": pl.String(),  # null of successes; a twin has the cause that never begins
        "category": pl.String(),
        "seed": pl.Int32(),
        "reduction": pl.String(),  # what averages gradients: ddp, by_hand
        "guilty_rank": pl.Int32(),  # null of twins and successes, and where all ranks are
        "onset_step": pl.Int32(),  # null of twins and successes
        "planned_steps": pl.Int32(),
        "outcome": pl.String(),  # of the run: completed, or one of scenarios.Outcome
        "ending": pl.String(),  # of the rank: completed, exception, signal, timeout
        "ended_after": pl.Float64(),  # seconds after the first of the ranks
        "error_type": pl.String(),  # as raised, null without one
        "error_message": pl.String(),
        "exit_signal": pl.String(),
        "steps": pl.Int32(),  # that were over
        "step_seconds": pl.Float32(),  # median from the onset on, or the step of a twin's onset
        "validation_loss": pl.Float32(),  # the last one
        "weights": pl.String(),  # hash of the last weights, null unless it completed
        **{name: MONITORED_SCHEMA[name] for name in OF_HISTORY},
        "fingerprint": pl.String(),
    }
)
RANK_SIGNAL_SCHEMA: Final = pl.Schema(
    {"run_id": pl.String(), "rank": pl.Int32()}
    | {name: dtype for name, dtype in SIGNAL_SCHEMA.items() if name != "run_id"}
)


@dataclass(frozen=True)
class RankedRun:
    """A run on two ranks: its rows by rank, and what the monitor of each rank saw.

    A rank that ended before its monitor wrote anything has no history.
    """

    run_id: str
    rows: Mapping[int, Mapping[str, Any]]
    histories: Mapping[int, History]

    def __getitem__(self, column: str) -> Any:
        """A column that is the same of all ranks, as ``cause`` or ``guilty_rank``."""
        return next(iter(self.rows.values()))[column]


def write_runs(
    folder: Path, ranks: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
) -> None:
    """Write the two tables, of the row of each rank and what was measured there."""
    runs = pl.DataFrame([dict(row) for row, _ in ranks], schema=RANK_SCHEMA)
    measured = [
        {"run_id": row["run_id"], "rank": row["rank"], **step}
        for row, steps in ranks
        for step in steps
    ]
    signals = pl.DataFrame(measured, schema=RANK_SIGNAL_SCHEMA)
    write_parquet(runs.sort("run_id", "rank"), folder / RUNS)
    write_parquet(signals.sort("run_id", "rank", "step"), folder / SIGNALS)


def read_runs(folder: Path) -> list[RankedRun]:
    """Read all recorded runs, each with the histories of its ranks.

    Parameters
    ----------
    folder
        Where ``runs.parquet`` and ``signals.parquet`` are: ``data/ranks``.

    Raises
    ------
    BadInputError
        If a table is missing or is another one, a measurement has no run, or a healthy rank no
        measurement.
    """
    runs = read_table(folder / RUNS, RANK_SCHEMA)
    signals = read_table(folder / SIGNALS, RANK_SIGNAL_SCHEMA)
    remedy = "Restore both files from one commit, or record the run again."
    strangers = signals.join(runs, on=["run_id", "rank"], how="anti")
    if strangers.height:
        problem = f"the measurements of {strangers['run_id'][0]!r} have no run in {RUNS}."
        raise BadInputError(folder / SIGNALS, "run_id", problem, remedy)
    healthy = runs.filter(pl.col("kind") != "failure")
    mute = healthy.join(signals, on=["run_id", "rank"], how="anti")
    if mute.height:
        problem = f"a rank of {mute['run_id'][0]!r}, which did not fail, has no measurements."
        raise BadInputError(folder / SIGNALS, "run_id", problem, remedy)
    # a monitored run is that of one process, and both tables name it so
    name = pl.format("{}/{}", "run_id", "rank")
    alone = Monitored(
        runs.with_columns(name.alias("run_id")),
        signals.with_columns(name.alias("run_id")).drop("rank"),
    )
    found: dict[str, tuple[dict[int, dict[str, Any]], dict[int, History]]] = {}
    for row, history in histories(alone):
        row["run_id"] = row["run_id"].rpartition("/")[0]
        rows, seen = found.setdefault(row["run_id"], ({}, {}))
        rows[row["rank"]] = row
        if row["level"] is not None:
            seen[row["rank"]] = history
    return [RankedRun(run_id, *each) for run_id, each in found.items()]


def healthy_runs(runs: Iterable[RankedRun]) -> dict[str, list[Mapping[int, History]]]:
    """Logs of ranks of the healthy ones, by the cause that never begins; successes together."""
    causes: dict[str, list[Mapping[int, History]]] = {}
    for run in runs:
        if run["kind"] != "failure":
            causes.setdefault(run["cause"] or SUCCESS, []).append(run.histories)
    return causes
