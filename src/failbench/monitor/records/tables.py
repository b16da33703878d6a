"""Monitored runs as tables, by setting, and how wide the bounds of its healthy ones must be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_table, write_parquet
from failbench.monitor.bounds import Reach
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import Kind
from failbench.monitor.signals import SIGNAL_NAMES

MONITORED_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "kind": pl.String,  # failure, twin, success; from_start: faulty from step 0
        "scenario": pl.String,  # null for successful runs
        "architecture": pl.String,
        "optimizer": pl.String,
        "scale": pl.String,
        "seed": pl.Int32,
        "onset_step": pl.Int32,  # null for twins and successful runs
        "level": pl.String,
        "every": pl.Int32,  # steps from one check to the next
        "end_kind": pl.String,
        "end_phase": pl.String,
        "end_step": pl.Int32,
        "error": pl.String,  # null without one
        "message": pl.String,
        "off": pl.String,  # JSON: signals that were not measured, with the reason
        "facts": pl.String,  # JSON: what the log knows of the run
        "compared_steps": pl.Int32,  # with the run without monitor; null where there is none
        "equal": pl.Boolean,  # whether every deterministic column of these was equal
        "fingerprint": pl.String,
    }
)

SIGNAL_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "step": pl.Int32,
        # Every check, every step in which an exact signal changed, and the last steps. A log has
        # six digits of most values, and these hold seven.
        **dict.fromkeys(SIGNAL_NAMES, pl.Float32),  # null where it was not measured
    }
)

RUNS: Final = "runs.parquet"
SIGNALS: Final = "signals"


@dataclass(frozen=True)
class Monitored:
    """The two tables, sorted by key."""

    runs: pl.DataFrame
    signals: pl.DataFrame

    def select(self, predicate: pl.Expr) -> Monitored:
        """Keep the runs that satisfy a predicate over the run columns, with their signals."""
        runs = self.runs.filter(predicate)
        signals = self.signals.join(runs.select("run_id"), on="run_id", how="semi")
        return Monitored(runs, signals)


def monitored_row(history: History, of_run: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a run: what its log says of it, and the other columns as given."""
    end = asdict(history.end)
    return {
        **dict.fromkeys(MONITORED_SCHEMA),
        "level": history.level,
        "every": history.every,
        **{f"end_{name}": end[name] for name in ("kind", "phase", "step")},
        **{name: end[name] or None for name in ("error", "message")},
        "off": json.dumps(dict(history.off), sort_keys=True),
        "facts": json.dumps(dict(history.facts), sort_keys=True),
        **of_run,
    }


def signal_rows(history: History) -> list[dict[str, Any]]:
    """The measurements of a run, one mapping per step."""
    return [{"step": row.step, **row.values} for row in history.rows]


def monitored_of(rows: list[tuple[dict[str, Any], list[dict[str, Any]]]]) -> Monitored:
    """The two tables of some runs, each given by its row and its measurements."""
    runs = pl.DataFrame([run for run, _ in rows], schema=MONITORED_SCHEMA)
    frames = [
        pl.DataFrame([{"run_id": run["run_id"], **row} for row in measured], schema=SIGNAL_SCHEMA)
        for run, measured in rows
    ]
    signals = pl.concat([SIGNAL_SCHEMA.to_frame(), *frames])
    return Monitored(runs.sort("run_id"), signals.sort("run_id", "step"))


def histories(monitored: Monitored) -> Iterator[tuple[dict[str, Any], History]]:
    """The row of each run, and its history as a log would hold it."""
    parts = monitored.signals.partition_by("run_id", as_dict=True, include_key=False)
    for run in monitored.runs.to_dicts():
        part = parts.get((run["run_id"],), pl.DataFrame())
        rows = []
        for record in part.iter_rows(named=True):
            step = record.pop("step")
            rows.append(Row(step, {name: v for name, v in record.items() if v is not None}))
        facts, off = json.loads(run["facts"]), json.loads(run["off"])
        yield run, History(run["level"], run["every"], facts, off, tuple(rows), end_of(run))


def end_of(run: Mapping[str, Any]) -> End:
    """How a run ended, from its row."""
    error, message = run["error"] or "", run["message"] or ""
    return End(run["end_kind"], run["end_phase"], run["end_step"], error, message)


def together(parts: Iterable[Monitored]) -> Monitored:
    """Runs of several settings as two tables."""
    parts = list(parts)
    runs = pl.concat([MONITORED_SCHEMA.to_frame(), *(part.runs for part in parts)])
    signals = pl.concat([SIGNAL_SCHEMA.to_frame(), *(part.signals for part in parts)])
    return Monitored(runs.sort("run_id"), signals.sort("run_id", "step"))


