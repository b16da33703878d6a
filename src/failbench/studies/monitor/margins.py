"""Margins: how many healthy runs are alarmed by bounds fitted to the others, and what is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import polars as pl

from failbench.errors import BadInputError
from failbench.monitor.invariants import CATALOGUE, Bound
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

FEWEST: Final = 2
"""Healthy runs, one of which is held against the others."""


class MarginSettings(MarginChoice):
    """The section ``monitor_bounds`` of params.yaml, with the confidence of intervals."""

    confidence: float


@dataclass(frozen=True)
class SettingBounds:
    """Bounds of a setting.

    Attributes
    ----------
    margin
        The chosen one.
    runs
        Healthy runs that they come from.
    bounds
        By invariant.
    alarms
        Rows of ``MARGIN_SCHEMA``: how many of these runs each margin alarms, held out.
    """

    margin: float
    runs: int
    bounds: Mapping[str, Bound]
    alarms: pl.DataFrame


def setting_bounds(setting: str, monitored: Monitored, choice: MarginChoice) -> SettingBounds:
    """The bounds of a setting, from its healthy runs alone.

    Parameters
    ----------
    setting
        Its name, for errors.
    monitored
        Its runs; those that are no completed successes are not looked at.
    choice
        Margins that are tried, and how many runs may be alarmed.

    Raises
    ------
    BadInputError
        If there are fewer than two healthy runs.
    """
    reach = reach_of(healthy_histories(monitored), CATALOGUE)
    if reach.n < FEWEST:
        raise BadInputError(
            "data/monitor/runs.parquet",
            setting,
            f"has {reach.n} completed successes.",
            f"Record at least {FEWEST} successful runs of it with the monitor.",
        )
    alarms = alarms_by_margin(reach, choice.margins)
    margin = chosen_margin(alarms, choice.most_alarmed)
    return SettingBounds(margin, reach.n, reach.bounds(margin), alarms)


def margins_report(settings: Mapping[str, SettingBounds], choice: MarginSettings) -> StudyReport:
    """What each margin alarms of healthy runs held out, by setting, and which is taken.

    Parameters
    ----------
    settings
        By name.
    choice
        What was tried.
    """
    rates = pl.concat(
        rates_of(fitted, choice.confidence).with_columns(setting=pl.lit(name))
        for name, fitted in settings.items()
    )
    metrics: dict[str, Any] = nest(
        rates.with_columns(margin=pl.col("margin").cast(pl.String)),
        *("setting", "margin", "alarm"),
    )
    for name, fitted in settings.items():
        metrics[name]["chosen"] = {
            "margin": fitted.margin,
            "runs": fitted.runs,
            "bounds": len(fitted.bounds),
        }
    return StudyReport(
        metrics=metrics,
        tables=(_table(rates, settings, choice),),
        summary=(
            Summary.of(rates, "setting", "margin", "alarm", "alarmed", "n", "value", "ci_high"),
            Summary(
                ("setting", "margin", "runs", "bounds"),
                [
                    (name, fitted.margin, fitted.runs, len(fitted.bounds))
                    for name, fitted in settings.items()
                ],
            ),
        ),
    )


def rates_of(fitted: SettingBounds, confidence: float) -> pl.DataFrame:
    """Shares of healthy runs that are alarmed, with Wilson's intervals.

    Returns
    -------
    polars.DataFrame
        ``margin``, ``alarm``, ``alarmed``, ``n``, ``value``, ``ci_low`` and ``ci_high``.
    """
    rows = []
    for row in fitted.alarms.to_dicts():
        value = row["alarmed"] / row["n"]
        low, high = wilson(value, row["n"], confidence)
        rows.append({**row, "value": value, "ci_low": low, "ci_high": high})
    return pl.DataFrame(rows)


CAPTION: Final = (
    "Healthy runs that the monitor alarms, in percent, by the margin of its bounds: each run is "
    "held against bounds that were fitted to all the others of its setting."
)
NOTE: Final = (
    "Wilson's {interval:g} % intervals. The margin that is taken is the smallest that was tried at "
    "which at most {most:g} % of the runs are alarmed in any way, and the largest if there is none "
    "(marked with a dagger). Statistics and symptoms have bounds that depend on the margin; logic "
    "has not."
)


def _table(
    rates: pl.DataFrame, settings: Mapping[str, SettingBounds], choice: MarginSettings
) -> Table:
    rows = [
        (name, margin, rates.filter(setting=name, margin=margin))
        for name in settings
        for margin in choice.margins
    ]

    def taken(row: tuple[str, float, pl.DataFrame]) -> str:
        name, margin, alarms = row
        if settings[name].margin != margin:
            return ""
        (of_any,) = alarms.filter(alarm="any")["value"]
        return "taken" if of_any <= choice.most_alarmed else "taken †"

    def alarmed(alarm: str, row: tuple[str, float, pl.DataFrame]) -> str:
        (rate,) = row[2].filter(alarm=alarm).to_dicts()
        return with_interval(rate["value"], rate["ci_low"], rate["ci_high"])

    return Table.of(
        "monitor_margins",
        (
            Column("setting", align="left", cell=lambda row: str(row[0])),
            Column("margin", cell=lambda row: f"{row[1]:g}"),
            Column("healthy runs", cell=lambda row: str(row[2]["n"][0])),
            *(Column(alarm, group="alarmed by", cell=partial(alarmed, alarm)) for alarm in ALARMS),
            Column("", align="left", cell=taken),
        ),
        rows,
        CAPTION,
        (NOTE.format(interval=100 * choice.confidence, most=100 * choice.most_alarmed),),
    )
