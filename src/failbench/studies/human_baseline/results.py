"""The human baseline: a simulation of people, with and without a sense of difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from failbench.errors import BadInputError
from failbench.methods.simulated_human import SkillLevel
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import weighted_mean
from failbench.statistics.scores import ScenarioAnswers, scenario_answers
from failbench.studies.human_baseline.human_skill import Population, difficulties, population
from failbench.studies.human_baseline.published_studies import (
    DESIGNS,
    Design,
    StudySize,
    simulate,
    skill_spread,
    spread,
    spread_bounds,
)
from failbench.studies.human_baseline.settings import HumanBaselineSettings
from failbench.vocabulary import CATEGORIES, DIFFICULTIES

HANDED_OVER = "handed_over"
GROUPS = ("all", *DIFFICULTIES, HANDED_OVER)
"""Scenarios that people are looked at on: all, by measured level, and what a hybrid gives them."""

SCENARIO_SCHEMA = pl.Schema(
    {"scenario": pl.String(), "measured": pl.String(), "ease": pl.Float64()}
)
SHARE_SCHEMA = pl.Schema({"view": pl.String(), "name": pl.String()})
"""What is read of the two tables that the study of difficulty saves."""


@dataclass(frozen=True)
class SimulatedStudies:
    """What studies of one design find, at one coupling."""

    coupling: float
    design: Design
    accuracy: Interval
    deviation: Interval
    formula: float
    reaching: float


@dataclass(frozen=True)
class HumanBaseline:
    """The simulation of people."""

    mean: float
    plain_mean: float
    skill_deviation: float
    studies: tuple[SimulatedStudies, ...]
    groups: Mapping[float, Mapping[str, Interval]]
    curves: pl.DataFrame


def human_baseline(
    levels: Mapping[str, SkillLevel],
    scenarios: pl.DataFrame,
    shares: pl.DataFrame,
    hybrid: pl.DataFrame,
    settings: HumanBaselineSettings,
    reported: float,
) -> HumanBaseline:
    """Simulate studies of people, who tell all scenarios alike or feel how hard they are."""
    handed = hybrid.filter(pl.col("feature_set") == settings.feature_set)
    table = _scenarios(scenarios, handed)
    cells = int(shares.group_by("view").agg(pl.col("name").n_unique())["name"].product())
    logits = difficulties(table["ease"].to_numpy(), cells)
    size = StudySize(max(table.height // settings.folds, 1), settings.panel)
    people = {coupling: population(levels, logits, coupling) for coupling in settings.couplings}
    # people are simulated by scenario, so that seeds are taken together
    answers = scenario_answers(handed.with_columns(seed=pl.lit(0)))
    studies = tuple(
        _studies(people[coupling], coupling, design, size, settings, reported)
        for coupling in settings.couplings
        for design in DESIGNS
    )
    accuracies = [level.accuracy for level in levels.values()]
    weights = [level.share for level in levels.values()]
    anyone = Population(np.array(weights), np.array(accuracies)[:, None])
    return HumanBaseline(
        anyone.mean,
        float(np.mean(accuracies)),
        skill_spread(anyone),
        studies,
        {
            coupling: _by_group(group, table, answers, settings)
            for coupling, group in people.items()
        },
        _curves(people, tuple(levels), table),
    )


def _curves(
    people: Mapping[float, Population], levels: tuple[str, ...], scenarios: pl.DataFrame
) -> pl.DataFrame:
    """How often people of each level are right on each scenario, by coupling."""
    return pl.concat(
        scenarios.select(
            pl.lit(coupling).alias("coupling"),
            pl.lit(level).alias("level"),
            "category",
            "scenario",
            "ease",
            pl.Series("right", right),
        )
        for coupling, group in people.items()
        for level, right in zip(levels, group.right, strict=True)
    )


def human_metrics(baseline: HumanBaseline) -> dict[str, Any]:
    """Estimates by coupling and design, and by coupling alone, as nested scalars."""
    rows = [
        estimate_rows(
            {"accuracy": studies.accuracy, "deviation": studies.deviation},
            people=f"coupling_{studies.coupling:g}_{studies.design}",
        )
        for studies in baseline.studies
    ]
    for coupling, groups in baseline.groups.items():
        accuracies = {f"accuracy_{group}": interval for group, interval in groups.items()}
        rows.append(estimate_rows(accuracies, people=f"coupling_{coupling:g}"))
    return nest(pl.concat(rows), "people", "metric")


def _scenarios(difficulty: pl.DataFrame, hybrid: pl.DataFrame) -> pl.DataFrame:
    """A row per scenario, in the order of categories, with ease, level and share handed over."""
    routes = hybrid.group_by("category", "scenario").agg(
        (pl.col("route") == "human").mean().fill_null(0.0).alias(HANDED_OVER)
    )
    whole = difficulty.select("scenario", "measured", "ease")
    missing = routes.join(whole, on="scenario", how="anti").sort("scenario")
    if missing.height:
        raise BadInputError(
            "data/measurements/difficulty/scenarios.parquet",
            "scenario",
            f"{missing['scenario'][0]!r} has no measured difficulty.",
            "Run `dvc repro measure_difficulty`.",
        )
    if routes[HANDED_OVER].sum() == 0:
        raise BadInputError(
            "predictions",
            "route",
            "the hybrid hands no run to a person.",
            "Take the three-way hybrid, and run `dvc repro hybrids`.",
        )
    order = {category: number for number, category in enumerate(CATEGORIES)}
    return routes.join(whole, on="scenario").sort(
        pl.col("category").replace_strict(order, return_dtype=pl.Int32), "scenario"
    )


def _studies(
    people: Population,
    coupling: float,
    design: Design,
    size: StudySize,
    settings: HumanBaselineSettings,
    reported: float,
) -> SimulatedStudies:
    rng = np.random.default_rng([settings.seed, DESIGNS.index(design)])
    accuracies = simulate(people, design, size, settings.studies, rng)
    tail = (1 - settings.confidence) / 2
    n = size.fold if design == "fold" else people.right.shape[1]
    return SimulatedStudies(
        coupling,
        design,
        _simulated(
            float(accuracies.mean()),
            tuple(np.quantile(accuracies, (tail, 1 - tail))),
            n,
            "accuracy of simulated people; the range of the central share of studies",
        ),
        _simulated(
            float(accuracies.std()),
            spread_bounds(accuracies, settings.confidence),
            settings.studies,
            "standard deviation of accuracy between studies; bounds are the simulation's error",
        ),
        spread(people, design, size),
        float((accuracies >= reported).mean()),
    )


def _simulated(value: float, bounds: tuple[float, ...], n: int, estimand: str) -> Interval:
    return Interval(
        value=value,
        ci_low=float(bounds[0]),
        ci_high=float(bounds[1]),
        n=n,
        method="simulation",
        resampling_unit="study",
        estimand=estimand,
    )


def _by_group(
    people: Population,
    scenarios: pl.DataFrame,
    answers: ScenarioAnswers,
    settings: HumanBaselineSettings,
) -> dict[str, Interval]:
    """Accuracy of people over groups of scenarios, resampled by scenario.

    What is averaged are probabilities of the simulation and no answers: where they are all alike
    there is nothing that more scenarios would tell, and the interval is a point.
    """
    table = scenarios.with_columns(right=pl.Series(people.marginal))
    members: dict[str, pl.Expr] = {
        "all": pl.lit(1.0),
        **{level: (pl.col("measured") == level).cast(pl.Float64) for level in DIFFICULTIES},
        HANDED_OVER: pl.col(HANDED_OVER),
    }
    metrics = tuple(
        ValueMetric(
            name,
            weighted_mean(table, pl.col("right"), weight),
            f"probability that a person drawn at random is right on a new scenario ({name})",
        )
        for name, weight in members.items()
        if table.select(weight.sum()).item() > 0
    )
    intervals = scenario_intervals(answers, (), settings, metrics)
    counts = {name: table.filter(weight > 0).height for name, weight in members.items()}
    return {
        name: interval.model_copy(update={"n": counts[name]})
        for name, interval in intervals.items()
    }
