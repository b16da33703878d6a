"""Early accuracy: how often methods are right some steps before the failure, and on what."""

from __future__ import annotations

import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import paired_scores
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.lead_time.settings import FAILING, HEALTHY, TWIN
from failbench.vocabulary import ABSTAIN

ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")


def not_begun(runs: pl.DataFrame, ahead: int) -> pl.DataFrame:
    """The runs that had not begun ``ahead`` steps before failure, and have nothing to show yet."""
    return runs.filter(pl.col("failure_step") < ahead)


def past_onset(runs: pl.DataFrame, ahead: int) -> pl.DataFrame:
    """The runs whose fault had been switched on ``ahead`` steps before their failure."""
    last_step = pl.col("failure_step") - ahead
    return runs.filter(last_step >= 0, last_step >= pl.col("onset_step"))


def early_rates(
    predictions: pl.DataFrame, runs: pl.DataFrame, ahead: int, intervals: ScenarioIntervalSettings
) -> dict[str, Interval]:
    """How often a method is right at one number of steps before failure, and what that is worth."""
    failing, twins, healthy = (
        predictions.filter(pl.col("subset") == subset) for subset in (FAILING, TWIN, HEALTHY)
    )
    columns = ("category", "scenario", "run_id", "repeat", "prediction")
    undiagnosed = (
        not_begun(runs, ahead)
        .join(failing.select("repeat").unique(), how="cross")
        .with_columns(prediction=pl.lit(ABSTAIN))
    )
    # the runs of a scenario are its seeds: there is a single architecture
    everyone = pl.concat([failing.select(columns), undiagnosed.select(columns)]).with_columns(
        seed="run_id"
    )
    switched_on = everyone.join(past_onset(runs, ahead), on="run_id", how="semi")
    named = _named_rate(healthy)
    return {
        "accuracy": _accuracy(everyone, intervals),
        "accuracy_past_onset": _accuracy(switched_on, intervals),
        "twin_accuracy": _accuracy(twins, intervals),
        "gain_over_twin": _gain(pl.concat([failing, twins]), intervals),
        **scenario_intervals(scenario_answers(healthy), (), intervals, (named,)),
    }


def _accuracy(predictions: pl.DataFrame, intervals: ScenarioIntervalSettings) -> Interval:
    return scenario_intervals(scenario_answers(predictions), ACCURACY, intervals)["accuracy"]


def _gain(predictions: pl.DataFrame, intervals: ScenarioIntervalSettings) -> Interval:
    """Paired over scenarios: a run and its twin differ by the fault alone."""
    scores = paired_scores(predictions.with_columns(method="subset"))
    gain = float((scores.scenario_scores(FAILING) - scores.scenario_scores(TWIN)).mean())
    (bounds,) = difference_bounds(
        scores, [(FAILING, TWIN)], intervals.resamples, intervals.confidence, intervals.seed
    )
    low, high = (gain, gain) if bounds is None else bounds
    return Interval(
        value=gain,
        ci_low=low,
        ci_high=high,
        n=scores.n,
        method="point" if bounds is None else "BCa bootstrap",
        resampling_unit=scores.unit,
        estimand="how much more probable a right diagnosis is of a failing run than of its healthy "
        "twin cut at the same step",
    )


def _named_rate(healthy: pl.DataFrame) -> ValueMetric:
    """How often a cause is named with evidence; a fallback has none."""
    return ValueMetric(
        "named_on_healthy",
        over_scenarios(healthy, pl.col("evidence") & (pl.col("prediction") != ABSTAIN)),
        "probability that the method names a cause of a healthy run cut at the same step",
        kind="proportion",
    )
