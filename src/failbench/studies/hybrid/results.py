"""Hybrid study: what each route of a hybrid is worth, and where its best thresholds lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from failbench.methods.hybrid import HybridSettings
from failbench.records import Record
from failbench.reporting.labels import made_in_view
from failbench.statistics.bootstrap import Interval
from failbench.statistics.costs import UnitCosts, cost_metrics
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import ScenarioValues, over_scenarios, over_those, right
from failbench.statistics.scores import ScenarioAnswers, scenario_answers
from failbench.studies.hybrid.routing import ROUTES, RoutedGrid, routed_grid
from failbench.studies.hybrid.threshold_choice import (
    cheapest_in_resamples,
    cost_at,
    costs_of_halves,
    optimism,
    uncertainty,
)
from failbench.vocabulary import Route

ALL = "all"
BEST = "best_thresholds"
CONDITIONS = "conditions_to_read"


class RoutingSettings(Record):
    """What is varied, and how surely it is told; the section ``routing`` of params.yaml."""

    feature_set: str
    step: float = Field(gt=0, le=0.25)
    human_costs: tuple[float, ...] = Field(min_length=1)
    wrong_answer_costs: tuple[float, ...] = Field(min_length=1)
    halves: int = Field(ge=100)


@dataclass(frozen=True)
class HybridStudy:
    """What is known of the hybrids."""

    routes: pl.DataFrame
    thresholds: pl.DataFrame


def prices_key(human: float, wrong: float) -> str:
    """How the metrics name a pair of prices.

    >>> prices_key(0.5, 2.0)
    'human 0.5, wrong 2'
    """
    return f"human {human:g}, wrong {wrong:g}"


def hybrid_metrics(study: HybridStudy) -> dict[str, Any]:
    """Estimates by hybrid and route, and under ``best_thresholds`` by prices."""
    prices = study.thresholds.select("human_cost", "wrong_answer_cost").rows()
    keyed = study.thresholds.with_columns(prices=pl.Series([prices_key(*pair) for pair in prices]))
    return {
        **nest(study.routes, "hybrid", "route", "metric"),
        BEST: nest(keyed, "prices", "metric"),
    }


def study_hybrids(
    hybrids: Mapping[str, pl.DataFrame],
    rules: pl.DataFrame,
    members: Mapping[Route, pl.DataFrame],
    thresholds: HybridSettings,
    costs: UnitCosts,
    settings: RoutingSettings,
    intervals: ScenarioIntervalSettings,
) -> HybridStudy:
    """Say what each route is worth as measured, and search all thresholds for the cheapest.

    The cheapest pair on these scenarios looks cheaper than it is: it was chosen on them. How much,
    halves say, drawn at random within categories: the pair that one half chooses is paid for on the
    other. Of pairs that cost the same the most cautious is taken.
    """
    on_features = pl.col("feature_set") == settings.feature_set
    # what takes precedence over the invariant that decides must be checked too: nobody counts it
    conditions = {
        hybrid: None if made_in_view(hybrid) else pl.col("conditions") for hybrid in hybrids
    }
    routes = pl.concat(
        estimate_rows(estimates, hybrid=hybrid, route=route)
        for hybrid, predictions in hybrids.items()
        for route, estimates in _as_measured(
            predictions.filter(on_features).with_columns(conditions=conditions[hybrid]),
            costs,
            intervals,
        )
    )
    rules = rules.filter(on_features)
    grid = routed_grid(
        rules,
        {route: member.filter(on_features) for route, member in members.items()},
        settings.step,
        (thresholds.classifier_from, thresholds.rules_from),
    )
    measured = grid.position(thresholds.classifier_from, thresholds.rules_from)
    return HybridStudy(
        routes, _search(grid, scenario_answers(rules), measured, costs, settings, intervals)
    )


def _search(
    grid: RoutedGrid,
    answers: ScenarioAnswers,
    measured: int,
    costs: UnitCosts,
    settings: RoutingSettings,
    intervals: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Estimates at every pair of prices; see :class:`HybridStudy`.

    ``measured`` is the position of the thresholds of the main study.
    """
    prices = list(product(settings.human_costs, settings.wrong_answer_costs))
    person_alone = grid.position(1.0, 1.0)
    resampled = cheapest_in_resamples(grid, costs, prices, intervals)
    halved = costs_of_halves(grid, costs, prices, measured, settings.halves, intervals.seed)
    rows = []
    for (human, wrong), cheapest, halves in zip(prices, resampled, halved, strict=True):
        cost = cost_at(grid.shares(), costs, human, wrong)
        best = int(cost.round(12).argmin())
        paid = {"measured": measured, "person_alone": person_alone, "best": best}
        estimates = {
            **_paid(grid, answers, costs, human, wrong, paid, intervals),
            **uncertainty(grid, best, cheapest, intervals.confidence),
            **optimism(halves, sum(grid.sizes), intervals.confidence),
        }
        rows.append(estimate_rows(estimates, human_cost=human, wrong_answer_cost=wrong))
    return pl.concat(rows)


