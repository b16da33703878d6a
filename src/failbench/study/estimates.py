"""Estimates: the one tidy frame that carries every number of a study, and views of it."""

# A row is ``keys | metric | value | ci_low | ci_high | n | interval | resampling_unit | estimand``;
# what others report is a row too, without bounds where they print none.

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import polars as pl

from failbench.base.predictions import DECIMALS
from failbench.base.workers import parallel_map
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import (
    ScenarioIntervalSettings,
    estimate_rows,
    nest,
    scenario_intervals,
)
from failbench.statistics.metrics import Metric, ValueMetric
from failbench.statistics.scenario_values import scenario_answers
from failbench.statistics.significance import Difference, comparisons_table
from failbench.study.cells import ABSENT, Form, estimate_text

FLOATS: Final = pl.selectors.float()


def rounded(table: pl.DataFrame, *exact: str) -> pl.DataFrame:
    """A table as it is published and drawn: floats at six decimals, but for exact ones."""
    columns = FLOATS - pl.selectors.by_name(*exact, require_all=False) if exact else FLOATS
    return table.with_columns(columns.round(DECIMALS))


@dataclass(frozen=True)
class Estimates:
    """Rows of a study, as published: numbers at six decimals."""

    frame: pl.DataFrame

    @classmethod
    def of(cls, *frames: pl.DataFrame) -> Estimates:
        """Rows of one or several tables, which need not have the same keys."""
        return cls(rounded(pl.concat(frames, how="diagonal_relaxed")))

    def plus(self, *rows: Mapping[str, Any]) -> Estimates:
        """With rows that others report: keys, a metric and a value, maybe bounds and n."""
        if not rows:
            return self
        added = pl.DataFrame(rows, infer_schema_length=None)
        return Estimates(pl.concat([self.frame, added], how="diagonal_relaxed"))

    def where(self, **keys: object) -> Estimates:
        """Those rows whose keys are these; a null is a key as any other."""
        if not keys:
            return self
        asked = [pl.col(key).eq_missing(pl.lit(value)) for key, value in keys.items()]
        return Estimates(self.frame.filter(reduce(operator.and_, asked)))

    def row(self, **keys: object) -> dict[str, Any] | None:
        """The one row with these keys, or None where there is none or no value; two are refused."""
        rows = self.where(**keys).frame.to_dicts()
        if len(rows) > 1:
            raise ValueError(f"{len(rows)} estimates have the keys {keys}.")
        return rows[0] if rows and rows[0]["value"] is not None else None

    def value(self, **keys: object) -> float:
        """The value of a row that must be there."""
        row = self.row(**keys)
        if row is None:
            raise ValueError(f"No estimate has the keys {keys}.")
        return float(row["value"])

    def cell(self, form: Form = "percent", **keys: object) -> str:
        """``27.9 [19.6, 36.4]``, or ``27.9`` without an interval, or a dash for no row."""
        row = self.row(**keys)
        return ABSENT if row is None else estimate_text(row, form)

    def n(self, **keys: object) -> str:
        """How many units the row with these keys is of, or a dash."""
        row = self.row(**keys)
        return ABSENT if row is None or row.get("n") is None else f"{row['n']:.0f}"

    def nested(self, *keys: str) -> dict[str, Any]:
        """The rows as metrics: a level for each key."""
        return nest(self.frame, *keys)

    def distinct(self, key: str) -> list[Any]:
        """The values of a key, in their order."""
        return self.frame[key].drop_nulls().unique(maintain_order=True).to_list()


def reported(
    n: float | None = None, *, keys: Mapping[str, Any], **values: float
) -> list[dict[str, Any]]:
    """Numbers that others print as rows of the frame: without intervals, and all of one n.

    >>> reported(76, keys={"key": "reported"}, accuracy=0.5)
    [{'key': 'reported', 'metric': 'accuracy', 'value': 0.5, 'n': 76}]
    """
    size = {} if n is None else {"n": round(n)}
    return [{**keys, "metric": name, "value": value, **size} for name, value in values.items()]


def of_scenarios(
    predictions: pl.DataFrame,
    metrics: tuple[Metric, ...],
    settings: ScenarioIntervalSettings,
    values: tuple[ValueMetric, ...] = (),
    **keys: object,
) -> pl.DataFrame:
    """Metrics of predictions with intervals over scenarios; one call shares its resamples."""
    intervals = scenario_intervals(scenario_answers(predictions), metrics, settings, values)
    return estimate_rows(intervals, **keys)


def by_path(found: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Rows whose metric is a path, ``key/.../metric``, with a column for each of its keys."""
    parts, at = pl.col("metric").str.split("/").list, found.columns.index("metric")
    named = {name: parts.get(place) for place, name in enumerate((*keys, "metric"))}
    others = {name: pl.col(name) for name in found.columns[at + 1 :]}
    return found.select(*found.columns[:at], **named, **others)


def of_groups(
    table: pl.DataFrame,
    keys: tuple[str, ...],
    estimates: Callable[..., pl.DataFrame],
    workers: int = 1,
) -> pl.DataFrame:
    """What a function of a module, given rows and keys by name, finds of each group."""
    groups = table.sort(keys).group_by(keys, maintain_order=True)
    tasks = [(estimates, part, dict(zip(keys, key, strict=True))) for key, part in groups]
    return pl.concat(parallel_map(_of_group, tasks, workers))


def _of_group(
    estimates: Callable[..., pl.DataFrame], part: pl.DataFrame, keys: dict[str, object]
) -> pl.DataFrame:
    return estimates(part, **keys)


def over_folds(
    metric: str, bounds: tuple[float, float, float], folds: int, estimand: str, **keys: object
) -> pl.DataFrame:
    """A value, the lowest and the highest of several folds as a row of the frame."""
    value, low, high = bounds
    interval = Interval.of(value, (low, high, "range"), folds, "fold", estimand)
    return estimate_rows({metric: interval}, **keys)


def of_differences(differences: Sequence[Difference]) -> pl.DataFrame:
    """Differences as rows by ``feature_set``, ``left``, ``right``; one metric has bounds."""
    keys = ("feature_set", "left", "right")
    table = comparisons_table(differences)
    bounds = table.select(*keys, "ci_low", "ci_high", metric=pl.lit("difference"))
    beside = {*keys, "n", "ci_low", "ci_high", "family"}
    numbers = [name for name in table.columns if name not in beside]
    values = table.with_columns(pl.col(numbers).cast(pl.Float64)).unpivot(
        numbers, index=[*keys, "n"], variable_name="metric"
    )
    return values.join(bounds, on=[*keys, "metric"], how="left", maintain_order="left")
