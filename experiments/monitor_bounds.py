"""Stage monitor_bounds: the monitor's bounds of each setting, from its healthy runs alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from failbench import study as st
from failbench.monitor.bounds import reach_of, write_bounds
from failbench.monitor.invariants import CATALOGUE, Bound, Invariant
from failbench.monitor.records import tables as fitting
from failbench.monitor.records.scoring import HALF_SCHEMA
from failbench.monitor.records.tables import Monitored

MONITORED = Path("data/monitor")
RUNS = Path("data/monitor/runs.parquet")
HALVES = Path("data/monitor/halves.csv")
SIGNALS = Path("data/monitor/signals")
BOUNDS = Path("data/monitor/bounds")

FEWEST = 2
"""Healthy runs, one of which is held against the others."""

GROUPS: dict[str, Callable[[Invariant], bool]] = {
    "training": lambda invariant: invariant.family != "time",
    "machine": lambda invariant: invariant.family == "time",
}
"""Invariants that share a margin. How long steps take depends on what else a machine does: a margin
that holds for it is none for what a training repeats to the bit."""


class MarginSettings(st.Record):
    """The section ``monitor_bounds`` of params.yaml, with the confidence of intervals."""

    margins: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)
    most_alarmed: float = Field(ge=0, lt=1)
    confidence: float


@dataclass(frozen=True)
class SettingBounds:
    """Bounds of a setting, the margin of each group of invariants, and whom each margin alarms."""

    runs: int
    bounds: Mapping[str, Bound]
    margins: Mapping[str, float]
    alarms: pl.DataFrame


def setting_bounds(
    setting: str, monitored: Monitored, choice: MarginSettings, development: Collection[str]
) -> SettingBounds:
    """The bounds of a setting, from its healthy runs alone: those of its successes.

    Margins are chosen on these and on twins, of which no bound knows: so few successes could not
    tell one alarm in a hundred runs.
    """
    healthy = fitting.healthy_histories(monitored)
    if len(healthy) < FEWEST:
        remedy = f"Record at least {FEWEST} successful runs of it with the monitor."
        raise st.BadInputError(RUNS, setting, f"has {len(healthy)} completed successes.", remedy)
    of_half = monitored.select(pl.col("scenario").is_in(list(development)))
    twins = fitting.healthy_histories(of_half, kind="twin")
    bounds: dict[str, Bound] = {}
    margins, parts = {}, []
    for name, belongs in GROUPS.items():
        reach, unfitted = (reach_of(runs, filter(belongs, CATALOGUE)) for runs in (healthy, twins))
        alarms = fitting.alarms_by_margin(reach, choice.margins, unfitted)
        margins[name] = fitting.chosen_margin(alarms, choice.most_alarmed)
        bounds |= reach.bounds(margins[name])
        parts.append(alarms.with_columns(setting=pl.lit(setting), group=pl.lit(name)))
    ordered = [invariant.id for invariant in CATALOGUE if invariant.id in bounds]
    kept = {name: bounds[name] for name in ordered}
    return SettingBounds(len(healthy), kept, margins, pl.concat(parts))


def rates(settings: Mapping[str, SettingBounds], confidence: float) -> pl.DataFrame:
    """Shares of healthy runs that each margin alarms, with Wilson's intervals."""
    rows = pl.concat(fitted.alarms for fitted in settings.values()).to_dicts()
    return pl.DataFrame(
        row | st.wilson_row(row["alarmed"] / row["n"], row["n"], confidence) for row in rows
    )


def metrics(settings: Mapping[str, SettingBounds], alarmed: pl.DataFrame) -> dict[str, Any]:
    """Rates by setting, group, margin and alarm, and what was chosen."""
    named = alarmed.with_columns(pl.col("margin").cast(pl.String))
    found = st.nest(named, "setting", "group", "margin", "alarm")
    for name, fitted in settings.items():
        sizes = {"runs": fitted.runs, "bounds": len(fitted.bounds)}
        found[name]["chosen"] = {**fitted.margins, **sizes}
    return found


def margins_table(
    settings: Mapping[str, SettingBounds],
    alarmed: pl.DataFrame,
    choice: MarginSettings,
    said: st.Captions,
) -> st.Table:
    found, rows = st.Estimates(alarmed), []
    for name, group, margin in product(settings, GROUPS, choice.margins):
        keys = {"setting": name, "group": group, "margin": margin}
        taken = ""
        if settings[name].margins[group] == margin:
            seldom = found.value(**keys, alarm="any") <= choice.most_alarmed
            taken = "taken" if seldom else "taken †"
        n = found.n(**keys, alarm="any")
        rows.append(st.Row((name, group, f"{margin:g}", n, taken), keys))
    return st.table("monitor_margins", found, None, rows, said)


def main() -> None:
    choice = st.read_with_statistics("monitor_bounds", MarginSettings)
    said = st.Captions.read("monitor_bounds", choice)
    development = st.read_points(HALVES, HALF_SCHEMA).filter(half="development")["scenario"]
    settings = {
        name: setting_bounds(name, runs, choice, development.to_list())
        for name, runs in fitting.measured_settings(MONITORED).items()
    }
    alarmed = rates(settings, choice.confidence)
    shown = margins_table(settings, alarmed, choice, said)
    st.publish(
        "monitor_bounds",
        metrics=metrics(settings, alarmed),
        tables=[shown],
        summary=alarmed.drop("ci_low"),
    )
    BOUNDS.mkdir(parents=True, exist_ok=True)
    for name, fitted in settings.items():
        margins = ", ".join(f"{margin:g} ({group})" for group, margin in fitted.margins.items())
        origin = f"completed successes of {name}, margins {margins}"
        write_bounds(BOUNDS / f"{name}.json", fitted.bounds, fitted.runs, origin)


if __name__ == "__main__":
    st.run(main)
