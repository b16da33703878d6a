"""Ablation table: rates of every subset of signals, and each of them against all signals."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.methods.signal_groups import ALL_GROUPS
from failbench.prediction.workers import parallel_map
from failbench.statistics.comparison import Comparison, comparison_metrics, contrasts_of
from failbench.statistics.intervals import interval_rows, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.paired_scores import paired_scores
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import compare_all
from failbench.studies.ablation.measure import FOREST, AblationSettings
from failbench.studies.ablation.superadditivity import Interaction, interactions

RATES = tuple(metric for metric in OVERALL if metric.name in ("accuracy", "abstention_rate"))


@dataclass(frozen=True)
class VariantResults:
    """What one method on one feature set is worth with each subset of its signals.

    Attributes
    ----------
    rates
        Rows of :func:`failbench.statistics.intervals.interval_rows`, and ``subset``.
    comparisons
        Each subset less all signals; Holm's adjustment is over them.
    interactions
        Of the two groups that are asked to be superadditive, by baseline.
    """

    feature_set: str
    method: str
    rates: pl.DataFrame
    comparisons: tuple[Comparison, ...]
    interactions: tuple[Interaction, ...]


def ablation_results(
    answers: pl.DataFrame, settings: AblationSettings, workers: int = 1
) -> tuple[VariantResults, ...]:
    """Score and compare the answers of every method on every feature set.

    Parameters
    ----------
    answers
        Rows of ``ablation.ANSWER_SCHEMA``.
    workers
        Processes; results do not depend on it.
    """
    tasks = [
        (str(feature_set), str(method), part, settings)
        for (feature_set, method), part in answers.sort("feature_set", "method").group_by(
            "feature_set", "method", maintain_order=True
        )
    ]
    return tuple(parallel_map(_results, tasks, workers))


def _results(
    feature_set: str, method: str, answers: pl.DataFrame, settings: AblationSettings
) -> VariantResults:
    # the runs of a scenario are its seeds: there is a single architecture
    answers = answers.with_columns(seed="run_id")
    names = answers["subset"].unique().sort().to_list()
    rates = [
        interval_rows(
            feature_set,
            method,
            scenario_intervals(
                scenario_answers(answers.filter(pl.col("subset") == name)),
                RATES,
                settings.intervals,
            ),
        ).with_columns(subset=pl.lit(name))
        for name in names
    ]
    by_subset = answers.with_columns(method="subset")
    compared = compare_all(by_subset, settings.comparisons(feature_set, names))
    found = interactions(
        paired_scores(by_subset),
        settings.superadditive,
        "+".join(settings.superadditive),
        settings.resamples,
        settings.confidence,
        settings.seed,
        feature_set=feature_set,
        method=method,
        # without any signal a forest names the largest category, and rules abstain
        own="majority" if method == FOREST else "nothing",
    )
    return VariantResults(
        feature_set, method, pl.concat(rates), tuple(contrasts_of(compared)), found
    )


def ablation_points(results: tuple[VariantResults, ...]) -> pl.DataFrame:
    """One row a method, feature set, subset and rate, with its interval and its difference to all.

    ``difference``, its bounds and its tests are those of accuracy, and null of ``all`` itself and
    of other rates.
    """
    rates = pl.concat(one.rates for one in results)
    differences = pl.DataFrame(
        [
            {
                "feature_set": one.feature_set,
                "method": one.method,
                "metric": "accuracy",
                "subset": each.left,
                "difference": each.difference,
                "difference_low": each.ci_low,
                "difference_high": each.ci_high,
                "p": each.p,
                "p_holm": each.reported_p,
                "equivalent": each.equivalent,
                "smallest_margin": each.smallest_margin,
                "detectable_difference": each.detectable_difference,
            }
            for one in results
            for each in one.comparisons
        ],
        infer_schema_length=None,
    )
    key = ["feature_set", "method", "metric", "subset"]
    return rates.join(differences, on=key, how="left", maintain_order="left").select(
        "feature_set", "method", "subset", "metric", pl.exclude(key)
    )


def ablation_metrics(
    results: tuple[VariantResults, ...], reported: tuple[Interaction, ...], alpha: float
) -> dict[str, object]:
    """Rates, differences to all signals, and interactions as nested scalars."""
    rates: dict[str, dict[str, dict[str, object]]] = {}
    differences: dict[str, dict[str, object]] = {}
    for one in results:
        subsets = rates.setdefault(one.feature_set, {}).setdefault(one.method, {})
        for (name,), part in one.rates.group_by("subset", maintain_order=True):
            subsets[str(name)] = {
                row["metric"]: {key: row[key] for key in ("value", "ci_low", "ci_high", "n")}
                for row in part.iter_rows(named=True)
            }
        contrasts = comparison_metrics(one.comparisons, alpha)["contrasts"]
        differences.setdefault(one.feature_set, {})[one.method] = contrasts
    measured: dict[str, dict[str, object]] = {}
    for one in results:
        measured.setdefault(one.feature_set, {})[one.method] = _interaction_leaves(one.interactions)
    return {
        "rates": rates,
        f"less_{ALL_GROUPS}": differences,
        "interaction": {"measured": measured, "reported": _interaction_leaves(reported)},
    }


def _interaction_leaves(found: tuple[Interaction, ...]) -> dict[str, dict[str, object]]:
    return {
        f"over_{one.baseline}": {
            key: value
            for key, value in one.model_dump(
                include={"value", "ci_low", "ci_high", "n", "p", "own", "verdict"}
            ).items()
            if value is not None
        }
        for one in found
    }
