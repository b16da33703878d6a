"""Estimates: shares of kinds of onset, and what a sign says of the category, over scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.row_weights import seed_counts
from failbench.statistics.scenario_values import ScenarioValues, over_scenarios, over_those
from failbench.statistics.scores import scenario_answers
from failbench.studies.onset.association import Independence, cramers_v, permutation_test
from failbench.studies.onset.settings import OnsetSettings
from failbench.studies.onset.signs import KINDS
from failbench.vocabulary import ABSTAIN, CATEGORIES


@dataclass(frozen=True)
class Rule:
    """A rule of thumb: a sign, and what it is said to point to, over the columns of runs."""

    sign: pl.Expr
    target: pl.Expr


@dataclass(frozen=True)
class Indicator:
    """What a sign says: how often it is of a target, and how often a target shows it."""

    precision: Interval | None
    recall: Interval
    base: float
    scenarios: float
    runs: int


@dataclass(frozen=True)
class Association:
    """How strongly kinds of onset depend on categories, and whether chance would do."""

    v: Interval
    independence: Independence


def _figures(
    rows: pl.DataFrame, settings: ScenarioIntervalSettings, *metrics: ValueMetric
) -> dict[str, Interval]:
    # recorded runs have no repeats and no answers: only the units of resampling are taken of them
    table = rows.with_columns(repeat=pl.lit(0), prediction=pl.lit(ABSTAIN))
    return scenario_intervals(scenario_answers(table), (), settings, metrics)


def shares(
    rows: pl.DataFrame, counted: Mapping[str, pl.Expr], settings: ScenarioIntervalSettings
) -> dict[str, Interval]:
    """Shares of runs that each expression holds of, as means over scenarios."""
    metrics = (
        ValueMetric(
            name,
            over_scenarios(rows, holds),
            "probability that this holds of a run of a new scenario, drawn with these categories",
            kind="proportion",
        )
        for name, holds in counted.items()
    )
    return _figures(rows, settings, *metrics)


def indicators(
    rows: pl.DataFrame, rules: Mapping[str, Rule], settings: ScenarioIntervalSettings
) -> dict[str, Indicator]:
    """What signs say of their targets, by the name of the rule."""
    runs = {name: int(rows.select(rule.sign.sum()).item()) for name, rule in rules.items()}
    metrics = []
    for name, rule in rules.items():
        metrics.append(
            ValueMetric(
                f"recall {name}",
                over_those(rows, rule.sign, rule.target),
                "probability that a run of a new scenario of the target shows the sign",
                kind="proportion",
            )
        )
        if runs[name]:
            metrics.append(
                ValueMetric(
                    f"precision {name}",
                    over_those(rows, rule.target, rule.sign),
                    "probability that a run of a new scenario that shows the sign is of the target",
                    kind="proportion",
                )
            )
    figures = _figures(rows, settings, *metrics)
    found = {}
    for name, rule in rules.items():
        by_scenario = rows.group_by("scenario").agg(
            sign=rule.sign.mean(), target=rule.target.mean()
        )
        found[name] = Indicator(
            figures.get(f"precision {name}"),
            figures[f"recall {name}"],
            float(by_scenario.select(pl.col("target").mean()).item()),
            float(by_scenario.select(pl.col("sign").sum()).item()),
            runs[name],
        )
    return found


def mean_difference(
    rows: pl.DataFrame, more: str, less: str, settings: ScenarioIntervalSettings
) -> Interval:
    """Mean over scenarios of one column less another, paired."""
    metric = ValueMetric(
        "difference",
        over_scenarios(rows, pl.col(more) - pl.col(less)),
        "mean difference over new scenarios, drawn with these categories",
    )
    return _figures(rows, settings, metric)["difference"]


def association(rows: pl.DataFrame, settings: OnsetSettings) -> Association:
    """How strongly the column ``onset`` of rows depends on their category."""
    metric = ValueMetric(
        "v",
        _table_of(rows),
        "Cramer's V of category and kind of onset, every scenario counting once",
        score=cramers_v,
        kind="distance",
    )
    by_scenario = (
        rows.group_by("category", "scenario")
        .agg((pl.col("onset") == kind).mean().alias(kind) for kind in KINDS)
        .sort("scenario")
    )
    independence = permutation_test(
        by_scenario.select(KINDS).to_numpy(),
        by_scenario["category"].to_numpy().astype(object),
        settings.permutations,
        np.random.default_rng(settings.seed),
    )
    return Association(_figures(rows, settings, metric)["v"], independence)


def _table_of(rows: pl.DataFrame) -> ScenarioValues:
    """Sums over scenarios that are the table of categories and kinds."""
    unit = ["category", "scenario", "seed"]
    table = (
        rows.group_by(unit)
        .agg((pl.col("onset") == kind).mean().alias(kind) for kind in KINDS)
        .sort(unit)
    )
    values: dict[str, Array] = {}
    seeds = []
    for position, category in enumerate(CATEGORIES):
        of_category = table.filter(pl.col("category") == category)
        if of_category.height:
            cells = np.zeros((of_category.height, len(CATEGORIES), len(KINDS)))
            cells[:, position, :] = of_category.select(KINDS).to_numpy()
            values[str(category)] = cells
            seeds.append(seed_counts(of_category))
    return ScenarioValues(values, tuple(seeds))
