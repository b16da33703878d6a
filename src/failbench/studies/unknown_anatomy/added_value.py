"""Added value: what the unknown scenarios gain from what the features leave out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from failbench.statistics.bootstrap import Interval
from failbench.statistics.comparison import Comparison, contrasts_of
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scenario_values import right
from failbench.statistics.scores import scenario_answers
from failbench.statistics.significance import ComparisonSettings, compare_all
from failbench.studies.unknown_anatomy.answers import unknown_rate
from failbench.studies.unknown_anatomy.feature_sets import ADDED, BASE, MEASURED_SETS
from failbench.studies.unknown_anatomy.settings import UNKNOWN

MEASURED = "measured"
"""What stands in the place of a feature set where feature sets stand in that of methods."""


@dataclass(frozen=True)
class SignTest:
    """How many unknown scenarios are recognised more and less often, with a p-value."""

    better: int
    worse: int
    n: int
    p: float
    least: int | None


def measured_rates(
    predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> dict[str, dict[str, Interval]]:
    """Accuracy over all scenarios and recall of the unknown ones, by feature set."""
    accuracy = tuple(metric for metric in OVERALL if metric.name == "accuracy")
    rates = {}
    for name in MEASURED_SETS:
        of_set = predictions.filter(pl.col("feature_set") == name)
        unknown = of_set.filter(pl.col("category") == UNKNOWN)
        rates[name] = {
            **scenario_intervals(scenario_answers(of_set), accuracy, settings),
            "recall_unknown": unknown_rate(unknown, right(), settings, "diagnosed as unknown"),
        }
    return rates


def added_value(predictions: pl.DataFrame, settings: ComparisonSettings) -> tuple[Comparison, ...]:
    """Each larger feature set less the paper's, over all scenarios, as methods are compared.

    Holm's adjustment is over these contrasts. The feature sets take the place of methods.
    """
    renamed = predictions.with_columns(method=pl.col("feature_set"), feature_set=pl.lit(MEASURED))
    contrasts = tuple((name, BASE) for name in ADDED)
    return tuple(contrasts_of(compare_all(renamed, settings.named(MEASURED, contrasts))))


def sign_test(predictions: pl.DataFrame, name: str, alpha: float) -> SignTest:
    """Whether unknown scenarios are recognised more often with a measurement than without.

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
