"""Results of portability: how often methods are right in each condition, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import polars as pl

from failbench.prediction.workers import parallel_map
from failbench.reporting.labels import made_in_view
from failbench.statistics.comparison import Difference, contrasts_of, difference_metrics
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
    """How methods do in each condition."""

    rates: pl.DataFrame
    contrasts: tuple[Difference, ...]


def portability_results(
    predictions: pl.DataFrame,
    contrasts: tuple[Pair, ...],
    intervals: ScenarioIntervalSettings,
    tests: ComparisonSettings,
    workers: int = 1,
) -> Portability:
    """Estimate the rates of each method and condition, and compare the conditions of a method."""
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
        _contrasts,
        [
            (method, predictions.filter(pl.col("method") == method), _of(method, contrasts), tests)
            for method in (*METHODS, *ON_KNOWN)
            if method in predicted
        ],
        workers,
    )
    return Portability(pl.concat(rates), tuple(chain.from_iterable(compared)))


def portability_metrics(results: Portability) -> dict[str, object]:
    """Nested scalars: rates by method and condition, and the contrasts of each method."""
    rates = nest(results.rates, "method", "condition", "metric")
    contrasts = {
        method: difference_metrics(
            contrast for contrast in results.contrasts if contrast.feature_set == method
        )
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


def _contrasts(
    method: str,
    predictions: pl.DataFrame,
    contrasts: tuple[Pair, ...],
    tests: ComparisonSettings,
) -> list[Difference]:
    """Contrasts of conditions; those of a method made in view are in-sample, and not tested."""
    conditions = predictions.with_columns(feature_set="method", method="condition")
    compared = contrasts_of(compare_all(conditions, tests.named(method, contrasts)))
    return [each.untested if made_in_view(method) else each for each in compared]