def read_monitored(folder: Path) -> Monitored:
    """Read both tables of a folder."""
    runs = read_table(folder / RUNS, MONITORED_SCHEMA)
    paths = sorted((folder / SIGNALS).glob("*.parquet"))
    signals = pl.concat(
        [SIGNAL_SCHEMA.to_frame(), *(read_table(path, SIGNAL_SCHEMA) for path in paths)]
    )
    remedy = "Restore both files from one commit, or record the run again."
    strangers = signals.join(runs, on="run_id", how="anti")
    if strangers.height:
        problem = f"the measurements of {strangers['run_id'][0]!r} have no run in {RUNS}."
        raise BadInputError(folder / SIGNALS, "run_id", problem, remedy)
    # others may fail before anything is measured
    learnt = runs.filter(pl.col("kind").is_in(["twin", "success"]))
    mute = learnt.join(signals, on="run_id", how="anti")
    if mute.height:
        problem = f"{mute['run_id'][0]!r} did not fail, and has no measurements."
        raise BadInputError(folder / SIGNALS, "run_id", problem, remedy)
    return Monitored(runs.sort("run_id"), signals.sort("run_id", "step"))


def write_monitored(folder: Path, setting: str, monitored: Monitored) -> None:
    """Write the runs of one setting, in place of those of the same ids; others are kept."""
    ids = monitored.runs["run_id"]
    runs, signals = monitored.runs, monitored.signals
    path = folder / SIGNALS / f"{setting}.parquet"
    if path.exists():
        before = read_table(path, SIGNAL_SCHEMA)
        signals = pl.concat([before.filter(~pl.col("run_id").is_in(ids.implode())), signals])
    if (folder / RUNS).exists():
        known = read_table(folder / RUNS, MONITORED_SCHEMA)
        runs = pl.concat([known.filter(~pl.col("run_id").is_in(ids.implode())), runs])
    write_parquet(signals.sort("run_id", "step"), path)
    write_parquet(runs.sort("run_id"), folder / RUNS)


# Each is held against bounds fitted to others, and the smallest margin is taken that alarms seldom
# enough. A symptom is an alarm too: the diagnosis would name a component of it.


Alarm = Kind | Literal["any"]

ALARMS: Final[tuple[Alarm, ...]] = ("any", *get_args(Kind))

MARGIN_SCHEMA: Final = pl.Schema(  # held-out runs that broke, by ``(margin, alarm)``
    {"margin": pl.Float64(), "alarm": pl.String(), "alarmed": pl.Int32(), "n": pl.Int32()}
)


def setting_of(run: Mapping[str, str]) -> str:
    """The name of a run's setting: architecture, optimizer and, where it is not small, scale."""
    scale = "" if run["scale"] == "small" else f"-{run['scale']}"
    return f"{run['architecture']}-{run['optimizer']}{scale}"


def measured_settings(folder: Path) -> dict[str, Monitored]:
    """Monitored runs of a folder by setting, each of which has measurements."""
    monitored = read_monitored(folder)
    names = pl.Series([setting_of(run) for run in monitored.runs.iter_rows(named=True)])
    settings = {}
    for name in sorted(names.unique()):
        ids = monitored.runs["run_id"].filter(names == name)
        settings[name] = runs = monitored.select(pl.col("run_id").is_in(ids.implode()))
        if runs.signals.is_empty():
            problem = "has no measurement of any run."
            remedy = "Restore it from the commit of runs.parquet, or record the runs again."
            raise BadInputError(folder / SIGNALS / f"{name}.parquet", "(file)", problem, remedy)
    return settings


def healthy_histories(monitored: Monitored, kind: str = "success") -> list[History]:
    """Histories of the healthy runs of a kind, success or twin, that completed, by run."""
    healthy = monitored.select((pl.col("kind") == kind) & (pl.col("end_kind") == "completed"))
    return [history for _, history in histories(healthy)]


def alarms_by_margin(
    reach: Reach, margins: Iterable[float], unfitted: Reach | None = None
) -> pl.DataFrame:
    """How many healthy runs break bounds that were fitted to others."""
    rows = []
    for margin in margins:
        broken = [
            reach.broken(run, reach.bounds(margin, np.arange(reach.n) != run))
            for run in range(reach.n)
        ]
        if unfitted is not None:
            fitted = reach.bounds(margin)
            broken += [unfitted.broken(run, fitted) for run in range(unfitted.n)]
        kinds = [{each.kind for each in invariants} for invariants in broken]
        for alarm in ALARMS:
            count = sum(bool(each) if alarm == "any" else alarm in each for each in kinds)
            rows.append((margin, alarm, count, len(broken)))
    return pl.DataFrame(rows, schema=MARGIN_SCHEMA, orient="row")


def chosen_margin(alarms: pl.DataFrame, most_alarmed: float) -> float:
    """The smallest margin that alarms seldom enough; the largest that was tried if none does."""
    of_any = alarms.filter(pl.col("alarm") == "any").sort("margin")
    seldom = of_any.filter(pl.col("alarmed") <= most_alarmed * pl.col("n"))
    return float(seldom["margin"][0] if seldom.height else of_any["margin"][-1])
