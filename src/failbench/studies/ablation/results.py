"""Results of the ablation: rates with every subset of signals, and what is lost against all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from failbench.methods.signal_groups import ALL_GROUPS
from failbench.prediction.workers import parallel_map
from failbench.statistics.comparison import Comparison, comparison_metrics, contrasts_of
from failbench.statistics.estimates import ESTIMATE, estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.paired_scores import paired_scores
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import ComparisonSettings, compare_all
from failbench.studies.ablation.measure import FOREST, AblationDesign
from failbench.studies.ablation.superadditivity import Interaction, interactions

RATES = tuple(metric for metric in OVERALL if metric.name in ("accuracy", "abstention_rate"))

INTERACTION = (*ESTIMATE, "p", "own", "verdict")
"""What the metrics file holds of an interaction; ``own`` is its attribute ``unaided``."""


class AblationSettings(AblationDesign, ScenarioIntervalSettings, ComparisonSettings):
    """What is taken away, and how results are scored and compared."""


@dataclass(frozen=True)
class VariantResults:
    """What one method on one feature set is worth with each subset of its signals."""

    feature_set: str
    method: str
    rates: pl.DataFrame
    comparisons: tuple[Comparison, ...]
    interactions: tuple[Interaction, ...]


def ablation_results(
    predictions: pl.DataFrame, settings: AblationSettings, workers: int = 1
) -> tuple[VariantResults, ...]:
    """Score and compare the predictions of every method on every feature set."""
    ordered = predictions.sort("feature_set", "method", "subset", "repeat", "fold", "run_id")
    tasks = [
        (str(feature_set), str(method), variant, settings)
        for (feature_set, method), variant in ordered.group_by(
            "feature_set", "method", maintain_order=True
        )
    ]
    return tuple(parallel_map(_results, tasks, workers))


def _results(
    feature_set: str, method: str, predictions: pl.DataFrame, settings: AblationSettings
) -> VariantResults:
    # the runs of a scenario are its seeds: there is a single architecture
    predictions = predictions.with_columns(seed="run_id")
    subsets = predictions["subset"].unique().sort().to_list()
    rates = [
        estimate_rows(
            scenario_intervals(
                scenario_answers(predictions.filter(pl.col("subset") == subset)),
                RATES,
                settings,
            ),
            feature_set=feature_set,
            method=method,
            subset=subset,
        )
        for subset in subsets
    ]
    # subsets take the place of methods in what compares methods
    by_subset = predictions.with_columns(method="subset")
    against_all = tuple((name, ALL_GROUPS) for name in subsets if name != ALL_GROUPS)
    comparisons = compare_all(by_subset, settings.named(feature_set, against_all))
    return VariantResults(
        feature_set,
        method,
        pl.concat(rates),
        tuple(contrasts_of(comparisons)),
        interactions(
            paired_scores(by_subset),
            settings.superadditive,
            "+".join(settings.superadditive),
            settings.resamples,
            settings.confidence,
            settings.seed,
            feature_set=feature_set,
            method=method,
            # without any signal a forest names the largest category, and rules abstain
            unaided="majority" if method == FOREST else "nothing",
        ),
    )


def ablation_points(results: Iterable[VariantResults]) -> pl.DataFrame:
    """A row per method, feature set, subset and rate, with its interval and its difference to all.

    ``difference``, its bounds and its tests are those of accuracy, and null of ``all`` itself and
    of other rates.
    """
    results = tuple(results)
    rates = pl.concat(variant.rates for variant in results)
    differences = pl.DataFrame(
        [
            {
                "feature_set": variant.feature_set,
                "method": variant.method,
                "metric": "accuracy",
                "subset": comparison.left,
                "difference": comparison.difference,
                "difference_low": comparison.ci_low,
                "difference_high": comparison.ci_high,
                "p": comparison.p,
                "p_holm": comparison.reported_p,
                "equivalent": comparison.equivalent,
                "smallest_margin": comparison.smallest_margin,
                "detectable_difference": comparison.detectable_difference,
            }
            for variant in results
            for comparison in variant.comparisons
        ],
        infer_schema_length=None,
    )
    key = ["feature_set", "method", "subset", "metric"]
    return rates.join(differences, on=key, how="left", maintain_order="left")


def ablation_metrics(
    results: Iterable[VariantResults], reported: Iterable[Interaction], alpha: float
) -> dict[str, object]:
    """Rates, differences to all signals, and interactions as nested scalars."""
    results = tuple(results)
    differences: dict[str, dict[str, object]] = {}
    for variant in results:
        contrasts = comparison_metrics(variant.comparisons, alpha)["contrasts"]
        differences.setdefault(variant.feature_set, {})[variant.method] = contrasts
    rates = pl.concat(variant.rates for variant in results)
    measured = _interaction_rows(row for variant in results for row in variant.interactions)
    return {
        "rates": nest(rates, "feature_set", "method", "subset", "metric"),
        f"less_{ALL_GROUPS}": differences,
        "interaction": {
            "measured": nest(measured, "feature_set", "method", "over", leaves=INTERACTION),
            "reported": nest(_interaction_rows(reported), "over", leaves=INTERACTION),
        },
    }


def _interaction_rows(interactions: Iterable[Interaction]) -> pl.DataFrame:
    table = pl.DataFrame([row.model_dump() for row in interactions], infer_schema_length=None)
    return table.with_columns(over="over_" + pl.col("baseline"), own="unaided")