def _as_measured(
    predictions: pl.DataFrame, costs: UnitCosts, settings: ScenarioIntervalSettings
) -> Iterable[tuple[str, dict[str, Interval]]]:
    """Share and precision of each route that answers anything, accuracy and cost of all."""
    answers = scenario_answers(predictions)
    for route in ROUTES:
        answered = pl.col("route") == route
        if not predictions.select(answered.any()).item():
            continue
        values = (
            ValueMetric(
                "share",
                over_scenarios(predictions, answered),
                f"probability that a run of a new scenario is answered by {route}",
                kind="proportion",
            ),
            ValueMetric(
                "precision",
                over_those(predictions, right(), answered),
                f"ratio of two probabilities: that {route} diagnose a run of a new scenario "
                f"right, over that they answer it",
                kind="proportion",
            ),
            *_conditions(predictions, answered),
        )
        yield route, scenario_intervals(answers, (), settings, values)
    accuracy = tuple(metric for metric in OVERALL if metric.name == "accuracy")
    values = (*cost_metrics(predictions, costs), *_conditions(predictions, pl.lit(value=True)))
    yield ALL, scenario_intervals(answers, accuracy, settings, values)


def _conditions(predictions: pl.DataFrame, answered: pl.Expr) -> tuple[ValueMetric, ...]:
    """Conditions to read of the answers that show any, which a person's do not."""
    conditions = pl.when(answered).then(pl.col("conditions"))
    if predictions.select(conditions.is_null().all()).item():
        return ()
    return (
        ValueMetric(
            CONDITIONS,
            over_scenarios(predictions, conditions),
            "conditions to check in order to verify the diagnosis of a run of a new scenario, "
            "where there are any",
        ),
    )


def _paid(
    grid: RoutedGrid,
    answers: ScenarioAnswers,
    costs: UnitCosts,
    human: float,
    wrong: float,
    positions: Mapping[str, int],
    settings: ScenarioIntervalSettings,
) -> dict[str, Interval]:
    """Cost at given pairs of thresholds, with BCa intervals over scenarios."""
    words = {
        "measured": "expected cost of a diagnosis at the thresholds of the main study",
        "person_alone": "expected cost of a diagnosis if a person answers every run",
        "best": "cost of a diagnosis at the thresholds that are cheapest on these very scenarios",
    }
    values = tuple(
        ValueMetric(f"cost_{name}", _costs_of(grid, costs, human, wrong, position), words[name])
        for name, position in positions.items()
    )
    return scenario_intervals(answers, (), settings, values)


def _costs_of(
    grid: RoutedGrid, costs: UnitCosts, human: float, wrong: float, position: int
) -> ScenarioValues:
    """Cost per scenario and seed at a pair of thresholds, and 1: ``[n_rows, 2]`` by category."""
    values = {}
    for category, outcomes in grid.outcomes.values.items():
        cost = cost_at(outcomes[:, :, position, None], costs, human, wrong)[:, 0]
        values[category] = np.stack([cost, np.ones(len(cost))], axis=-1)
    return ScenarioValues(values, grid.outcomes.seeds)
