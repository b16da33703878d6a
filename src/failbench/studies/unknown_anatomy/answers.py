"""Unknown answers: what every method answers to each of the unknown scenarios."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_scenarios, right
from failbench.statistics.scores import scenario_answers
from failbench.studies.unknown_anatomy.posteriors import entropy, separation
from failbench.studies.unknown_anatomy.settings import UNKNOWN
from failbench.vocabulary import ABSTAIN


def answers_to_unknown(predictions: pl.DataFrame) -> pl.DataFrame:
    """The answer that each method gives most often to each unknown scenario."""
    unknown = predictions.filter(pl.col("category") == UNKNOWN)
    if unknown.is_empty():
        raise BadInputError(
            "predictions", "category", "there is no unknown scenario.", "Predict all scenarios."
        )
    given = unknown.group_by("scenario", "method", "prediction").len("count")
    counted = given.with_columns(
        share=pl.col("count") / pl.col("count").sum().over("scenario", "method")
    )
    most = (
        counted.sort(
            "scenario", "method", "count", "prediction", descending=[False, False, True, False]
        )
        .group_by("scenario", "method", maintain_order=True)
        .first()
        .select("scenario", "method", "share", answer="prediction")
    )
    means = unknown.group_by("scenario", "method").agg(
        right().mean().alias("right"), entropy().mean().alias("entropy")
    )
    return (
        most.join(means, on=["scenario", "method"])
        .select("scenario", "method", "answer", "share", "right", "entropy")
        .sort("scenario", "method")
    )


def unknown_intervals(
    predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> dict[str, Interval]:
    """How one method does on unknown scenarios, and whether it knows that it does not know."""
    unknown = pl.col("category") == UNKNOWN
    figures = (
        ValueMetric(
            "entropy_unknown",
            over_scenarios(predictions, pl.when(unknown).then(entropy())),
            "mean entropy of the probabilities on a new unknown scenario",
        ),
        ValueMetric(
            "entropy_labelled",
            over_scenarios(predictions, pl.when(~unknown).then(entropy())),
            "mean entropy of the probabilities on a new labelled scenario",
        ),
    )
    of_unknown = predictions.filter(unknown)
    few = of_unknown["scenario"].n_unique()
    entropies = scenario_intervals(scenario_answers(predictions), (), settings, figures)
    counts = {"entropy_unknown": few, "entropy_labelled": predictions["scenario"].n_unique() - few}
    return {
        "recall": unknown_rate(of_unknown, right(), settings, "diagnosed as unknown"),
        "abstained": unknown_rate(
            of_unknown, pl.col("prediction") == ABSTAIN, settings, "left undecided"
        ),
        **{
            name: interval.model_copy(update={"n": counts[name]})
            for name, interval in entropies.items()
        },
        "separation": separation(predictions, entropy(), settings),
    }


def unknown_rate(
    predictions: pl.DataFrame, happened: pl.Expr, settings: ScenarioIntervalSettings, what: str
) -> Interval:
    """A rate over unknown scenarios, of which there are few, with Wilson's interval.

    A scenario counts by the share of its predictions; for such means Wilson's interval is an
    approximation.
    """
    # Sorted, since a sum in another order differs in its last bit, which may round otherwise.
    shares = (
        predictions.group_by("scenario")
        .agg(happened.cast(pl.Float64).mean().alias("share"))
        .sort("scenario")
    )
    rate = float(shares["share"].to_numpy().mean())
    low, high = wilson(rate, shares.height, settings.confidence)
    return Interval(
        value=rate,
        ci_low=low,
        ci_high=high,
        n=shares.height,
        method="Wilson",
        resampling_unit="scenario",
        estimand=f"probability that a new unknown scenario is {what}",
    )
