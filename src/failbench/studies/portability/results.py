"""Results of portability: how often methods are right in each condition, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import polars as pl

from failbench.prediction.workers import parallel_map
from failbench.statistics.comparison import Comparison, comparison_metrics
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.paired_scores import Pair
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import ComparisonSettings, compare_all
from failbench.studies.portability.settings import ADAPTIVE, HOME_ADAPTIVE, METHODS, ON_KNOWN

RATES = tuple(
    metric for metric in OVERALL if metric.name in ("accuracy", "macro_f1", "abstention_rate")
)


@dataclass(frozen=True)
class Portability:
    """How methods do in each condition.

    Attributes
    ----------
    rates
        A row per ``method``, ``condition`` and ``metric``, with value, interval, ``n`` scenarios
        and ``runs``.
    comparisons
        Of the conditions of each method, whose name is their ``feature_set``: the contrasts named
        beforehand, adjusted over those of the method, then the other pairs.
    """

    rates: pl.DataFrame
    comparisons: tuple[Comparison, ...]


def portability_results(
    predictions: pl.DataFrame,
    contrasts: tuple[Pair, ...],
    intervals: ScenarioIntervalSettings,
    tests: ComparisonSettings,
    workers: int = 1,
) -> Portability:
    """Estimate the rates of each method and condition, and compare the conditions of a method.

    Parameters
    ----------
    predictions
        As :func:`failbench.studies.portability.measure.measure` returns them.
    contrasts
        Pairs of conditions that were named beforehand.
    intervals
        How intervals are made.
    tests
        Margins, level and power.
    workers
        Processes; the result does not depend on it.
    """
    groups = predictions.sort("method", "condition").group_by(
        "method", "condition", maintain_order=True
    )
    rates = parallel_map(
        _rates,
        [(str(method), str(condition), part, intervals) for (method, condition), part in groups],
        workers,
    )
    predicted = set(predictions["method"])
    compared = parallel_map(
        _comparisons,
        [
            (method, predictions.filter(pl.col("method") == method), _of(method, contrasts), tests)
            for method in (*METHODS, *ON_KNOWN)
            if method in predicted
        ],
        workers,
    )
    return Portability(pl.concat(rates), tuple(chain.from_iterable(compared)))


def portability_metrics(results: Portability, alpha: float) -> dict[str, object]:
    """Nested scalars: rates by method and condition, and the contrasts of each method."""
    rates = nest(results.rates, "method", "condition", "metric")
    contrasts = {
        method: comparison_metrics(
            [pair for pair in results.comparisons if pair.feature_set == method], alpha
        )["contrasts"]
        for method in rates
    }
    return {"rates": rates, "contrasts": contrasts}


def _of(method: str, contrasts: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """The contrasts of conditions that a method has."""
    lacking = {ADAPTIVE, HOME_ADAPTIVE} if method in ON_KNOWN else set()
    return tuple(pair for pair in contrasts if lacking.isdisjoint(pair))


def _rates(
    method: str, condition: str, predictions: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    estimates = scenario_intervals(scenario_answers(predictions), RATES, intervals)
    return estimate_rows(estimates, method=method, condition=condition).with_columns(
        runs=pl.lit(predictions["run_id"].n_unique())
    )


def _comparisons(
    method: str,
    predictions: pl.DataFrame,
    contrasts: tuple[Pair, ...],
    tests: ComparisonSettings,
) -> tuple[Comparison, ...]:
    conditions = predictions.with_columns(feature_set="method", method="condition")
    return compare_all(conditions, tests.named(method, contrasts))
