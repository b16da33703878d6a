"""Added measurements: what the unknown scenarios gain from what the features leave out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.measurements import ENDINGS, STEP_TIMES
from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import first_repeats
from failbench.statistics.bootstrap import Interval
from failbench.statistics.comparison import Comparison, contrasts_of
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scenario_values import right
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import SignificanceSettings, compare_all
from failbench.studies.unknown_anatomy.answers import unknown_rate
from failbench.studies.unknown_anatomy.posteriors import UNKNOWN

BASE = "19"

ADDED: dict[str, tuple[str, ...]] = {
    "19+step_times": STEP_TIMES,
    "19+ending": ENDINGS,
    "19+both": (*STEP_TIMES, *ENDINGS),
}
"""Measurements that are added to the paper's features, by name of the feature set."""

MEASURED_SETS = {BASE: FEATURE_SETS[BASE]} | {
    name: (*FEATURE_SETS[BASE], *columns) for name, columns in ADDED.items()
}


@dataclass(frozen=True)
class SignTest:
    """How many unknown scenarios are told more often, and less often, and how likely that is.

    Attributes
    ----------
    better, worse, n
        Scenarios.
    p
        Two-sided exact p of the sign test.
    least
        The fewest scenarios that would have to be better, with none worse, for p to be
        significant: the smallest effect that so few could have shown. None if all are too few.
    """

    better: int
    worse: int
    n: int
    p: float
    least: int | None


def with_measurements(features: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """A feature table with the measurements of its runs.

    Raises
    ------
    BadInputError
        If a run has none.
    """
    missing = features.join(measured, on="run_id", how="anti").sort("run_id")
    if missing.height:
        raise BadInputError(
            "telemetry",
            "run_id",
            f"{missing['run_id'][0]!r} has features and is not recorded.",
            "Run `dvc repro features`.",
        )
    return features.join(measured, on="run_id", how="left", maintain_order="left")


def refit(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    forest: RandomForestSettings,
    repeats: int,
    seed: int,
    workers: int,
) -> pl.DataFrame:
    """Predict all scenarios by a forest on the features with and without each measurement.

    The folds are those of the main study, and so is the seed of each fit.

    Parameters
    ----------
    failures, successes
        Feature tables with measurements.
    splits
        Folds; the first so many repeats are taken.
    forest
        Settings of the forest.
    repeats, seed, workers
        Repeats of the folds, seed of the fits, and processes; results do not depend on the last.

    Raises
    ------
    BadInputError
        If there are fewer repeats than wanted.
    """
    taken = first_repeats(splits, repeats, "unknown_anatomy")
    return nested_cv(
        failures, successes, taken, "random_forest", forest, MEASURED_SETS, seed, workers
    )


def measured_rates(
    predictions: pl.DataFrame, settings: IntervalSettings
) -> dict[str, dict[str, Interval]]:
    """Accuracy over all scenarios and recall of the unknown ones, by feature set."""
    accuracy = tuple(metric for metric in OVERALL if metric.name == "accuracy")
    rates = {}
    for name in MEASURED_SETS:
        own = predictions.filter(pl.col("feature_set") == name)
        found = scenario_intervals(scenario_answers(own), accuracy, settings)
        unknown = own.filter(pl.col("category") == UNKNOWN)
        recall = unknown_rate(unknown, right(), settings, "diagnosed as unknown")
        rates[name] = {"accuracy": found["accuracy"], "recall_unknown": recall}
    return rates


def added_value(
    predictions: pl.DataFrame, settings: SignificanceSettings
) -> tuple[Comparison, ...]:
    """Each larger feature set less the paper's, over all scenarios, as methods are compared.

    Holm's adjustment is over these contrasts. The feature sets take the place of methods.
    """
    renamed = predictions.with_columns(
        method=pl.col("feature_set"), feature_set=pl.lit(settings.feature_set)
    )
    return tuple(contrasts_of(compare_all(renamed, settings)))


def sign_test(predictions: pl.DataFrame, name: str, alpha: float) -> SignTest:
    """Whether unknown scenarios are told more often with a measurement than without.

    The exact sign test over scenarios (Dixon and Mood, 1946, "The statistical sign test"): each is
    better, worse or the same by its share of right answers; the same ones do not count.
    """
    shares = (
        predictions.filter(pl.col("category") == UNKNOWN)
        .group_by("scenario", "feature_set")
        .agg(right().mean().alias("share"))
        .pivot("feature_set", index="scenario", values="share")
    )
    differences = np.round(shares[name].to_numpy() - shares[BASE].to_numpy(), 12)
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    p = float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0
    enough = (
        count
        for count in range(1, shares.height + 1)
        if stats.binomtest(count, count).pvalue <= alpha
    )
    return SignTest(better, worse, shares.height, p, next(enough, None))
