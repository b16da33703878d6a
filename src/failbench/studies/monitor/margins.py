"""Margins: how many healthy runs are alarmed by bounds fitted to the others, and what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import polars as pl

from failbench.errors import BadInputError
from failbench.monitor.invariants import CATALOGUE, Bound, Invariant
from failbench.monitored.fitting import (
    ALARMS,
    MarginChoice,
    alarms_by_margin,
    chosen_margin,
    healthy_histories,
    reach_of,
)
from failbench.monitored.tables import Monitored
from failbench.reporting.cells import with_interval
from failbench.reporting.study_report import StudyReport, Summary
from failbench.reporting.table import Column, Table
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import wilson

OF_THE_MACHINE: Final = frozenset({"time"})
"""Families of which a margin of their own is chosen."""

FEWEST: Final = 2
"""Healthy runs, one of which is held against the others."""


class MarginSettings(MarginChoice):
    """The section ``monitor_bounds`` of params.yaml, with the confidence of intervals."""

    confidence: float


GROUPS: Final[Mapping[str, Callable[[Invariant], bool]]] = {
    "training": lambda invariant: invariant.family not in OF_THE_MACHINE,
    "machine": lambda invariant: invariant.family in OF_THE_MACHINE,
}
"""Invariants that share a margin. How long steps take depends on what else a machine does: a margin
that holds for it is none for what a training repeats to the bit."""


@dataclass(frozen=True)
class GroupMargin:
    """The margin of a group of invariants."""

    margin: float
    alarms: pl.DataFrame


@dataclass(frozen=True)
class SettingBounds:
    """Bounds of a setting."""

    runs: int
    bounds: Mapping[str, Bound]
    groups: Mapping[str, GroupMargin]

    @property
    def margins(self) -> str:
        """The margins in words."""
        return ", ".join(f"{chosen.margin:g} ({name})" for name, chosen in self.groups.items())


def setting_bounds(
    setting: str, monitored: Monitored, choice: MarginChoice, development: Collection[str]
) -> SettingBounds:
    """The bounds of a setting, from its healthy runs alone.

    Bounds are fitted to successes. Their margins are chosen on these and on twins, of which no
    bound knows: so few successes could not tell one alarm in a hundred runs.
    """
    healthy = healthy_histories(monitored)
    if len(healthy) < FEWEST:
        raise BadInputError(
            "data/monitor/runs.parquet",
            setting,
            f"has {len(healthy)} completed successes.",
            f"Record at least {FEWEST} successful runs of it with the monitor.",
        )
    twins = healthy_histories(
        monitored.select(pl.col("scenario").is_in(list(development))), kind="twin"
    )
    bounds: dict[str, Bound] = {}
    groups = {}
    for name, belongs in GROUPS.items():
        reach, unfitted = (reach_of(runs, filter(belongs, CATALOGUE)) for runs in (healthy, twins))
        alarms = alarms_by_margin(reach, choice.margins, unfitted)
        groups[name] = GroupMargin(chosen_margin(alarms, choice.most_alarmed), alarms)
        bounds |= reach.bounds(groups[name].margin)
    order = [invariant.id for invariant in CATALOGUE if invariant.id in bounds]
    return SettingBounds(len(healthy), {name: bounds[name] for name in order}, groups)


def margins_report(settings: Mapping[str, SettingBounds], choice: MarginSettings) -> StudyReport:
    """What each margin alarms of healthy runs held out, by setting, and which is taken."""
    rates = pl.concat(
        rates_of(chosen, choice.confidence).with_columns(setting=pl.lit(name), group=pl.lit(group))
        for name, fitted in settings.items()
        for group, chosen in fitted.groups.items()
    )
    metrics: dict[str, Any] = nest(
        rates.with_columns(margin=pl.col("margin").cast(pl.String)),
        *("setting", "group", "margin", "alarm"),
    )
    for name, fitted in settings.items():
        metrics[name]["chosen"] = {
            **{group: chosen.margin for group, chosen in fitted.groups.items()},
            "runs": fitted.runs,
            "bounds": len(fitted.bounds),
        }
    return StudyReport(
        metrics=metrics,
        tables=(_table(rates, settings, choice),),
        summary=(
            Summary.of(
                rates, "setting", "group", "margin", "alarm", "alarmed", "n", "value", "ci_high"
            ),
            Summary(
                ("setting", "margins", "runs", "bounds"),
                [
                    (name, fitted.margins, fitted.runs, len(fitted.bounds))
                    for name, fitted in settings.items()
                ],
            ),
        ),
    )


def rates_of(chosen: GroupMargin, confidence: float) -> pl.DataFrame:
    """Shares of healthy runs that are alarmed, with Wilson's intervals."""
    rows = []
    for row in chosen.alarms.to_dicts():
        value = row["alarmed"] / row["n"]
        low, high = wilson(value, row["n"], confidence)
        rows.append({**row, "value": value, "ci_low": low, "ci_high": high})
    return pl.DataFrame(rows)


CAPTION: Final = (
    "Healthy runs that the monitor alarms, in percent, by the margin of its bounds: successes are "
    "held against bounds that were fitted to all the others of their setting, twins of the "
    "development half against those that were fitted to all of them."
)
NOTE: Final = (
    "Wilson's {interval:g} % intervals. The margin that is taken, of times by themselves (machine) "
    "and of all else (training), is the smallest that was tried at which at most {most:g} % of the "
    "runs are alarmed in any way, and the largest if there is none (marked with a dagger). "
    "Statistics and symptoms have bounds that depend on the margin; logic has not."
)


Row: TypeAlias = tuple[str, str, float, pl.DataFrame]
"""Setting, group, margin and rates."""


def _table(
    rates: pl.DataFrame, settings: Mapping[str, SettingBounds], choice: MarginSettings
) -> Table:
    rows = [
        (name, group, margin, rates.filter(setting=name, group=group, margin=margin))
        for name in settings
        for group in GROUPS
        for margin in choice.margins
    ]

    def taken(row: Row) -> str:
        name, group, margin, alarms = row
        if settings[name].groups[group].margin != margin:
            return ""
        (of_any,) = alarms.filter(alarm="any")["value"]
        return "taken" if of_any <= choice.most_alarmed else "taken †"

    def alarmed(alarm: str, row: Row) -> str:
        (rate,) = row[3].filter(alarm=alarm).to_dicts()
        return with_interval(rate["value"], rate["ci_low"], rate["ci_high"])

    return Table.of(
        "monitor_margins",
        (
            Column("setting", align="left", cell=lambda row: str(row[0])),
            Column("of", align="left", cell=lambda row: str(row[1])),
            Column("margin", cell=lambda row: f"{row[2]:g}"),
            Column("healthy runs", cell=lambda row: str(row[3]["n"][0])),
            *(Column(alarm, group="alarmed by", cell=partial(alarmed, alarm)) for alarm in ALARMS),
            Column("", align="left", cell=taken),
        ),
        rows,
        CAPTION,
        (NOTE.format(interval=100 * choice.confidence, most=100 * choice.most_alarmed),),
    )
