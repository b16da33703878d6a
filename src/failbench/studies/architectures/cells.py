"""Cells of the tables of architectures: rates as they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.reporting.cells import ABSENT, percent, with_interval
from failbench.reporting.reported import ReportedArchitecture
from failbench.scenarios import ARCHITECTURES, Architecture
from failbench.studies.architectures.results import ArchitecturesSettings

THRESHOLD_LABELS: Final[Mapping[str, str]] = {
    "reference": "Reference, mean + {sds:g} sd",
    "own_deviations": "Own, mean + {sds:g} sd",
    "own_percentile": "Own, percentile {percentile:g}",
    "own_percentile_and_limit": "Own, percentile {percentile:g}, limit too",
}


def threshold_label(
    kind: str, settings: ArchitecturesSettings, rules: ImprovedRulesSettings
) -> str:
    """What a kind of threshold is called."""
    return THRESHOLD_LABELS[kind].format(
        sds=rules.healthy_sds, percentile=100 * settings.percentile
    )


def architectures_in(table: pl.DataFrame) -> list[Architecture]:
    """The architectures of a table, in the paper's order."""
    known = set(table["architecture"])
    return [name for name in ARCHITECTURES if name in known]


def estimate(table: pl.DataFrame, metric: str, noise: float) -> dict[str, Any]:
    """The row of a metric; there is one."""
    return table.row(
        by_predicate=(pl.col("metric") == metric) & (pl.col("noise") == noise), named=True
    )


def rate_cell(table: pl.DataFrame, metric: str, noise: float) -> str:
    """A rate with its interval; a dash where it was not measured."""
    rows = table.filter(pl.col("metric") == metric, pl.col("noise") == noise)
    if rows.is_empty():
        return ABSENT
    row = rows.row(0, named=True)
    return with_interval(row["value"], row["ci_low"], row["ci_high"])


def values_of(table: pl.DataFrame, metric: str, noise: float) -> list[float]:
    """A metric on each architecture."""
    rows = table.filter(pl.col("metric") == metric, pl.col("noise") == noise)
    return rows["value"].to_list()


def spread(values: Sequence[float]) -> str:
    """The highest less the lowest, in points; a dash where there is none."""
    return percent(max(values) - min(values)) if values else ABSENT


def reported_accuracy(paper: ReportedArchitecture | None) -> str:
    """The paper's accuracy on an architecture; a dash where it has none."""
    return ABSENT if paper is None else with_interval(paper.accuracy, *paper.interval)
