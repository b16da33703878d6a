"""Fitting: bounds from the healthy runs of a setting, and how wide they must be."""

# Each is held against bounds fitted to others, and the smallest margin is taken that alarms seldom
# enough. A symptom is an alarm too: the diagnosis would name a component of it.

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import numpy as np
import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.monitor.bounds import Reach
from failbench.monitor.history import History
from failbench.monitor.invariants import Kind
from failbench.monitor.records.tables import SIGNALS, Monitored, histories, read_monitored

Alarm = Kind | Literal["any"]

ALARMS: Final[tuple[Alarm, ...]] = ("any", *get_args(Kind))

MARGIN_SCHEMA: Final = pl.Schema(  # held-out runs that broke, by ``(margin, alarm)``
    {"margin": pl.Float64(), "alarm": pl.String(), "alarmed": pl.Int32(), "n": pl.Int32()}
)


class MarginChoice(Record):
    """Which margins are tried, and how many healthy runs may be alarmed."""

    margins: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)
    most_alarmed: float = Field(ge=0, lt=1)


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
